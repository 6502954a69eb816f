#include "runtime/checkpoint/checkpoint_file.h"

#include <set>

#include "runtime/checkpoint/content_hash.h"
#include "runtime/checkpoint/crc32c.h"
#include "runtime/checkpoint/record_file.h"

namespace sluice::runtime {
namespace {

// Kinds of records; the kind is the first text of each.
constexpr std::string_view kJobRecord = "job";
constexpr std::string_view kFileRecord = "file";
constexpr std::string_view kOperatorRecord = "operator";
constexpr std::string_view kBlobRecord = "blob";

// Below it a file of its own costs more than it saves.
constexpr size_t kLeastBlobBytes = 4096;
constexpr uint32_t kVersionWithBlobs = 2;

constexpr uint32_t kStoppingFlag = 1;
constexpr uint32_t kFinalFlag = 2;

bool HasOwnFile(std::string_view name, std::string_view value) {
  return value.size() >= kLeastBlobBytes && name.starts_with(kBlobPrefix);
}

std::string OperatorRecord(const std::string& id, int subtask, const StateFields& fields) {
  uint64_t count = 0;
  size_t size = 0;
  for (const auto& [name, value] : fields) {
    if (HasOwnFile(name, value)) continue;
    ++count;
    size += 2 * sizeof(uint64_t) + name.size() + value.size();
  }
  std::string record;
  AppendText(kOperatorRecord, &record);
  AppendText(id, &record);
  AppendU32(static_cast<uint32_t>(subtask), &record);
  AppendU64(count, &record);
  record.reserve(record.size() + size);
  for (const auto& [name, value] : fields) {
    if (HasOwnFile(name, value)) continue;
    AppendText(name, &record);
    AppendText(value, &record);
  }
  return record;
}

std::string BlobFileName(std::string_view bytes) {
  return std::string(kBlobFilePrefix) + ContentHash(bytes) + "-" + std::to_string(bytes.size());
}

void AddBlobs(const std::string& id, int subtask, const StateFields& fields,
              std::vector<std::string>* records, std::vector<CheckpointBlob>* blobs) {
  std::set<std::string_view> known;
  for (const CheckpointBlob& blob : *blobs) known.insert(blob.file_name);
  for (const auto& [name, value] : fields) {
    if (!HasOwnFile(name, value)) continue;
    const std::string file_name = BlobFileName(value);
    std::string& record = records->emplace_back();
    AppendText(kBlobRecord, &record);
    AppendText(id, &record);
    AppendU32(static_cast<uint32_t>(subtask), &record);
    AppendText(name, &record);
    AppendText(file_name, &record);
    if (!known.contains(file_name)) blobs->push_back({file_name, value});
  }
}

Status ReadBlobRecord(RecordReader reader, const BlobReader& read_blob,
                      const std::string& directory, CheckpointData* data) {
  const std::string id(reader.Text());
  const int subtask = static_cast<int>(reader.U32());
  std::string name(reader.Text());
  const std::string file_name(reader.Text());
  if (!reader.ok() || file_name.find('/') != std::string::npos || !read_blob) {
    return Status::Corrupt("The state of operator '" + id + "' cannot be read.");
  }
  SLUICE_ASSIGN_OR_RETURN(std::string bytes, read_blob(file_name));
  if (BlobFileName(bytes) != file_name) {
    return Status::Corrupt("Checkpoint " + directory + " is damaged: the content of " + file_name +
                           " is not what its name says. Restore it from a copy, or start over with "
                           "--fresh.");
  }
  data->operators[id][subtask].insert_or_assign(std::move(name), std::move(bytes));
  return {};
}

Status ReadOperatorRecord(std::string_view record, const BlobReader& read_blob,
                          const std::string& directory, CheckpointData* data) {
  RecordReader reader(record);
  const std::string_view kind = reader.Text();
  if (reader.ok() && kind == kBlobRecord) return ReadBlobRecord(reader, read_blob, directory, data);
  if (reader.ok() && kind != kOperatorRecord)
    return {};  // Of a later minor version: not ours to judge.
  const std::string id(reader.Text());
  const int subtask = static_cast<int>(reader.U32());
  StateFields& fields = data->operators[id][subtask];
  const uint64_t count = reader.U64();
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    std::string name(reader.Text());
    fields.insert_or_assign(std::move(name), std::string(reader.Text()));
  }
  if (!reader.ok() || !reader.at_end()) {
    return Status::Corrupt("The state of operator '" + id + "' cannot be read.");
  }
  return {};
}

struct StateFileInfo {
  uint64_t length = 0;
  uint32_t checksum = 0;
};

Status ReadMetadataRecord(std::string_view record, CheckpointData* data, StateFileInfo* info,
                          const std::string& directory) {
  RecordReader reader(record);
  const std::string_view kind = reader.Text();
  if (kind == kJobRecord) {
    data->id = static_cast<CheckpointId>(reader.U64());
    data->job_id = reader.Text();
    data->job_name = reader.Text();
    data->created_ms = static_cast<int64_t>(reader.U64());
    const uint32_t flags = reader.U32();
    data->stopping = (flags & kStoppingFlag) != 0;
    data->final = (flags & kFinalFlag) != 0;
    // Version 1.0 ended here.
    if (reader.ok() && !reader.at_end()) data->started_from = reader.Text();
  } else if (kind == kFileRecord) {
    reader.Text();  // Its name: one file so far.
    info->length = reader.U64();
    info->checksum = reader.U32();
  }
  if (reader.ok()) return {};
  return Status::Corrupt("The metadata in " + directory + " cannot be read.");
}

}  // namespace

