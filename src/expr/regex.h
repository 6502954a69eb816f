// Regular expressions of Java's syntax on PCRE2 with its just-in-time compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;

namespace sluice::expr {

/// A compiled pattern with the scratch memory of one thread. Get() keeps the last patterns of each
/// thread.
class Regex {
 public:
  /// The pattern from this thread's cache, compiled when it is not there; null when it is not a
  /// regular expression, with the reason in
  /// `*error` (may be null). Valid until this thread has asked for 64 others.
  static Regex* Get(std::string_view pattern, std::string* error = nullptr);

  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;
  ~Regex();

  /// Finds the first match at or after byte `from`; false when there is none. Fails with kDataError
  /// when the pattern needs too many steps on this text.
  Result<bool> Find(std::string_view text, size_t from);
  /// Group `index` of the last match (0 is all of it): begin and end, nullopt when it took no part
  /// or does not exist.
  std::optional<std::pair<size_t, size_t>> Group(int64_t index) const;
  int group_count() const { return group_count_; }

 private:
  Regex(pcre2_real_code_8* code, std::string pattern);

  pcre2_real_code_8* code_;
  pcre2_real_match_data_8* match_;
  std::string pattern_;
  int group_count_ = 0;
};

}  // namespace sluice::expr
