// 'source.path.regex-pattern': a Java-like regular expression that must match a whole path.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sluice::connectors::filesystem {

/// Immutable; thread-safe.
class PathPattern {
 public:
  /// Fails with kInvalidArgument naming the option, the position and what is wrong there.
  static Result<PathPattern> Make(std::string_view text);
  /// True when the pattern matches the entire path (without scheme).
  bool Matches(std::string_view path) const;

 private:
  explicit PathPattern(std::shared_ptr<void> code) : code_(std::move(code)) {}
  std::shared_ptr<void> code_;  // pcre2_code.
};

}  // namespace sluice::connectors::filesystem
