#include "connectors/filesystem/sink/compactor.h"

#include <algorithm>
#include <cstring>

#include "common/crash_point.h"
#include "connectors/filesystem/sink/compaction_plan.h"
#include "connectors/filesystem/sink/fence_check.h"
#include "connectors/filesystem/sink/file_merger.h"
#include "connectors/filesystem/sink/sink_metrics.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr uint8_t kVersion = 1;

/// ".uncompacted-part-…" -> "compacted-part-…", in the same directory.
std::string TargetOf(const std::string& raw) {
  return fs::JoinPath(
      fs::ParentPath(raw),
      std::string(kCompactedPrefix) + std::string(fs::NameOf(raw).substr(kRawPrefix.size())));
}

/// Makes the names in the directory of `path` durable: an attempt that died may have renamed a file
/// and not come to that. Opening a file does it, whatever the file system.
Status MakeNamesDurable(fs::FileSystem& file_system, const std::string& path,
                        const std::string& tag) {
  if (!file_system.has_directories()) return {};
  SLUICE_ASSIGN_OR_RETURN(const auto probe, file_system.publisher().Open(path + ".probe", tag));
  const Status durable = probe->Persist().status();
  const Status removed = probe->Discard();
  return durable.ok() ? removed : durable;
}

/// A power loss must not bring back files that no state names any more.
Status KeepDeleted(fs::FileSystem& file_system, const std::vector<std::string>& paths) {
  if (!file_system.has_directories()) return {};
  std::set<std::string> directories;
  for (const std::string& path : paths) directories.insert(fs::ParentPath(path));
  for (const std::string& directory : directories) {
    const Status there = file_system.Stat(directory).status();
    if (there.code() == StatusCode::kNotFound) continue;  // The user has dropped the partition.
    SLUICE_RETURN_NOT_OK(there);  // Only a disk that has answered can say so.
    SLUICE_RETURN_NOT_OK(file_system.CreateDirectories(directory));
  }
  return {};
}

Result<bool> SameBytes(fs::FileSystem& file_system, const std::string& a, const std::string& b) {
  constexpr int64_t kPieceBytes = 1 << 20;
  SLUICE_ASSIGN_OR_RETURN(const auto left, file_system.OpenRead(a));
  SLUICE_ASSIGN_OR_RETURN(const auto right, file_system.OpenRead(b));
  SLUICE_ASSIGN_ARROW(const int64_t size, left->GetSize());
  SLUICE_ASSIGN_ARROW(const int64_t other_size, right->GetSize());
  if (size != other_size) return false;
  for (int64_t at = 0; at < size; at += kPieceBytes) {
    SLUICE_ASSIGN_ARROW(const auto x, left->ReadAt(at, kPieceBytes));
    SLUICE_ASSIGN_ARROW(const auto y, right->ReadAt(at, kPieceBytes));
    if (!x->Equals(*y)) return false;
  }
  return true;
}

Status AlreadyThere(const std::string& target) {
  return Status::AlreadyExists(
      "Cannot publish the merged file " + target +
      ": a file of that name with other content is there, written by a run that was abandoned for "
      "an older checkpoint. The rows of both would be there twice. Remove that file, or resume "
      "with "
      "'sluice.remove-abandoned' = 'true'.");
}

}  // namespace

struct Compactor::Merge {
  Unit unit;
  int64_t size_bytes = 0;
  Status status;

  /// Blocking.
  Status Run(fs::FileSystem& file_system, const FileSinkPlan& plan, const std::string& tag,
             arrow::MemoryPool* pool, RateLimit* rate) {
    const auto there = file_system.Stat(unit.target);
    if (there.ok() && unit.restored) {
      size_bytes = there->size_bytes;
      return MakeNamesDurable(file_system, unit.target, tag);
    }
    if (!there.ok() && there.status().code() != StatusCode::kNotFound) return there.status();
    MergeRequest request{.inputs = unit.inputs,
                         .target = unit.target,
                         .tag = tag,
                         .layout = &plan.layout,
                         .session_zone = plan.session_zone,
                         .pool = pool,
                         .compressed = CompressionOf(unit.inputs.front()) != Compression::kNone,
                         .rate = rate};
    if (there.ok()) return Compare(file_system, std::move(request));
    SLUICE_ASSIGN_OR_RETURN(const MergedFile merged, MergeFiles(file_system, request));
    size_bytes = merged.size_bytes;
    const Status published = file_system.publisher().Publish({merged.handle}).front();
    SLUICE_CRASH_POINT("compact.after_publish");
    return published;
  }

