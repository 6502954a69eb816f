#include "connectors/filesystem/sink/commit_policy.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "common/crash_point.h"
#include "common/text.h"
#include "connectors/filesystem/sink/child_process.h"
#include "connectors/filesystem/sink/hook_library.h"
#include "connectors/filesystem/sink/http_post.h"
#include "connectors/filesystem/sink/success_file.h"

namespace sluice::connectors::filesystem {
namespace {

using Json = nlohmann::ordered_json;

/// A plain table has no metastore; as in Flink the other policies still run.
class NoMetastore final : public CommitPolicy {
 public:
  Status Commit(fs::FileSystem&, const PartitionCommit&, const std::string&) override { return {}; }
};

class Library final : public CommitPolicy {
 public:
  explicit Library(std::unique_ptr<LibraryPolicy> policy) : policy_(std::move(policy)) {}

  Status Commit(fs::FileSystem&, const PartitionCommit& commit, const std::string&) override {
    const auto keys = TextPointers(commit.keys);
    const auto values = TextPointers(commit.partition.values);
    std::vector<sluice_new_file> files;
    for (const NewFile& file : commit.files) files.push_back({file.name.c_str(), file.row_count});
    const sluice_partition partition = {.table = commit.table.c_str(),
                                        .path = commit.partition.directory.c_str(),
                                        .key_count = values.size(),
                                        .keys = keys.data(),
                                        .values = values.data(),
                                        .checkpoint = commit.checkpoint,
                                        .again = commit.again ? 1 : 0,
                                        .row_count = commit.row_count,
                                        .file_count = files.size(),
                                        .files = files.data()};
    return policy_->Commit(partition);
  }

 private:
  const std::unique_ptr<LibraryPolicy> policy_;
};

// Of answers that waiting does not change.
constexpr std::string_view kNotRepeated =
    "The job stops with its state kept: when the cause is gone the same command goes on here.";

class Command final : public CommitPolicy {
 public:
  explicit Command(const HookOptions& options) : options_(options) {}

  Status Commit(fs::FileSystem&, const PartitionCommit& commit, const std::string&) override {
    CommandRequest request{
        .command = options_.command,
        .input = ToJson(commit) + "\n",
        .environment = {{"SLUICE_TABLE", commit.table},
                        {"SLUICE_PARTITION_PATH", commit.partition.directory},
                        {"SLUICE_CHECKPOINT", std::to_string(commit.checkpoint)}},
        .timeout_ms = options_.timeout_ms};
    SLUICE_ASSIGN_OR_RETURN(const CommandResult result, RunCommand(request));
    if (result.exit_code == 0) return {};
    const std::string message = "The command '" + options_.command +
                                "' of 'sink.partition-commit.policy.command' " +
                                HowItEnded(result) + ".";
    // As sysexits.h has them: wrong usage, no such command, no permission do not heal.
    const bool may_heal = result.exit_code < 64 || result.exit_code == 75 || result.exit_code > 127;
    if (may_heal) return Status::Unavailable(message);
    return Status::InvalidArgument(message + " " + std::string(kNotRepeated));
  }

 private:
  const HookOptions options_;
};

/// Printable ASCII: a path may hold anything, a header may not.
std::string HeaderText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    char escaped[4];
    if (c > ' ' && c < '\x7F') {
      out += c;
    } else {
      std::snprintf(escaped, sizeof(escaped), "%%%02X", static_cast<unsigned char>(c));
      out += escaped;
    }
  }
  return out;
}

class Http final : public CommitPolicy {
 public:
  explicit Http(const HookOptions& options) : options_(options) {}

  Status Commit(fs::FileSystem&, const PartitionCommit& commit, const std::string&) override {
    HttpPost request{.url = options_.url,
                     .body = ToJson(commit),
                     .headers = options_.headers,
                     .timeout_ms = options_.timeout_ms,
                     .option = "sink.partition-commit.policy.http.url"};
    // The same for a commit that is repeated, so that the other side can tell.
    request.headers.push_back("Idempotency-Key: " + HeaderText(commit.partition.directory) + "@" +
                              std::to_string(commit.checkpoint));
    Status status = PostJson(request).status();
    if (status.ok() || status.retriable()) return status;
    return Status::InvalidArgument(status.message() + " " + std::string(kNotRepeated));
  }

