#include "connectors/filesystem/sink/recorder.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr uint8_t kVersion = 2;
constexpr uint8_t kVersionWithoutBranch = 1;
/// Positions of files that gave no rows are kept in the state until something is recorded: not for
/// ever.
constexpr size_t kPositionsKept = 1'000;

/// "path:[begin,end)" of files; others are counters that go on.
bool IsOfFile(const std::string& split) { return split.ends_with(")"); }

void PutFile(const RecordedFile& file, ByteWriter* out) {
  out->PutText(file.name);
  out->PutI64(file.row_count);
  out->PutI64(file.size_bytes);
}

RecordedFile ReadFile(ByteReader* in) {
  RecordedFile file;
  file.name = in->Text();
  file.row_count = in->I64();
  file.size_bytes = in->I64();
  return file;
}

void PutPositions(const std::map<std::string, int64_t>& positions, ByteWriter* out) {
  out->PutU64(positions.size());
  for (const auto& [split, position] : positions) {
    out->PutText(split);
    out->PutI64(position);
  }
}

std::map<std::string, int64_t> ReadPositions(ByteReader* in) {
  std::map<std::string, int64_t> positions;
  for (size_t count = in->Count(); count > 0 && in->ok(); --count) {
    std::string split = in->Text();
    positions[std::move(split)] = in->I64();
  }
  return positions;
}

}  // namespace

std::string Recorder::NameOf(const std::string& path) const {
  if (path == root_) return "";
  return path.starts_with(root_ + "/") ? path.substr(root_.size() + 1) : path;
}

void Recorder::AddFile(runtime::CheckpointId checkpoint, const std::string& path, int64_t row_count,
                       int64_t size_bytes) {
  epochs_[checkpoint].files.push_back({NameOf(path), row_count, size_bytes});
}

void Recorder::AddMerge(runtime::CheckpointId checkpoint, const std::string& target,
                        int64_t row_count, int64_t size_bytes,
                        const std::vector<std::string>& inputs) {
  RecordedMerge merge{{NameOf(target), row_count, size_bytes}, {}};
  for (const std::string& input : inputs) merge.inputs.push_back(NameOf(input));
  // A state taken between two merges of one checkpoint has this one as done here and as to be done
  // in the compactor.
  for (const auto& [number, epoch] : epochs_) {
    for (const RecordedMerge& known : epoch.merged) {
      if (known.target.name == merge.target.name) return;
    }
  }
  epochs_[checkpoint].merged.push_back(std::move(merge));
}

void Recorder::AddBarrier(runtime::CheckpointId checkpoint,
                          std::map<std::string, int64_t> positions, int64_t open_files) {
  Epoch& epoch = epochs_[checkpoint];
  epoch.positions = std::move(positions);
  epoch.open_files = open_files;
}

std::optional<TableRecord> Recorder::Make(runtime::CheckpointId upto, bool anything_else) const {
  TableRecord record{.writer = std::string(kInsertWriter),
                     .branch = last_branch_,
                     .checkpoint = upto,
                     .previous = last_,
                     .previous_branch = last_branch_,
                     .since = since_};
  size_t positions = 0;
  for (const auto& [checkpoint, epoch] : epochs_) {
    if (checkpoint > upto) break;
    record.files.insert(record.files.end(), epoch.files.begin(), epoch.files.end());
    record.merged.insert(record.merged.end(), epoch.merged.begin(), epoch.merged.end());
    record.open_files = epoch.open_files;
    positions += epoch.positions.size();
    for (const auto& [split, position] : epoch.positions) record.to[split] = position;
  }
  if (record.files.empty() && record.merged.empty() && !anything_else &&
      positions < kPositionsKept) {
    return std::nullopt;
  }
  for (const auto& [split, position] : record.to) {
    const auto before = last_positions_.find(split);
    if (before != last_positions_.end()) record.from[split] = before->second;
  }
  return record;
}

void Recorder::Written(const TableRecord& record) {
  last_ = record.checkpoint;
  last_branch_ = record.branch;
  for (const auto& [split, position] : record.to) {
    if (!IsOfFile(split)) last_positions_[split] = position;
  }
  epochs_.erase(epochs_.begin(), epochs_.upper_bound(record.checkpoint));
}

std::string Recorder::Encode() const {
  ByteWriter out;
  out.PutU8(kVersion);
  out.PutI64(last_);
  out.PutI64(last_branch_);
  out.PutI64(since_);
  PutPositions(last_positions_, &out);
  out.PutU64(epochs_.size());
  for (const auto& [checkpoint, epoch] : epochs_) {
    out.PutI64(checkpoint);
    out.PutU64(epoch.files.size());
    for (const RecordedFile& file : epoch.files) PutFile(file, &out);
    out.PutU64(epoch.merged.size());
    for (const RecordedMerge& merge : epoch.merged) {
      PutFile(merge.target, &out);
      out.PutU64(merge.inputs.size());
      for (const std::string& input : merge.inputs) out.PutText(input);
    }
    PutPositions(epoch.positions, &out);
    out.PutI64(epoch.open_files);
  }
  return std::move(out).Take();
}

Status Recorder::Decode(std::string_view bytes) {
  ByteReader in(bytes);
  const uint8_t version = in.U8();
  if (version != kVersion && version != kVersionWithoutBranch) {
    return Status::Corrupt("The table's record in the checkpoint has an unknown form.");
  }
  last_ = in.I64();
  if (version == kVersion) last_branch_ = in.I64();
  since_ = in.I64();
  last_positions_ = ReadPositions(&in);
  for (size_t count = in.Count(); count > 0 && in.ok(); --count) {
    Epoch& epoch = epochs_[in.I64()];
    for (size_t files = in.Count(); files > 0 && in.ok(); --files) {
      epoch.files.push_back(ReadFile(&in));
    }
    for (size_t merges = in.Count(); merges > 0 && in.ok(); --merges) {
      RecordedMerge merge{ReadFile(&in), {}};
      for (size_t inputs = in.Count(); inputs > 0 && in.ok(); --inputs) {
        merge.inputs.push_back(in.Text());
      }
      epoch.merged.push_back(std::move(merge));
    }
    epoch.positions = ReadPositions(&in);
    epoch.open_files = in.I64();
  }
  if (!in.AtEnd()) return Status::Corrupt("The table's record in the checkpoint is damaged.");
  return {};
}

}  // namespace sluice::connectors::filesystem
