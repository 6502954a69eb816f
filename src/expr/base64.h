// Base64 with padding, as java.util.Base64's basic coder.
#pragma once

#include <string>
#include <string_view>

namespace sluice::expr {

void AppendBase64(std::string_view bytes, std::string* out);
/// False when the text is not Base64.
bool AppendFromBase64(std::string_view text, std::string* out);

}  // namespace sluice::expr
