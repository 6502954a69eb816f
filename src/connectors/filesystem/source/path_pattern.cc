#include "connectors/filesystem/source/path_pattern.h"

#include <pcre2.h>

namespace sluice::connectors::filesystem {

Result<PathPattern> PathPattern::Make(std::string_view text) {
  int error = 0;
  size_t offset = 0;
  pcre2_code* const code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                    PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_MATCH_INVALID_UTF,
                    &error, &offset, nullptr);
  if (code == nullptr) {
    PCRE2_UCHAR message[256];
    pcre2_get_error_message(error, message, sizeof(message));
    return Status::InvalidArgument(
        "Invalid value for option 'source.path.regex-pattern': '" + std::string(text) +
        "' is no regular expression: " + reinterpret_cast<const char*>(message) + " at character " +
        std::to_string(offset + 1) + ".");
  }
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // Without it matching is slower, not wrong.
  return PathPattern(std::shared_ptr<void>(
      code, [](void* pointer) { pcre2_code_free(static_cast<pcre2_code*>(pointer)); }));
}

bool PathPattern::Matches(std::string_view path) const {
  auto* const code = static_cast<pcre2_code*>(code_.get());
  pcre2_match_data* const data = pcre2_match_data_create_from_pattern(code, nullptr);
  const int result = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(path.data()), path.size(), 0, 0,
                                 data, nullptr);
  pcre2_match_data_free(data);
  return result >= 0;
}

}  // namespace sluice::connectors::filesystem
