#include "fs/s3/s3_file_system.h"

#include <algorithm>
#include <thread>

#include "fs/s3/s3_file.h"

namespace sluice::fs {
namespace s3 {
namespace {

// Objects of that name stand for the directory itself.
std::string DirectoryKey(const std::string& key) { return key.empty() ? "" : key + "/"; }

FileInfo ObjectEntry(const std::string& path, const ObjectInfo& info) {
  return {.path = path,
          .is_directory = false,
          .size_bytes = info.size_bytes,
          .modified_ms = info.modified_ms};
}

Status NothingThere(const std::string& path) {
  return Status::NotFound("No object and no directory is at " + path + ".");
}

}  // namespace

S3FileSystem::S3FileSystem(std::string_view scheme, OptionMap options, Environment environment)
    : scheme_(scheme),
      options_(std::move(options)),
      environment_(std::move(environment)),
      publisher_([this](const std::string& bucket) { return StoreOf(bucket); }) {}

Result<std::shared_ptr<BucketStore>> S3FileSystem::StoreOf(const std::string& bucket) {
  const std::lock_guard lock(mutex_);
  auto& store = stores_[bucket];
  if (store != nullptr) return store;
  SLUICE_ASSIGN_OR_RETURN(BucketSettings settings,
                          ReadBucketSettings(scheme_, bucket, options_, environment_));
  const auto http =
      std::make_shared<HttpClient>(HttpSettings{.connect_timeout_ms = settings.connect_timeout_ms,
                                                .stall_timeout_ms = settings.stall_timeout_ms,
                                                .ca_file = settings.ca_file});
  SLUICE_ASSIGN_OR_RETURN(auto credentials,
                          MakeCredentialsProvider(settings, environment_, http, &Clock::System()));
  // Each connection busy, and as much again ready to go.
  publisher_.room().RaiseLimit(2 * settings.concurrent_uploads * settings.part_size_bytes);
  store = std::make_shared<BucketStore>(std::move(settings), std::move(credentials), http,
                                        &Clock::System());
  return store;
}

Status S3FileSystem::CheckAccess(const std::string& directory) {
  const BucketPath path = SplitBucketPath(directory);
  SLUICE_ASSIGN_OR_RETURN(const auto store, StoreOf(path.bucket));
  ErrorKind kind = ErrorKind::kOther;
  const Status status =
      store->client.List({.prefix = DirectoryKey(path.key), .max_keys = 1, .token = {}}, &kind)
          .status();
  // Who may write need not be allowed to list.
  return kind == ErrorKind::kDenied ? Status() : status;
}

Result<FileInfo> S3FileSystem::Stat(const std::string& path) {
  const BucketPath at = SplitBucketPath(path);
  SLUICE_ASSIGN_OR_RETURN(const auto store, StoreOf(at.bucket));
  const auto look_at_object = [&] {
    return at.key.empty() ? Result<ObjectInfo>(NothingThere(path)) : store->client.Head(at.key);
  };
  auto info = look_at_object();
  if (info.status().code() == StatusCode::kUnavailable) return info.status();
  if (info.ok()) return ObjectEntry(path, *info);
  // Also after other failures: the answer to HEAD has no text that says what is wrong.
  SLUICE_ASSIGN_OR_RETURN(
      const ListPage page,
      store->client.List({.prefix = DirectoryKey(at.key), .max_keys = 1, .token = {}}));
  if (info.status().code() != StatusCode::kNotFound) {
    info = look_at_object();  // Listing may have found new keys, or the bucket's region.
    if (info.ok()) return ObjectEntry(path, *info);
    if (info.status().code() != StatusCode::kNotFound) return info.status();
  }
  if (page.objects.empty() && page.prefixes.empty()) return NothingThere(path);
  return FileInfo{.path = path, .is_directory = true};
}

Result<std::vector<FileInfo>> S3FileSystem::List(const std::string& directory) {
  const BucketPath at = SplitBucketPath(directory);
  SLUICE_ASSIGN_OR_RETURN(const auto store, StoreOf(at.bucket));
  const std::string prefix = DirectoryKey(at.key);
  std::vector<FileInfo> entries;
  bool found = false;
  ListRequest request{.prefix = prefix, .token = {}};
  do {
    SLUICE_ASSIGN_OR_RETURN(ListPage page, store->client.List(request));
    found = found || !page.objects.empty() || !page.prefixes.empty();
    for (ListedObject& object : page.objects) {
      const std::string name = object.key.substr(prefix.size());
      if (name.empty()) continue;
      entries.push_back({.path = JoinPath(directory, name),
                         .is_directory = false,
                         .size_bytes = object.size_bytes,
                         .modified_ms = object.modified_ms});
    }
    for (const std::string& common : page.prefixes) {
      const std::string name = common.substr(prefix.size(), common.size() - prefix.size() - 1);
      if (name.empty()) continue;  // A key with "//": not to be named by a path.
      entries.push_back({.path = JoinPath(directory, name), .is_directory = true});
    }
    request.token = std::move(page.next_token);
  } while (!request.token.empty());
  if (!found) return NothingThere(directory);
  std::sort(entries.begin(), entries.end(),
            [](const FileInfo& a, const FileInfo& b) { return a.path < b.path; });
  return entries;
}

Result<std::vector<FileInfo>> S3FileSystem::ListTree(const std::string& directory) {
  return ListTreeAfter(directory, "");
}

Result<std::vector<FileInfo>> S3FileSystem::ListTreeAfter(const std::string& directory,
                                                          const std::string& after) {
  const BucketPath at = SplitBucketPath(directory);
  SLUICE_ASSIGN_OR_RETURN(const auto store, StoreOf(at.bucket));
  const std::string root = directory.substr(0, directory.size() - at.key.size());
  std::vector<FileInfo> files;
  bool found = false;
  ListRequest request{.prefix = DirectoryKey(at.key),
                      .by_directory = false,
                      .token = {},
                      .start_after = after.empty() ? "" : SplitBucketPath(after).key};
  do {
    SLUICE_ASSIGN_OR_RETURN(ListPage page, store->client.List(request));
    found = found || !page.objects.empty();
    for (const ListedObject& object : page.objects) {
      // "a/" stands for a directory, and "a//b" cannot be named by a path.
      if (object.key.ends_with('/') || object.key.find("//") != std::string::npos) continue;
      files.push_back({.path = JoinPath(root, object.key),
                       .is_directory = false,
                       .size_bytes = object.size_bytes,
                       .modified_ms = object.modified_ms});
    }
    request.token = std::move(page.next_token);
  } while (!request.token.empty());
  if (!found) return NothingThere(directory);
  return files;  // Stores list in the order of the keys.
}

Result<std::shared_ptr<arrow::io::RandomAccessFile>> S3FileSystem::OpenRead(
    const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const FileInfo info, Stat(path));
  if (info.is_directory) return Status::IoError(path + " is a directory.");
  return OpenFound(info);
}

Result<std::shared_ptr<arrow::io::RandomAccessFile>> S3FileSystem::OpenFound(const FileInfo& file) {
  BucketPath at = SplitBucketPath(file.path);
  SLUICE_ASSIGN_OR_RETURN(auto store, StoreOf(at.bucket));
  return std::make_shared<S3File>(std::move(store), std::move(at.key), file.size_bytes);
}

Status S3FileSystem::WriteWhole(const std::string& path, std::string_view bytes) {
  const BucketPath at = SplitBucketPath(path);
  SLUICE_ASSIGN_OR_RETURN(const auto store, StoreOf(at.bucket));
  return store->client.Put(at.key, bytes, S3Client::IfExists::kReplace);
}

Status S3FileSystem::CreateDirectories(const std::string& path) {
  const BucketPath at = SplitBucketPath(path);
  SLUICE_ASSIGN_OR_RETURN(const auto store, StoreOf(at.bucket));
  if (at.key.empty()) return {};
  return store->client.Put(DirectoryKey(at.key), "", S3Client::IfExists::kReplace);
}

Status S3FileSystem::DeleteFile(const std::string& path) {
  const BucketPath at = SplitBucketPath(path);
  SLUICE_ASSIGN_OR_RETURN(const auto store, StoreOf(at.bucket));
  return store->client.Delete(at.key);
}

Status S3FileSystem::DeleteFiles(const std::vector<std::string>& paths) {
  std::map<std::string, std::vector<std::string>> by_bucket;
  for (const std::string& path : paths) {
    BucketPath at = SplitBucketPath(path);
    by_bucket[at.bucket].push_back(std::move(at.key));
  }
  for (const auto& [bucket, keys] : by_bucket) {
    SLUICE_ASSIGN_OR_RETURN(const auto store, StoreOf(bucket));
    SLUICE_RETURN_NOT_OK(keys.size() == 1 ? store->client.Delete(keys.front())
                                          : store->client.DeleteMany(keys));
  }
  return {};
}

Status S3FileSystem::DeleteTree(const std::string& path) {
  const BucketPath at = SplitBucketPath(path);
  SLUICE_ASSIGN_OR_RETURN(const auto store, StoreOf(at.bucket));
  ListRequest request{.prefix = DirectoryKey(at.key), .by_directory = false, .token = {}};
  do {
    SLUICE_ASSIGN_OR_RETURN(ListPage page, store->client.List(request));
    std::vector<std::string> keys;
    for (ListedObject& object : page.objects) keys.push_back(std::move(object.key));
    SLUICE_RETURN_NOT_OK(store->client.DeleteMany(keys));
    request.token = std::move(page.next_token);
  } while (!request.token.empty());
  return {};
}

Status S3FileSystem::Rename(const std::string& from, const std::string& to) {
  const BucketPath source = SplitBucketPath(from);
  const BucketPath target = SplitBucketPath(to);
  SLUICE_ASSIGN_OR_RETURN(const FileInfo info, Stat(from));
  if (info.is_directory || source.bucket != target.bucket) {
    return Status::Unsupported(
        "An object store renames single objects of one bucket only: " + from + " to " + to + ".");
  }
  const auto there = Stat(to);
  if (there.ok()) return Status::AlreadyExists("Cannot rename " + from + ": " + to + " is there.");
  if (there.status().code() != StatusCode::kNotFound) return there.status();
  SLUICE_ASSIGN_OR_RETURN(const auto store, StoreOf(source.bucket));
  SLUICE_RETURN_NOT_OK(store->client.Copy(source.key, target.key));
  return store->client.Delete(source.key);
}

Status S3FileSystem::ExchangeDirectories(const std::string& a, const std::string& b) {
  return Status::Unsupported("An object store cannot exchange directories: " + a + ", " + b + ".");
}

int64_t S3FileSystem::retries() const {
  const std::lock_guard lock(mutex_);
  int64_t retries = 0;
  for (const auto& [bucket, store] : stores_) {
    if (store != nullptr) retries += store->client.retries();
  }
  return retries;
}

}  // namespace s3

Result<std::shared_ptr<FileSystem>> MakeS3FileSystem(std::string_view scheme,
                                                     const OptionMap& options) {
  SLUICE_RETURN_NOT_OK(s3::CheckStoreOptions(scheme, options));
  return std::make_shared<s3::S3FileSystem>(scheme, options, &s3::ProcessEnvironment);
}

}  // namespace sluice::fs
