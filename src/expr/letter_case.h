// Upper and lower case of Unicode text, as Java's toUpperCase and toLowerCase with the root locale.
#pragma once

#include <string>
#include <string_view>

namespace sluice::expr {

void AppendUpper(std::string_view text, std::string* out);
void AppendLower(std::string_view text, std::string* out);
bool IsLetter(char32_t code);
bool IsDigitCodePoint(char32_t code);

}  // namespace sluice::expr
