#include "connectors/kafka/topic_pattern.h"

#include <pcre2.h>

namespace sluice::connectors::kafka {

struct TopicPattern::Code {
  explicit Code(pcre2_code* compiled) : code(compiled) {}
  ~Code() { pcre2_code_free(code); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  pcre2_code* const code;
};

Result<TopicPattern> TopicPattern::Compile(std::string_view pattern) {
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                    PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED, &error, &at, nullptr);
  if (code == nullptr) {
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(error, text, sizeof(text));
    return Status::InvalidArgument(
        "Option 'topic-pattern' = '" + std::string(pattern) + "' is no regular expression: " +
        reinterpret_cast<const char*>(text) + " at character " + std::to_string(at + 1) + ".");
  }
  return TopicPattern(std::make_shared<const Code>(code));
}

bool TopicPattern::Matches(std::string_view topic) const {
  pcre2_match_data* match = pcre2_match_data_create_from_pattern(code_->code, nullptr);
  const int result = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(topic.data()),
                                 topic.size(), 0, 0, match, nullptr);
  pcre2_match_data_free(match);
  return result >= 0;
}

}  // namespace sluice::connectors::kafka
