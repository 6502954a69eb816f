#include "expr/regex.h"

#include <list>
#include <unordered_map>

#include <pcre2.h>

#include "common/text.h"

namespace sluice::expr {

namespace {

constexpr size_t kCachedPatterns = 64;
// The default JIT stack of 32 KiB is too small for patterns such as (a|b)* on long texts.
constexpr size_t kJitStackBytes = 1 << 20;

/// Compile and match settings, one set a thread.
struct Settings {
  pcre2_compile_context* compile = pcre2_compile_context_create(nullptr);
  pcre2_match_context* match = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(32 * 1024, kJitStackBytes, nullptr);
  Settings() {
    pcre2_set_newline(compile, PCRE2_NEWLINE_ANY);  // Java's dot stops at every line terminator.
    pcre2_set_match_limit(match, 5000000);
    pcre2_jit_stack_assign(match, nullptr, stack);
  }
  ~Settings() {
    pcre2_compile_context_free(compile);
    pcre2_match_context_free(match);
    pcre2_jit_stack_free(stack);
  }
};

Settings& ThreadSettings() {
  thread_local Settings settings;
  return settings;
}

struct Cache {
  struct Entry {
    std::string pattern;
    std::unique_ptr<Regex> regex;  // Null for a pattern that does not compile.
    std::string error;
  };
  std::list<Entry> entries;  // Most recent first.
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_pattern;
};

}  // namespace

Regex::Regex(pcre2_real_code_8* code, std::string pattern)
    : code_(code),
      match_(pcre2_match_data_create_from_pattern(code, nullptr)),
      pattern_(std::move(pattern)) {
  uint32_t groups = 0;
  pcre2_pattern_info(code_, PCRE2_INFO_CAPTURECOUNT, &groups);
  group_count_ = static_cast<int>(groups);
  // A failure to compile to machine code leaves the interpreter.
  (void)pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);
}

Regex::~Regex() {
  pcre2_match_data_free(match_);
  pcre2_code_free(code_);
}

Regex* Regex::Get(std::string_view pattern, std::string* error) {
  thread_local Cache cache;
  const auto found = cache.by_pattern.find(pattern);
  if (found != cache.by_pattern.end()) {
    if (found->second != cache.entries.begin()) {
      cache.entries.splice(cache.entries.begin(), cache.entries, found->second);
    }
  } else {
    Cache::Entry entry{std::string(pattern), nullptr, {}};
    int code_error = 0;
    size_t at = 0;
    // Invalid UTF-8 in a text never matches instead of being undefined.
    pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                     PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                                     &code_error, &at, ThreadSettings().compile);
    if (code == nullptr) {
      PCRE2_UCHAR message[256];
      pcre2_get_error_message(code_error, message, sizeof(message));
      entry.error =
          std::string(reinterpret_cast<const char*>(message)) + " near index " + std::to_string(at);
    } else {
      entry.regex.reset(new Regex(code, entry.pattern));
    }
    cache.entries.push_front(std::move(entry));
    cache.by_pattern.emplace(cache.entries.front().pattern, cache.entries.begin());
    if (cache.entries.size() > kCachedPatterns) {
      cache.by_pattern.erase(cache.entries.back().pattern);
      cache.entries.pop_back();
    }
  }
  const Cache::Entry& entry = cache.entries.front();
  if (entry.regex == nullptr && error != nullptr) *error = entry.error;
  return entry.regex.get();
}

Result<bool> Regex::Find(std::string_view text, size_t from) {
  const int result = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                 from, 0, match_, ThreadSettings().match);
  if (result >= 0) return true;
  if (result == PCRE2_ERROR_NOMATCH) return false;
  PCRE2_UCHAR message[256];
  pcre2_get_error_message(result, message, sizeof(message));
  return Status::DataError("The regular expression '" + Printable(pattern_) +
                           "' could not be matched with '" + Printable(text) + "': " +
                           reinterpret_cast<const char*>(message) + ". Use a simpler pattern.");
}

std::optional<std::pair<size_t, size_t>> Regex::Group(int64_t index) const {
  if (index < 0 || index > group_count_) return std::nullopt;
  const size_t* bounds = pcre2_get_ovector_pointer(match_);
  const auto i = static_cast<size_t>(index) * 2;
  if (bounds[i] == PCRE2_UNSET) return std::nullopt;
  return std::pair(bounds[i], bounds[i + 1]);
}

}  // namespace sluice::expr
