// Status: the outcome of an operation that can fail, and where the failure belongs.
//
// A Status carries a code, a domain (whose fault it is), whether a retry can help, a message that
// says what failed, where, why and what to do, and a chain of context lines, outermost first when
// printed. The domain and the retry flag decide what a job does with it: fail the statement,
// restart from the checkpoint with back-off, or stop (docs/decisions/0007).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

enum class StatusCode {
  kOk,
  kInvalidArgument,  // An option, a name or a value that the user wrote is wrong.
  kParseError,       // SQL text that does not follow the grammar.
  kValidation,       // SQL that parses but names, types or rules do not fit.
  kUnsupported,      // Understood, and not offered (yet): the message names the feature.
  kNotFound,
  kAlreadyExists,
  kDataError,    // A row, file or message whose content cannot be used.
  kIoError,      // A file system, disk or network operation failed.
  kUnavailable,  // A service does not answer at the moment.
  kCancelled,
  kCorrupt,   // State of ours that does not check out (checksum, length, version).
  kInternal,  // A mistake of ours.
};

enum class ErrorDomain { kUser, kExternal, kInternal };

/// Position in SQL text, 1-based, counted in characters; zero line means "none".
struct SourcePosition {
  int line = 0;
  int column = 0;
  bool known() const { return line > 0; }
  friend bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

/// Name of `code` as written in logs: "InvalidArgument".
std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // OK.
  Status(StatusCode code, std::string message);

  static Status OK() { return {}; }
  static Status InvalidArgument(std::string message) {
    return {StatusCode::kInvalidArgument, std::move(message)};
  }
  static Status ParseError(std::string message, SourcePosition at) {
    return Status(StatusCode::kParseError, std::move(message)).At(at);
  }
  static Status Validation(std::string message) {
    return {StatusCode::kValidation, std::move(message)};
  }
  static Status Validation(std::string message, SourcePosition at) {
    return Status(StatusCode::kValidation, std::move(message)).At(at);
  }
  static Status Unsupported(std::string message) {
    return {StatusCode::kUnsupported, std::move(message)};
  }
  static Status NotFound(std::string message) {
    return {StatusCode::kNotFound, std::move(message)};
  }
  static Status AlreadyExists(std::string message) {
    return {StatusCode::kAlreadyExists, std::move(message)};
  }
  static Status DataError(std::string message) {
    return {StatusCode::kDataError, std::move(message)};
  }
  static Status IoError(std::string message) { return {StatusCode::kIoError, std::move(message)}; }
  static Status Unavailable(std::string message) {
    return {StatusCode::kUnavailable, std::move(message)};
  }
  static Status Cancelled(std::string message) {
    return {StatusCode::kCancelled, std::move(message)};
  }
  static Status Corrupt(std::string message) { return {StatusCode::kCorrupt, std::move(message)}; }
  static Status Internal(std::string message) {
    return {StatusCode::kInternal, std::move(message)};
  }
  /// An I/O failure from `errno_value`, e.g. "Cannot open /a/b: No such file or directory".
  /// ENOENT becomes kNotFound, EEXIST kAlreadyExists; ENOSPC and the like stay kIoError and can be
  /// retried.
  static Status FromErrno(int errno_value, std::string what);

  bool ok() const { return rep_ == nullptr; }
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  ErrorDomain domain() const;
  /// True when the same operation may succeed later without a change by the user.
  bool retriable() const { return rep_ && rep_->retriable; }
  const std::string& message() const;
  SourcePosition position() const { return rep_ ? rep_->position : SourcePosition{}; }
  /// Context lines, innermost first.
  const std::vector<std::string>& context() const;

  Status At(SourcePosition position) &&;
  Status Retriable(bool retriable = true) &&;
  /// Adds "while doing what" around this error; no effect on OK.
  Status WithContext(std::string context) &&;

  /// Outermost context first, then the message; one line each.
  std::string ToString() const;

 private:
  struct Rep {
    StatusCode code;
    bool retriable = false;
    std::string message;
    SourcePosition position;
    std::vector<std::string> context;
  };
  Rep& Mutable();
  std::shared_ptr<Rep>
      rep_;  // Shared and copied on write: errors are rare, OK costs a null pointer.
};

}  // namespace sluice

#define SLUICE_CONCAT_INNER(a, b) a##b
#define SLUICE_CONCAT(a, b) SLUICE_CONCAT_INNER(a, b)

#define SLUICE_RETURN_NOT_OK(expression)            \
  do {                                              \
    ::sluice::Status sluice_status_ = (expression); \
    if (!sluice_status_.ok()) [[unlikely]]          \
      return sluice_status_;                        \
  } while (false)
