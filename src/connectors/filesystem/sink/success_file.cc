#include "connectors/filesystem/sink/success_file.h"

#include <map>

#include <arrow/buffer.h>
#include <nlohmann/json.hpp>

#include "connectors/filesystem/sink/sink_names.h"
#include "fs/if_there.h"

namespace sluice::connectors::filesystem {
namespace {

using Json = nlohmann::ordered_json;

class SuccessFile final : public CommitPolicy {
 public:
  SuccessFile(std::string name, bool with_content)
      : name_(std::move(name)), with_content_(with_content) {}

  Status Commit(fs::FileSystem& file_system, const PartitionCommit& commit,
                const std::string& tag) override {
    const std::string path = fs::JoinPath(commit.partition.directory, name_);
    SLUICE_ASSIGN_OR_RETURN(const bool had_one, fs::Exists(file_system, path));
    std::string content;
    if (with_content_) {
      SLUICE_ASSIGN_OR_RETURN(content, Content(file_system, commit, path, had_one));
    }
    // Object stores replace a whole object at once, and know no hidden names to do it by.
    if (!file_system.has_directories()) return file_system.WriteWhole(path, content);
    if (!had_one && content.empty()) {
      // Whole as soon as it is there: it waits for no sync of a hidden one.
      Status written = file_system.WriteWhole(path, content);
      if (written.code() != StatusCode::kNotFound) return written;
    }
    if (!had_one) return Create(file_system, path, content, tag);
    return Replace(file_system, path, content, tag);
  }

  /// New empty markers of many partitions become durable together, and then visible.
  Status CommitAll(fs::FileSystem& file_system, std::span<const PartitionCommit> commits,
                   const std::string& tag) override {
    std::unique_ptr<fs::SyncBatch> batch;
    if (!with_content_ && file_system.has_directories() && !commits.empty()) {
      batch = file_system.publisher().BeginBatch(commits.front().partition.directory,
                                                 static_cast<int64_t>(commits.size()));
    }
    if (batch == nullptr) return CommitPolicy::CommitAll(file_system, commits, tag);
    std::vector<std::string> handles;
    for (const PartitionCommit& commit : commits) {
      const std::string path = fs::JoinPath(commit.partition.directory, name_);
      SLUICE_ASSIGN_OR_RETURN(const bool had_one, fs::Exists(file_system, path));
      if (had_one) {
        SLUICE_RETURN_NOT_OK(Commit(file_system, commit, tag));
        continue;
      }
      SLUICE_ASSIGN_OR_RETURN(const auto writer, file_system.publisher().Open(path, tag));
      SLUICE_ASSIGN_OR_RETURN(handles.emplace_back(), writer->CloseInBatch(*batch));
    }
    SLUICE_RETURN_NOT_OK(batch->Sync());
    for (Status& published : file_system.publisher().Publish(handles)) {
      if (!published.ok()) return std::move(published);
    }
    return {};
  }

 private:
  static Status Create(fs::FileSystem& file_system, const std::string& path,
                       const std::string& content, const std::string& tag) {
    SLUICE_ASSIGN_OR_RETURN(const auto writer, file_system.publisher().Open(path, tag));
    SLUICE_RETURN_NOT_OK(writer->Append(content));
    SLUICE_ASSIGN_OR_RETURN(const std::string handle, writer->Close());
    return file_system.publisher().Publish({handle}).front();
  }

  /// The new one is complete under a hidden name that a sweep knows as ours; then the two change
  /// places. File systems that cannot do that replace a whole file in one step themselves.
  static Status Replace(fs::FileSystem& file_system, const std::string& path,
                        const std::string& content, const std::string& tag) {
    const std::string fresh =
        fs::JoinPath(fs::ParentPath(path), "." + std::string(fs::NameOf(path)) + ".new" +
                                               std::string(kInProgressInfix) + tag);
    SLUICE_RETURN_NOT_OK(file_system.DeleteFile(fresh));  // Of a try of this attempt that failed.
    SLUICE_RETURN_NOT_OK(Create(file_system, fresh, content, tag));
    const Status exchanged = file_system.ExchangeDirectories(fresh, path);
    if (exchanged.code() == StatusCode::kUnsupported) {
      SLUICE_RETURN_NOT_OK(file_system.WriteWhole(path, content));
    } else {
      SLUICE_RETURN_NOT_OK(exchanged);
    }
    SLUICE_RETURN_NOT_OK(file_system.DeleteFile(fresh));
    // Its removal is made durable, or a power loss would bring it back when nobody looks any more.
    return file_system.CreateDirectories(fs::ParentPath(path));
  }

  /// All files of the partition: those of the old marker that are still there, and the new ones. So
  /// a commit that is repeated counts nothing twice.
  static Result<std::string> Content(fs::FileSystem& file_system, const PartitionCommit& commit,
                                     const std::string& path, bool has_old) {
    std::map<std::string, int64_t> rows_of_file;
    if (has_old) SLUICE_RETURN_NOT_OK(ReadOld(file_system, path, &rows_of_file));
    for (const NewFile& file : commit.files) rows_of_file[file.name] = file.row_count;
    std::map<std::string, int64_t> bytes_of_file;
    SLUICE_ASSIGN_OR_RETURN(const auto entries, file_system.List(commit.partition.directory));
    for (const fs::FileInfo& entry : entries) {
      bytes_of_file[std::string(entry.name())] = entry.size_bytes;
    }
    int64_t rows = 0;
    Json files = Json::array();
    for (const auto& [name, row_count] : rows_of_file) {
      const auto bytes = bytes_of_file.find(name);
      if (bytes == bytes_of_file.end()) continue;  // Merged or removed since.
      rows += row_count;
      files.push_back({{"name", name}, {"rows", row_count}, {"bytes", bytes->second}});
    }
    Json document = Json::parse(ToJson(commit));
    document.erase("again");
    document["rows"] = rows;
    document["files"] = std::move(files);
    return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  /// A marker without content, or of another program, says nothing.
  static Status ReadOld(fs::FileSystem& file_system, const std::string& path,
                        std::map<std::string, int64_t>* rows_of_file) {
    SLUICE_ASSIGN_OR_RETURN(const std::string text, file_system.ReadAll(path));
    const Json old = Json::parse(text, nullptr, false);
    if (!old.is_object() || !old.contains("files") || !old["files"].is_array()) return {};
    for (const Json& entry : old["files"]) {
      if (!entry.is_object() || !entry.contains("name") || !entry.contains("rows")) continue;
      if (!entry["name"].is_string() || !entry["rows"].is_number_integer()) continue;
      (*rows_of_file)[entry["name"].get<std::string>()] = entry["rows"].get<int64_t>();
    }
    return {};
  }

  const std::string name_;
  const bool with_content_;
};

}  // namespace

std::shared_ptr<CommitPolicy> MakeSuccessFilePolicy(std::string name, bool with_content) {
  return std::make_shared<SuccessFile>(std::move(name), with_content);
}

}  // namespace sluice::connectors::filesystem