Result<CheckpointFiles> EncodeCheckpoint(const CheckpointData& data) {
  CheckpointFiles files;
  std::vector<std::string> records;
  for (const auto& [id, subtasks] : data.operators) {
    for (const auto& [subtask, fields] : subtasks) {
      records.push_back(OperatorRecord(id, subtask, fields));
      AddBlobs(id, subtask, fields, &records, &files.blobs);
    }
  }
  const uint32_t version = files.blobs.empty() ? 1 : kVersionWithBlobs;
  SLUICE_ASSIGN_OR_RETURN(files.state, EncodeRecordFile(records, version));
  std::string job;
  AppendText(kJobRecord, &job);
  AppendU64(static_cast<uint64_t>(data.id), &job);
  AppendText(data.job_id, &job);
  AppendText(data.job_name, &job);
  AppendU64(static_cast<uint64_t>(data.created_ms), &job);
  AppendU32((data.stopping ? kStoppingFlag : 0) | (data.final ? kFinalFlag : 0), &job);
  AppendText(data.started_from, &job);
  std::string file;
  AppendText(kFileRecord, &file);
  AppendText("state", &file);
  AppendU64(files.state.size(), &file);
  AppendU32(Crc32c(files.state), &file);
  SLUICE_ASSIGN_OR_RETURN(files.metadata, EncodeRecordFile({job, file}, version));
  return files;
}

Result<CheckpointData> DecodeCheckpoint(std::string_view metadata, std::string_view state,
                                        const std::string& directory, const BlobReader& read_blob) {
  CheckpointData data;
  StateFileInfo info;
  SLUICE_ASSIGN_OR_RETURN(const auto metadata_records,
                          DecodeRecordFile(metadata, directory + "/_metadata"));
  for (const std::string_view record : metadata_records) {
    SLUICE_RETURN_NOT_OK(ReadMetadataRecord(record, &data, &info, directory));
  }
  if (info.length != state.size() || info.checksum != Crc32c(state)) {
    return Status::Corrupt("Checkpoint " + directory + " is damaged: its metadata tells of " +
                           std::to_string(info.length) + " bytes of state, " +
                           std::to_string(state.size()) +
                           " bytes are there, or their checksum differs. Restore it from a copy, "
                           "or start over with --fresh.");
  }
  SLUICE_ASSIGN_OR_RETURN(const auto records, DecodeRecordFile(state, directory + "/state"));
  for (const std::string_view record : records) {
    Status status = ReadOperatorRecord(record, read_blob, directory, &data);
    if (!status.ok()) return std::move(status).WithContext("Reading checkpoint " + directory + ":");
  }
  return data;
}

}  // namespace sluice::runtime
