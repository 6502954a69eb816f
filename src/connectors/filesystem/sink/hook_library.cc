#include "connectors/filesystem/sink/hook_library.h"

#include <dlfcn.h>

#include <array>

namespace sluice::connectors::filesystem {
namespace {

constexpr size_t kErrorBytes = 1024;
constexpr const char* kSymbol = "sluice_partition_hooks";

Status Refused(const std::string& option, const std::string& path, const std::string& why) {
  return Status::InvalidArgument("Invalid value for option '" + option + "': '" + path + "'. " +
                                 why +
                                 " It must be the path of a shared library that is built with "
                                 "sluice/partition_hooks.h (see docs/partition-commit.md).");
}

/// Ends with a zero byte whatever the library wrote.
struct ErrorText {
  std::array<char, kErrorBytes> bytes = {};
  std::string text() {
    bytes.back() = '\0';
    return bytes[0] == '\0' ? "it does not say why" : bytes.data();
  }
};

}  // namespace

std::vector<const char*> TextPointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

std::vector<const char*> TextPointers(const std::vector<std::optional<std::string>>& texts) {
  std::vector<const char*> pointers;
  for (const auto& text : texts) pointers.push_back(text ? text->c_str() : nullptr);
  return pointers;
}

Result<std::shared_ptr<HookLibrary>> HookLibrary::Load(const std::string& option,
                                                       const std::string& path) {
  // A plain name would be searched in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Refused(option, path, std::string("It cannot be loaded: ") + dlerror() + ".");
  }
  using Fill = void (*)(sluice_partition_hooks_table*);
  const auto fill = reinterpret_cast<Fill>(dlsym(handle, kSymbol));
  if (fill == nullptr) {
    return Refused(option, path, std::string("It exports no symbol '") + kSymbol + "'.");
  }
  auto library = std::make_shared<HookLibrary>();
  library->path_ = path;
  fill(&library->table_);
  if (library->table_.version != SLUICE_PARTITION_HOOKS_VERSION) {
    return Refused(option, path,
                   "It was built with version " + std::to_string(library->table_.version) +
                       " of the header, this program has version " +
                       std::to_string(SLUICE_PARTITION_HOOKS_VERSION) + ".");
  }
  return library;
}

Result<std::unique_ptr<LibraryPolicy>> LibraryPolicy::Open(
    std::shared_ptr<HookLibrary> library, const std::vector<std::string>& parameters) {
  const auto& table = library->table();
  if (table.open_policy == nullptr || table.commit == nullptr) {
    return Status::InvalidArgument("The library " + library->path() +
                                   " offers no partition commit policy.");
  }
  ErrorText error;
  const auto pointers = TextPointers(parameters);
  void* policy =
      table.open_policy(pointers.size(), pointers.data(), error.bytes.data(), error.bytes.size());
  if (policy == nullptr) {
    return Status::InvalidArgument("The partition commit policy of " + library->path() +
                                   " refuses its parameters: " + error.text() + ".");
  }
  return std::unique_ptr<LibraryPolicy>(new LibraryPolicy(std::move(library), policy));
}

LibraryPolicy::~LibraryPolicy() {
  if (library_->table().close_policy != nullptr) library_->table().close_policy(policy_);
}

Status LibraryPolicy::Commit(const sluice_partition& partition) {
  const std::lock_guard lock(mutex_);
  ErrorText error;
  const int answer =
      library_->table().commit(policy_, &partition, error.bytes.data(), error.bytes.size());
  if (answer == SLUICE_OK) return {};
  const std::string message =
      "The partition commit policy of " + library_->path() + " failed: " + error.text() + ".";
  return answer == SLUICE_TRY_AGAIN ? Status::Unavailable(message)
                                    : Status::InvalidArgument(message);
}

Result<std::unique_ptr<LibraryTime>> LibraryTime::Open(std::shared_ptr<HookLibrary> library,
                                                       const std::vector<std::string>& parameters) {
  const auto& table = library->table();
  if (table.open_time == nullptr || table.partition_time == nullptr) {
    return Status::InvalidArgument("The library " + library->path() +
                                   " offers no partition time extractor.");
  }
  ErrorText error;
  const auto pointers = TextPointers(parameters);
  void* time =
      table.open_time(pointers.size(), pointers.data(), error.bytes.data(), error.bytes.size());
  if (time == nullptr) {
    return Status::InvalidArgument("The partition time extractor of " + library->path() +
                                   " refuses its parameters: " + error.text() + ".");
  }
  return std::unique_ptr<LibraryTime>(new LibraryTime(std::move(library), time));
}

LibraryTime::~LibraryTime() {
  if (library_->table().close_time != nullptr) library_->table().close_time(time_);
}

Result<std::optional<int64_t>> LibraryTime::LocalMillis(
    const std::vector<std::string>& keys, const std::vector<std::optional<std::string>>& values) {
  const std::lock_guard lock(mutex_);
  ErrorText error;
  const auto key_pointers = TextPointers(keys);
  const auto value_pointers = TextPointers(values);
  int64_t local_millis = 0;
  const int answer = library_->table().partition_time(
      time_, key_pointers.size(), key_pointers.data(), value_pointers.data(), &local_millis,
      error.bytes.data(), error.bytes.size());
  if (answer == SLUICE_OK) return std::optional<int64_t>(local_millis);
  if (answer == SLUICE_NO_TIME) return std::optional<int64_t>();
  return Status::InvalidArgument("The partition time extractor of " + library_->path() +
                                 " failed: " + error.text() + ".");
}

}  // namespace sluice::connectors::filesystem
