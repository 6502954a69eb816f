#include "common/status.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/check.h"

namespace sluice {

void CheckFailed(const char* file, int line, const char* condition, std::string_view message) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, condition,
               static_cast<int>(message.size()), message.data());
  std::fflush(stderr);
  std::abort();
}

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kInvalidArgument:
      return "InvalidArgument";
    case StatusCode::kParseError:
      return "ParseError";
    case StatusCode::kValidation:
      return "Validation";
    case StatusCode::kUnsupported:
      return "Unsupported";
    case StatusCode::kNotFound:
      return "NotFound";
    case StatusCode::kAlreadyExists:
      return "AlreadyExists";
    case StatusCode::kDataError:
      return "DataError";
    case StatusCode::kIoError:
      return "IoError";
    case StatusCode::kUnavailable:
      return "Unavailable";
    case StatusCode::kCancelled:
      return "Cancelled";
    case StatusCode::kCorrupt:
      return "Corrupt";
    case StatusCode::kInternal:
      return "Internal";
  }
  return "Unknown";
}

Status::Status(StatusCode code, std::string message) : rep_(std::make_shared<Rep>()) {
  rep_->code = code;
  rep_->message = std::move(message);
  rep_->retriable = code == StatusCode::kIoError || code == StatusCode::kUnavailable;
}

Status Status::FromErrno(int errno_value, std::string what) {
  std::string message = std::move(what) + ": " + std::strerror(errno_value);
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      return NotFound(std::move(message));
    case EEXIST:
      return AlreadyExists(std::move(message));
    case EACCES:
    case EPERM:
    case EROFS:
    case EFBIG:
    case ENAMETOOLONG:
    case ELOOP:
    case EILSEQ:
      return Status(StatusCode::kIoError, std::move(message)).Retriable(false);
    default:
      return IoError(std::move(message));
  }
}

ErrorDomain Status::domain() const {
  switch (code()) {
    case StatusCode::kIoError:
    case StatusCode::kUnavailable:
      return ErrorDomain::kExternal;
    case StatusCode::kCorrupt:
    case StatusCode::kInternal:
      return ErrorDomain::kInternal;
    default:
      return ErrorDomain::kUser;
  }
}

const std::string& Status::message() const {
  static const std::string kEmpty;
  return rep_ ? rep_->message : kEmpty;
}

const std::vector<std::string>& Status::context() const {
  static const std::vector<std::string> kEmpty;
  return rep_ ? rep_->context : kEmpty;
}

Status::Rep& Status::Mutable() {
  if (rep_.use_count() > 1) rep_ = std::make_shared<Rep>(*rep_);
  return *rep_;
}

Status Status::At(SourcePosition position) && {
  if (rep_) Mutable().position = position;
  return std::move(*this);
}

Status Status::Retriable(bool retriable) && {
  if (rep_) Mutable().retriable = retriable;
  return std::move(*this);
}

Status Status::WithContext(std::string context) && {
  if (rep_) Mutable().context.push_back(std::move(context));
  return std::move(*this);
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  std::string text;
  for (auto it = rep_->context.rbegin(); it != rep_->context.rend(); ++it) text += *it + "\n";
  if (rep_->position.known()) {
    text += "Line " + std::to_string(rep_->position.line) + ", column " +
            std::to_string(rep_->position.column) + ": ";
  }
  return text + rep_->message;
}

}  // namespace sluice
