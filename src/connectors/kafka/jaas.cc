#include "connectors/kafka/jaas.h"

#include <cctype>
#include <optional>

#include "common/text.h"

namespace sluice::connectors::kafka {
namespace {

Status Malformed(std::string_view why) {
  return Status::InvalidArgument(
      "Option 'properties.sasl.jaas.config' cannot be read: " + std::string(why) +
      ". It has the form: org.apache.kafka.common.security.plain.PlainLoginModule required "
      "username=\"…\" password=\"…\";");
}

class JaasScanner {
 public:
  explicit JaasScanner(std::string_view text) : text_(text) {}

  void SkipBlanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool AtEnd() {
    SkipBlanks();
    return at_ >= text_.size();
  }
  bool Take(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// A bare word, or a text in quotes with backslash escapes. Nullopt: nothing there, or a quote is
  /// open.
  std::optional<std::string> Word() {
    SkipBlanks();
    if (at_ >= text_.size()) return std::nullopt;
    std::string word;
    const char quote = text_[at_];
    if (quote != '"' && quote != '\'') {
      while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) &&
             text_[at_] != '=' && text_[at_] != ';') {
        word += text_[at_++];
      }
      if (word.empty()) return std::nullopt;
      return word;
    }
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return word;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      word += text_[at_];
    }
    return std::nullopt;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string_view JaasEntry::module_name() const {
  const size_t dot = module.rfind('.');
  return dot == std::string::npos ? std::string_view(module)
                                  : std::string_view(module).substr(dot + 1);
}

Result<JaasEntry> ParseJaasConfig(std::string_view text) {
  JaasScanner scanner(text);
  JaasEntry entry;
  const std::optional<std::string> module = scanner.Word();
  if (!module) return Malformed("the login module's class is missing");
  entry.module = *module;
  const std::optional<std::string> flag = scanner.Word();
  const std::string lower = ToLowerAscii(flag.value_or(""));
  if (lower != "required" && lower != "requisite" && lower != "sufficient" && lower != "optional") {
    return Malformed("'required' must follow the login module's class");
  }
  while (!scanner.Take(';')) {
    if (scanner.AtEnd()) return Malformed("the final ';' is missing");
    const std::optional<std::string> name = scanner.Word();
    if (!name) return Malformed("an option's name is missing");
    if (!scanner.Take('=')) return Malformed("'=' must follow the option '" + *name + "'");
    const std::optional<std::string> value = scanner.Word();
    if (!value)
      return Malformed("the value of '" + *name + "' is missing or its quotes do not close");
    entry.options[*name] = *value;
  }
  if (!scanner.AtEnd()) return Malformed("there is text behind the final ';'");
  return entry;
}

}  // namespace sluice::connectors::kafka