 private:
  const HookOptions options_;
};

Result<std::shared_ptr<CommitPolicy>> MakePolicy(const PartitionCommitOptions& options,
                                                 PolicyKind kind) {
  switch (kind) {
    case PolicyKind::kMetastore:
      return std::make_shared<NoMetastore>();
    case PolicyKind::kSuccessFile:
      return MakeSuccessFilePolicy(options.success_file_name, options.success_file_json);
    case PolicyKind::kCustom: {
      SLUICE_ASSIGN_OR_RETURN(auto library, HookLibrary::Load("sink.partition-commit.policy.class",
                                                              options.policy_hook.library));
      SLUICE_ASSIGN_OR_RETURN(
          auto policy, LibraryPolicy::Open(std::move(library), options.policy_hook.parameters));
      return std::make_shared<Library>(std::move(policy));
    }
    case PolicyKind::kCommand:
      return std::make_shared<Command>(options.policy_hook);
    case PolicyKind::kHttp:
      return std::make_shared<Http>(options.policy_hook);
  }
  return Status::Internal("unknown partition commit policy");
}

}  // namespace

std::string ToJson(const PartitionCommit& commit) {
  Json values = Json::object();
  for (size_t i = 0; i < commit.partition.values.size() && i < commit.keys.size(); ++i) {
    const auto& value = commit.partition.values[i];
    values[commit.keys[i]] = value ? Json(*value) : Json();
  }
  Json files = Json::array();
  for (const NewFile& file : commit.files) {
    files.push_back({{"name", file.name}, {"rows", file.row_count}});
  }
  Json document = {{"table", commit.table},          {"path", commit.partition.directory},
                   {"partition", std::move(values)}, {"checkpoint", commit.checkpoint},
                   {"again", commit.again},          {"rows", commit.row_count},
                   {"files", std::move(files)},      {"sources", commit.source_positions}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<CommitPolicies> MakeCommitPolicies(const PartitionCommitOptions& options) {
  CommitPolicies policies;
  for (const PolicyKind kind : options.policies) {
    SLUICE_ASSIGN_OR_RETURN(policies.emplace_back(), MakePolicy(options, kind));
  }
  return policies;
}

namespace {

Status Explained(Status status, const PartitionCommit& commit) {
  return std::move(status).WithContext("While committing the partition " +
                                       commit.partition.directory + ".");
}

Status CommitOne(fs::FileSystem& file_system, const CommitPolicies& policies,
                 const PartitionCommit& commit, const std::string& tag) {
  SLUICE_CRASH_POINT("sink.before_partition_commit");
  bool first = true;
  for (const auto& policy : policies) {
    if (!first) SLUICE_CRASH_POINT("sink.between_policies");
    first = false;
    SLUICE_RETURN_NOT_OK(Explained(policy->Commit(file_system, commit, tag), commit));
  }
  SLUICE_CRASH_POINT("sink.after_partition_commit");
  return {};
}

}  // namespace

Status CommitPolicy::CommitAll(fs::FileSystem& file_system,
                               std::span<const PartitionCommit> commits, const std::string& tag) {
  for (const PartitionCommit& commit : commits) {
    SLUICE_RETURN_NOT_OK(Explained(Commit(file_system, commit, tag), commit));
  }
  return {};
}

Status CommitPartitions(fs::FileSystem& file_system, const CommitPolicies& policies,
                        std::span<const PartitionCommit> commits, const std::string& tag) {
  // Of several policies each partition has all before the next has any.
  if (policies.size() == 1 && commits.size() > 1) {
    SLUICE_CRASH_POINT("sink.before_partition_commit");
    SLUICE_RETURN_NOT_OK(policies.front()->CommitAll(file_system, commits, tag));
    SLUICE_CRASH_POINT("sink.after_partition_commit");
    return {};
  }
  for (const PartitionCommit& commit : commits) {
    SLUICE_RETURN_NOT_OK(CommitOne(file_system, policies, commit, tag));
  }
  return {};
}

}  // namespace sluice::connectors::filesystem