  /// A run that was abandoned may have made the very same file.
  Status Compare(fs::FileSystem& file_system, MergeRequest request) {
    // A name that the sweep of a later attempt knows as ours.
    const std::string copy =
        fs::JoinPath(fs::ParentPath(unit.target), "." + std::string(fs::NameOf(unit.target)) +
                                                      std::string(kInProgressInfix) + request.tag);
    request.target = copy;
    SLUICE_ASSIGN_OR_RETURN(const MergedFile merged, MergeFiles(file_system, request));
    SLUICE_RETURN_NOT_OK(file_system.publisher().Publish({merged.handle}).front());
    const auto same = SameBytes(file_system, unit.target, copy);
    SLUICE_RETURN_NOT_OK(file_system.DeleteFile(copy));
    if (!same.ok()) return same.status();
    size_bytes = merged.size_bytes;
    return *same ? MakeNamesDurable(file_system, unit.target, request.tag)
                 : AlreadyThere(unit.target);
  }
};

bool Compactor::IsRaw(std::string_view path) { return fs::NameOf(path).starts_with(kRawPrefix); }

void Compactor::Add(runtime::CheckpointId checkpoint, const FileCommittable& file,
                    std::string path) {
  raw_.push_back({checkpoint, file.partition, std::move(path), file.row_count, file.size_bytes});
  UpdateBacklog();
}

std::vector<Compactor::Planned> Compactor::PlanAll(runtime::CheckpointId checkpoint) {
  std::map<std::pair<std::string, runtime::CheckpointId>, std::vector<RawFile>> groups;
  for (RawFile& file : std::exchange(raw_, {})) {
    groups[{file.partition.directory, file.checkpoint}].push_back(std::move(file));
  }
  std::vector<Planned> planned;
  for (auto& [key, files] : groups) MakeUnits(checkpoint, std::move(files), false, &planned);
  return planned;
}

std::set<std::string> Compactor::UnplannedDirectories() const {
  std::set<std::string> directories;
  for (const RawFile& file : raw_) directories.insert(file.partition.directory);
  return directories;
}

std::vector<Compactor::Planned> Compactor::PlanDirectory(runtime::CheckpointId checkpoint,
                                                         const std::string& directory) {
  std::vector<RawFile> files;
  std::vector<RawFile> others;
  for (RawFile& file : std::exchange(raw_, {})) {
    (file.partition.directory == directory ? files : others).push_back(std::move(file));
  }
  raw_ = std::move(others);
  std::vector<Planned> planned;
  if (!files.empty()) MakeUnits(checkpoint, std::move(files), true, &planned);
  return planned;
}

void Compactor::MakeUnits(runtime::CheckpointId checkpoint, std::vector<RawFile> files, bool whole,
                          std::vector<Planned>* planned) {
  std::vector<PackedFile> sizes;
  for (const RawFile& file : files) sizes.push_back({file.path, file.size_bytes});
  const int64_t target_bytes = plan_.compaction.target_bytes;
  const auto packed = whole ? PackFewest(sizes, target_bytes) : PackFiles(sizes, target_bytes);
  for (const std::vector<size_t>& bin : packed) {
    Unit unit{.checkpoint = checkpoint, .partition = files[bin.front()].partition};
    // Flink's name is that of the first file. Over several checkpoints it is the newest one's: the
    // older ones may be merged again, with others, by a run that goes back to an older checkpoint.
    size_t named = bin.front();
    for (const size_t i : bin) {
      unit.inputs.push_back(files[i].path);
      unit.row_count += files[i].row_count;
      unit.size_bytes += files[i].size_bytes;
      if (files[i].checkpoint > files[named].checkpoint) named = i;
    }
    unit.target = TargetOf(files[named].path);
    planned->push_back(
        {unit.partition.directory, {std::string(fs::NameOf(unit.target)), unit.row_count}});
    units_.push_back(std::move(unit));
  }
}

std::string Compactor::RestoredTargetOf(const std::string& raw_path) const {
  const auto found = restored_targets_.find(raw_path);
  return found == restored_targets_.end() ? std::string() : found->second;
}

void Compactor::SkipMerged(runtime::CheckpointId restored) {
  std::deque<Unit> left;
  for (Unit& unit : units_) {
    if (unit.checkpoint > restored) {
      left.push_back(std::move(unit));
      continue;
    }
    auto expired = std::make_shared<Expired>();
    expired->paths = std::move(unit.inputs);
    expired->completions_left = std::max<int64_t>(plan_.compaction.retained_checkpoints, 1);
    expired_.push_back(std::move(expired));
  }
  units_ = std::move(left);
  UpdateBacklog();
}

