// `topic-pattern`: a regular expression in Java's syntax that whole topic names match.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sluice::connectors::kafka {

/// Immutable and thread-safe; cheap to copy.
class TopicPattern {
 public:
  /// Fails with kInvalidArgument, naming the option and the place in the pattern.
  static Result<TopicPattern> Compile(std::string_view pattern);
  /// A pattern that gives up (too much backtracking) does not match.
  bool Matches(std::string_view topic) const;

 private:
  struct Code;
  explicit TopicPattern(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  std::shared_ptr<const Code> code_;
};

}  // namespace sluice::connectors::kafka