bool Compactor::HasUnplanned(const std::string& directory, runtime::CheckpointId checkpoint) const {
  return std::any_of(raw_.begin(), raw_.end(), [&](const RawFile& file) {
    return file.checkpoint <= checkpoint && file.partition.directory == directory;
  });
}

Status Compactor::Start(runtime::CheckpointId checkpoint, std::function<Status()> done) {
  const auto end = std::find_if(units_.begin(), units_.end(), [checkpoint](const Unit& unit) {
    return unit.checkpoint > checkpoint;
  });
  end_unit_ = static_cast<size_t>(end - units_.begin());
  if (end_unit_ == 0) return done();
  next_unit_ = 0;
  finished_ = 0;
  done_ = std::move(done);
  StartMerges();
  return {};
}

void Compactor::StartMerges() {
  const auto limit = static_cast<size_t>(std::max(plan_.compaction.parallelism, 1));
  while (running_ < limit && next_unit_ < end_unit_) {
    ++running_;
    StartMerge(units_[next_unit_++]);
  }
}

void Compactor::StartMerge(Unit unit) {
  auto merge = std::make_shared<Merge>();
  merge->unit = std::move(unit);
  io_.Submit(
      [this, merge] {
        merge->status = CheckFence(context_.fence);
        if (!merge->status.ok()) return;
        merge->status = merge->Run(file_system_, plan_, tag_, context_.memory_pool, &rate_);
      },
      [this, merge] { return MergeDone(*merge); });
}

Status Compactor::MergeDone(const Merge& merge) {
  --running_;
  if (!merge.status.ok()) {
    return Status(merge.status)
        .WithContext("While merging files of " + plan_.table + " into " + merge.unit.target + ".");
  }
  ++finished_;
  const Unit& unit = merge.unit;
  auto& metrics = *context_.metrics;
  ++metrics.Counter(sink_metric::kCompactedFiles);
  metrics.Counter(sink_metric::kCompactedInputs) += static_cast<int64_t>(unit.inputs.size());
  published_.Add(1, merge.size_bytes);
  if (recorder_ != nullptr) {
    recorder_->AddMerge(unit.checkpoint, unit.target, unit.row_count, merge.size_bytes,
                        unit.inputs);
  }
  auto expired = std::make_shared<Expired>();
  expired->paths = unit.inputs;
  expired->completions_left = std::max<int64_t>(plan_.compaction.retained_checkpoints, 1);
  expired_.push_back(std::move(expired));
  if (finished_ < end_unit_) {
    StartMerges();
    return {};
  }
  units_.erase(units_.begin(), units_.begin() + static_cast<std::ptrdiff_t>(end_unit_));
  end_unit_ = 0;
  published_.TellTo(context_.metrics);
  UpdateBacklog();
  return std::exchange(done_, nullptr)();
}

void Compactor::UpdateBacklog() {
  int64_t files = 0;
  int64_t bytes = 0;
  for (const RawFile& file : raw_) {
    ++files;
    bytes += file.size_bytes;
  }
  for (const Unit& unit : units_) {
    files += static_cast<int64_t>(unit.inputs.size());
    bytes += unit.size_bytes;
  }
  context_.metrics->Counter(sink_metric::kBacklogFiles) = files;
  context_.metrics->Counter(sink_metric::kBacklogBytes) = bytes;
}

void Compactor::CheckpointComplete(runtime::CheckpointId id) {
  for (const auto& expired : expired_) {
    if (expired->recorded == 0 || expired->recorded > id || expired->deleting) continue;
    if (--expired->completions_left <= 0) StartDeleting(expired.get());
  }
}

void Compactor::DeleteExpired() {
  for (const auto& expired : expired_) {
    if (!expired->deleting) StartDeleting(expired.get());
  }
}

void Compactor::StartDeleting(Expired* expired) {
  expired->deleting = true;
  auto status = std::make_shared<Status>();
  const auto held = *std::find_if(expired_.begin(), expired_.end(),
                                  [expired](const auto& e) { return e.get() == expired; });
  io_.Submit(
      [this, held, status] {
        SLUICE_CRASH_POINT("compact.before_delete");
        *status = CheckFence(context_.fence);
        if (!status->ok()) return;
        for (const std::string& path : held->paths) {
          *status = file_system_.DeleteFile(path);
          if (!status->ok()) return;
          SLUICE_CRASH_POINT("compact.between_deletes");
        }
        *status = KeepDeleted(file_system_, held->paths);
      },
      [this, held, status]() -> Status {
        if (!status->ok()) return *status;
        std::erase(expired_, held);
        return {};
      });
}

std::string Compactor::Encode(runtime::CheckpointId barrier) {
  ByteWriter out;
  out.PutU8(kVersion);
  out.PutU64(raw_.size());
  for (const RawFile& file : raw_) {
    out.PutI64(file.checkpoint);
    PutPartition(file.partition, &out);
    out.PutText(file.path);
    out.PutI64(file.row_count);
    out.PutI64(file.size_bytes);
  }
  out.PutU64(units_.size());
  for (const Unit& unit : units_) {
    out.PutI64(unit.checkpoint);
    PutPartition(unit.partition, &out);
    out.PutText(unit.target);
    out.PutU64(unit.inputs.size());
    for (const std::string& input : unit.inputs) out.PutText(input);
    out.PutI64(unit.row_count);
    out.PutI64(unit.size_bytes);
  }
  out.PutU64(expired_.size());
  for (const auto& expired : expired_) {
    if (expired->recorded == 0) expired->recorded = barrier;
    out.PutU64(expired->paths.size());
    for (const std::string& path : expired->paths) out.PutText(path);
    out.PutI64(expired->recorded);
    out.PutI64(expired->completions_left);
  }
  return std::move(out).Take();
}

Result<Compactor::Decoded> Compactor::Parse(std::string_view bytes) {
  Decoded decoded;
  ByteReader in(bytes);
  if (in.U8() != kVersion) {
    return Status::Corrupt("The compaction in the checkpoint has an unknown form.");
  }
  for (size_t count = in.Count(); count > 0 && in.ok(); --count) {
    RawFile file;
    file.checkpoint = in.I64();
    file.partition = ReadPartition(&in);
    file.path = in.Text();
    file.row_count = in.I64();
    file.size_bytes = in.I64();
    decoded.raw.push_back(std::move(file));
  }
  for (size_t count = in.Count(); count > 0 && in.ok(); --count) {
    Unit unit;
    unit.checkpoint = in.I64();
    unit.partition = ReadPartition(&in);
    unit.target = in.Text();
    for (size_t inputs = in.Count(); inputs > 0 && in.ok(); --inputs) {
      unit.inputs.push_back(in.Text());
    }
    unit.row_count = in.I64();
    unit.size_bytes = in.I64();
    unit.restored = true;
    decoded.units.push_back(std::move(unit));
  }
  for (size_t count = in.Count(); count > 0 && in.ok(); --count) {
    Expired expired;
    for (size_t paths = in.Count(); paths > 0 && in.ok(); --paths) {
      expired.paths.push_back(in.Text());
    }
    expired.recorded = in.I64();
    expired.completions_left = in.I64();
    decoded.expired.push_back(std::move(expired));
  }
  if (!in.AtEnd()) return Status::Corrupt("The compaction in the checkpoint is damaged.");
  return decoded;
}

Result<std::vector<std::string>> Compactor::PathsInState(std::string_view bytes) {
  SLUICE_ASSIGN_OR_RETURN(const Decoded decoded, Parse(bytes));
  std::vector<std::string> paths;
  for (const RawFile& file : decoded.raw) paths.push_back(file.path);
  for (const Unit& unit : decoded.units) {
    paths.push_back(unit.target);
    paths.insert(paths.end(), unit.inputs.begin(), unit.inputs.end());
  }
  for (const Expired& expired : decoded.expired) {
    paths.insert(paths.end(), expired.paths.begin(), expired.paths.end());
  }
  return paths;
}

Status Compactor::Decode(std::string_view bytes) {
  SLUICE_ASSIGN_OR_RETURN(Decoded decoded, Parse(bytes));
  for (RawFile& file : decoded.raw) raw_.push_back(std::move(file));
  for (Unit& unit : decoded.units) {
    for (const std::string& input : unit.inputs) restored_targets_[input] = unit.target;
    units_.push_back(std::move(unit));
  }
  for (Expired& expired : decoded.expired) {
    expired_.push_back(std::make_shared<Expired>(std::move(expired)));
  }
  UpdateBacklog();
  return {};
}

}  // namespace sluice::connectors::filesystem
