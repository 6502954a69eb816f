// Codes of text: ASCII, CHR, HEX, BIN, BASE64, character sets, PRINTF, INET.
#include <charconv>
#include <cmath>

#include <arrow/api.h>

#include "common/base64.h"
#include "common/text.h"
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/signature.h"
#include "expr/utf8.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

Result<ArrayPtr> AsciiKernel(const KernelCall& call) {
  return MapValues<int32_t>(
      call,
      [](std::string_view text) {
        return text.empty() ? 0 : static_cast<int32_t>(static_cast<signed char>(text[0]));
      },
      TextOperand(call.arguments[0]));
}

Result<ArrayPtr> ChrKernel(const KernelCall& call) {
  return MapText(
      call, call.row_count,
      [](TextBuilder& out, int64_t code) {
        if (code < 0) return;
        char bytes[4];
        const int length =
            utf8::Encode(static_cast<char32_t>(code > 255 ? code % 255 : code), bytes);
        out.Append(std::string_view(bytes, static_cast<size_t>(length)));
      },
      NumberOperand<int64_t>(call.arguments[0]));
}

Result<ArrayPtr> BinKernel(const KernelCall& call) {
  return MapText(
      call, call.row_count * 8,
      [](TextBuilder& out, int64_t value) {
        char* at = out.Reserve(64);
        out.Advance(std::to_chars(at, at + 64, static_cast<uint64_t>(value), 2).ptr);
      },
      NumberOperand<int64_t>(call.arguments[0]));
}

constexpr char kHexDigits[] = "0123456789ABCDEF";

void AppendHex(std::string_view bytes, TextBuilder& out) {
  char* at = out.Reserve(static_cast<int64_t>(bytes.size()) * 2);
  for (const char c : bytes) {
    *at++ = kHexDigits[static_cast<unsigned char>(c) >> 4];
    *at++ = kHexDigits[static_cast<unsigned char>(c) & 15];
  }
  out.Advance(at);
}

Result<ArrayPtr> HexKernel(const KernelCall& call) {
  if (!call.arguments[0].type->is_integer()) {
    const TextOperand input(call.arguments[0]);
    return MapText(
        call, input.byte_count() * 2,
        [](TextBuilder& out, std::string_view bytes) { AppendHex(bytes, out); }, input);
  }
  return MapText(
      call, call.row_count * 8,
      [](TextBuilder& out, int64_t value) {
        char digits[16];
        int count = 0;
        auto rest = static_cast<uint64_t>(value);
        do {
          digits[count++] = kHexDigits[rest & 15];
          rest >>= 4;
        } while (rest != 0);
        while (count > 0) out.Append(digits[--count]);
      },
      NumberOperand<int64_t>(call.arguments[0]));
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 32);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

Result<ArrayPtr> UnhexKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count() / 2,
      [](TextBuilder& out, std::string_view text) {
        size_t at = 0;
        if (text.size() % 2 == 1) {  // An odd number: the first digit is a byte of its own.
          const int value = HexValue(text[0]);
          if (value < 0) return false;
          out.Append(static_cast<char>(value));
          at = 1;
        }
        for (; at < text.size(); at += 2) {
          const int high = HexValue(text[at]);
          const int low = HexValue(text[at + 1]);
          if (high < 0 || low < 0) return false;
          out.Append(static_cast<char>(high << 4 | low));
        }
        return true;
      },
      input);
}

Result<ArrayPtr> ToBase64Kernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  std::string scratch;
  return MapText(
      call, input.byte_count() * 4 / 3,
      [&](TextBuilder& out, std::string_view bytes) {
        scratch.clear();
        AppendBase64(bytes, &scratch);
        out.Append(scratch);
      },
      input);
}

Result<ArrayPtr> FromBase64Kernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  std::string scratch;
  return MapText(
      call, input.byte_count(),
      [&](TextBuilder& out, std::string_view text) -> Status {
        scratch.clear();
        if (!AppendFromBase64(text, &scratch)) {
          return Status::DataError("'" + Printable(text) + "' is not Base64");
        }
        if (IsValidUtf8(scratch)) {
          out.Append(scratch);
        } else {
          for (const char c : scratch) {  // The result is text: bytes that are not become U+FFFD.
            static_cast<unsigned char>(c) < 0x80 ? out.Append(c) : out.Append("\uFFFD");
          }
        }
        return {};
      },
      input);
}

enum class CharacterSet { kAscii, kLatin1, kUtf8, kUtf16, kUtf16Be, kUtf16Le, kUnknown };

CharacterSet FindCharacterSet(std::string_view name) {
  const std::string upper = ToUpperAscii(name);
  if (upper == "UTF-8" || upper == "UTF8") return CharacterSet::kUtf8;
  if (upper == "US-ASCII" || upper == "ASCII") return CharacterSet::kAscii;
  if (upper == "ISO-8859-1" || upper == "LATIN1") return CharacterSet::kLatin1;
  if (upper == "UTF-16") return CharacterSet::kUtf16;
  if (upper == "UTF-16BE") return CharacterSet::kUtf16Be;
  if (upper == "UTF-16LE") return CharacterSet::kUtf16Le;
  return CharacterSet::kUnknown;
}

Status UnknownCharacterSet(std::string_view name) {
  return Status::DataError(
      "Unsupported encoding: '" + Printable(name) +
      "'. Known are US-ASCII, ISO-8859-1, UTF-8, UTF-16, UTF-16BE and UTF-16LE.");
}

void AppendUnit(uint32_t unit, bool little, TextBuilder& out) {
  const char high = static_cast<char>(unit >> 8);
  const char low = static_cast<char>(unit & 0xFF);
  out.Append(little ? low : high);
  out.Append(little ? high : low);
}

Status Encode(std::string_view text, std::string_view name, TextBuilder& out) {
  const CharacterSet set = FindCharacterSet(name);
  if (set == CharacterSet::kUnknown) return UnknownCharacterSet(name);
  if (set == CharacterSet::kUtf8) {
    out.Append(text);
    return {};
  }
  if (set == CharacterSet::kUtf16) out.Append(std::string_view("\xFE\xFF", 2));
  const bool little = set == CharacterSet::kUtf16Le;
  for (size_t at = 0; at < text.size();) {
    const char32_t code = utf8::Decode(text, &at);
    if (set == CharacterSet::kAscii || set == CharacterSet::kLatin1) {
      out.Append(code < (set == CharacterSet::kAscii ? 0x80u : 0x100u) ? static_cast<char>(code)
                                                                       : '?');
    } else if (code < 0x10000) {
      AppendUnit(code, little, out);
    } else {
      AppendUnit(0xD800 + ((code - 0x10000) >> 10), little, out);
      AppendUnit(0xDC00 + ((code - 0x10000) & 0x3FF), little, out);
    }
  }
  return {};
}

void AppendCode(char32_t code, TextBuilder& out) {
  char bytes[4];
  out.Append(std::string_view(bytes, static_cast<size_t>(utf8::Encode(code, bytes))));
}

void DecodeUtf16(std::string_view bytes, bool little, TextBuilder& out) {
  const auto unit = [&](size_t at) -> uint32_t {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    return little ? first | second << 8 : first << 8 | second;
  };
  for (size_t at = 0; at + 1 < bytes.size(); at += 2) {
    char32_t code = unit(at);
    if (code >= 0xD800 && code < 0xDC00 && at + 3 < bytes.size()) {
      const uint32_t low = unit(at + 2);
      if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        at += 2;
      }
    }
    AppendCode(code >= 0xD800 && code < 0xE000 ? 0xFFFD : code, out);
  }
}

Status Decode(std::string_view bytes, std::string_view name, TextBuilder& out) {
  const CharacterSet set = FindCharacterSet(name);
  switch (set) {
    case CharacterSet::kUnknown:
      return UnknownCharacterSet(name);
    case CharacterSet::kUtf8:
      if (IsValidUtf8(bytes)) {
        out.Append(bytes);
        return {};
      }
      for (size_t at = 0; at < bytes.size();) AppendCode(utf8::Decode(bytes, &at), out);
      return {};
    case CharacterSet::kAscii:
    case CharacterSet::kLatin1:
      for (const char c : bytes) {
        const auto code = static_cast<unsigned char>(c);
        AppendCode(set == CharacterSet::kAscii && code >= 0x80 ? 0xFFFD : code, out);
      }
      return {};
    default: {
      bool little = set == CharacterSet::kUtf16Le;
      if (set == CharacterSet::kUtf16 && bytes.size() >= 2) {
        const bool big_mark = bytes.starts_with("\xFE\xFF");
        little = bytes.starts_with("\xFF\xFE");
        if (big_mark || little) bytes.remove_prefix(2);
      }
      DecodeUtf16(bytes, little, out);
      return {};
    }
  }
}

Result<ArrayPtr> EncodeKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count(),
      [](TextBuilder& out, std::string_view text, std::string_view set) {
        return Encode(text, set, out);
      },
      input, TextOperand(call.arguments[1]));
}

Result<ArrayPtr> DecodeKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count(),
      [](TextBuilder& out, std::string_view bytes, std::string_view set) {
        return Decode(bytes, set, out);
      },
      input, TextOperand(call.arguments[1]));
}

Result<ArrayPtr> InetAtonKernel(const KernelCall& call) {
  return MapValues<int64_t>(
      call,
      [](std::string_view text) -> std::optional<int64_t> {
        const std::vector<std::string_view> parts = Split(text, '.');
        if (parts.size() > 4) return std::nullopt;
        int64_t address = 0;
        for (size_t i = 0; i < parts.size(); ++i) {
          const std::optional<int64_t> part = ParseInt64(parts[i]);
          const bool last = i + 1 == parts.size();
          const int64_t limit = last ? int64_t{1} << (8 * (4 - i)) : 256;
          if (!part || *part < 0 || *part >= limit) return std::nullopt;
          address += *part << (last ? 0 : 8 * (3 - i));
        }
        return address;
      },
      TextOperand(call.arguments[0]));
}

Result<ArrayPtr> InetNtoaKernel(const KernelCall& call) {
  return MapText(
      call, call.row_count * 12,
      [](TextBuilder& out, int64_t address) {
        if (address < 0 || address > UINT32_MAX) return false;
        std::string text;
        for (int shift = 24; shift >= 0; shift -= 8) {
          if (shift < 24) text += '.';
          text += std::to_string(address >> shift & 255);
        }
        out.Append(text);
        return true;
      },
      NumberOperand<int64_t>(call.arguments[0]));
}

// ---- PRINTF ----

struct Conversion {
  std::string flags;
  int width = 0;
  int precision = -1;
  char letter = 0;
};

/// Reads "%-5.2f" from behind the '%'; false when it is malformed.
bool ReadConversion(std::string_view format, size_t* at, Conversion* conversion) {
  while (*at < format.size() &&
         std::string_view("-+ 0,#(").find(format[*at]) != std::string_view::npos) {
    conversion->flags += format[(*at)++];
  }
  const auto number = [&](int* value) {
    *value = 0;
    while (*at < format.size() && format[*at] >= '0' && format[*at] <= '9' && *value < 10000) {
      *value = *value * 10 + (format[(*at)++] - '0');
    }
  };
  number(&conversion->width);
  if (*at < format.size() && format[*at] == '.') {
    ++*at;
    number(&conversion->precision);
  }
  if (*at >= format.size()) return false;
  conversion->letter = format[(*at)++];
  return conversion->width < 10000 && conversion->precision < 1000;
}

bool HasFlag(const Conversion& conversion, char flag) {
  return conversion.flags.find(flag) != std::string::npos;
}

std::string Grouped(const std::string& digits) {
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string PrintInteger(int64_t value, const Conversion& conversion) {
  char buffer[80];
  if (conversion.letter != 'd') {
    const int base = conversion.letter == 'o' ? 8 : 16;
    std::string text(
        buffer,
        std::to_chars(buffer, buffer + sizeof(buffer), static_cast<uint64_t>(value), base).ptr);
    return conversion.letter == 'X' ? ToUpperAscii(text) : text;
  }
  const uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::string digits(buffer, std::to_chars(buffer, buffer + sizeof(buffer), size).ptr);
  if (HasFlag(conversion, ',')) digits = Grouped(digits);
  const std::string sign = value < 0                  ? "-"
                           : HasFlag(conversion, '+') ? "+"
                           : HasFlag(conversion, ' ') ? " "
                                                      : "";
  if (HasFlag(conversion, '0')) {
    const size_t used = digits.size() + sign.size();
    if (used < static_cast<size_t>(conversion.width)) {
      digits.insert(0, static_cast<size_t>(conversion.width) - used, '0');
    }
  }
  return sign + digits;
}

std::string PrintReal(double value, const Conversion& conversion) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::string format = "%";
  for (const char flag : conversion.flags) {
    if (flag == '+' || flag == ' ' || flag == '0') format += flag;
  }
  if (HasFlag(conversion, '0')) format += std::to_string(conversion.width);
  format +=
      "." + std::to_string(conversion.precision < 0 ? 6 : conversion.precision) + conversion.letter;
  const int length = std::snprintf(nullptr, 0, format.c_str(), value);
  std::string text(static_cast<size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.pop_back();
  if (HasFlag(conversion, ',') && conversion.letter == 'f') {
    const size_t begin = text[0] == '-' || text[0] == '+' ? 1 : 0;
    const size_t point = std::min(text.find('.'), text.size());
    text = text.substr(0, begin) + Grouped(text.substr(begin, point - begin)) + text.substr(point);
  }
  return text;
}

/// The text of one argument; false when the conversion does not take its type.
bool PrintArgument(const KernelArgument& argument, int64_t row, const Conversion& conversion,
                   const TimeZone& zone, std::string* out) {
  const Operand operand(argument);
  const int64_t index = operand.index(row);
  const SqlType& type = *argument.type;
  if (operand.IsNull(row)) {
    *out = "null";
    return true;
  }
  switch (conversion.letter) {
    case 'd':
    case 'x':
    case 'X':
    case 'o': {
      if (!type.is_integer()) return false;
      std::string text;
      AppendValueText(type, *argument.values, index, zone, &text);
      *out = PrintInteger(*ParseInt64(text), conversion);
      return true;
    }
    case 'f':
    case 'e':
    case 'E':
    case 'g': {
      if (!type.is_approximate() && type.kind() != TypeKind::kDecimal) return false;
      std::string text;
      AppendValueText(type, *argument.values, index, zone, &text);
      double value = 0;
      (void)ParseDoubleText(text, &value);
      *out = PrintReal(value, conversion);
      return true;
    }
    case 's':
    case 'S':
    case 'b': {
      out->clear();
      AppendValueText(type, *argument.values, index, zone, out);
      if (type.kind() == TypeKind::kBoolean) *out = ToLowerAscii(*out);
      if (conversion.precision >= 0)
        *out = out->substr(0, utf8::Offset(*out, conversion.precision));
      if (conversion.letter == 'S') *out = ToUpperAscii(*out);
      return true;
    }
    default:
      return false;
  }
}

/// False (NULL) when the format does not fit the arguments, as in the peer.
bool Print(const KernelCall& call, std::string_view format, int64_t row, std::string* out) {
  size_t next = 1;
  std::string piece;
  for (size_t at = 0; at < format.size();) {
    const char c = format[at++];
    if (c != '%') {
      out->push_back(c);
      continue;
    }
    Conversion conversion;
    if (!ReadConversion(format, &at, &conversion)) return false;
    if (conversion.letter == '%') {
      out->push_back('%');
      continue;
    }
    if (conversion.letter == 'n') {
      out->push_back('\n');
      continue;
    }
    if (next >= call.arguments.size() || !PrintArgument(call.arguments[next++], row, conversion,
                                                        call.context.session_zone, &piece)) {
      return false;
    }
    const auto width = static_cast<int64_t>(conversion.width);
    const int64_t missing = std::max<int64_t>(0, width - utf8::Count(piece));
    if (!HasFlag(conversion, '-')) out->append(static_cast<size_t>(missing), ' ');
    out->append(piece);
    if (HasFlag(conversion, '-')) out->append(static_cast<size_t>(missing), ' ');
  }
  return true;
}

Result<ArrayPtr> PrintfKernel(const KernelCall& call) {
  const TextOperand formats(call.arguments[0]);
  NullMask nulls(call.row_count, call.context.pool);
  nulls.Merge(formats);
  TextBuilder out(call.row_count, call.row_count * 16, call.context.pool);
  std::string scratch;
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (!nulls.IsNull(row)) {
      scratch.clear();
      if (Print(call, formats[row], row, &scratch)) {
        out.Append(scratch);
      } else {
        nulls.SetNull(row);
      }
    }
    out.EndRow();
  }
  return out.Finish(call.result_type.ToArrow(), nulls);
}

}  // namespace

std::span<const ScalarFunction> StringCodeFunctions() {
  constexpr std::string_view kGroup = "string";
  using A = Accept;
  const SqlType text = SqlType::String();
  static const ScalarFunction kFunctions[] = {
      {.name = "ASCII",
       .group = kGroup,
       .signatures = {{{A::kText}, SqlType::Int()}},
       .kernel = &AsciiKernel,
       .doc = {"ASCII(s)", "The first byte as a signed number, 0 for the empty text.",
               "ASCII('A') => 65"}},
      {.name = "CHR",
       .group = kGroup,
       .signatures = {{{A::kInteger}, text}},
       .nulls = Nulls::kAlways,
       .kernel = &ChrKernel,
       .doc = {"CHR(n)", "The character with a code up to 255.", "CHR(65) => 'A'"}},
      {.name = "BIN",
       .group = kGroup,
       .signatures = {{{A::kInteger}, text}},
       .kernel = &BinKernel,
       .doc = {"BIN(n)", "Binary digits.", "BIN(5) => '101'"}},
      {.name = "HEX",
       .group = kGroup,
       .signatures = {{{A::kInteger}, text}, {{A::kBytes}, text}},
       .kernel = &HexKernel,
       .doc = {"HEX(x)", "Hexadecimal digits of an integer or of the bytes of a text.",
               "HEX('hi') => '6869'"}},
      {.name = "UNHEX",
       .group = kGroup,
       .signatures = {{{A::kText}, SqlType::Bytes()}},
       .nulls = Nulls::kAlways,
       .kernel = &UnhexKernel,
       .doc = {"UNHEX(s)", "The bytes of hexadecimal digits.", "UNHEX('6869') => x'6869'"}},
      {.name = "TO_BASE64",
       .group = kGroup,
       .signatures = {{{A::kBytes}, text}},
       .kernel = &ToBase64Kernel,
       .doc = {"TO_BASE64(s)", "Base64 of the bytes.", "TO_BASE64('hello') => 'aGVsbG8='"}},
      {.name = "FROM_BASE64",
       .group = kGroup,
       .signatures = {{{A::kText}, text}},
       .kernel = &FromBase64Kernel,
       .doc = {"FROM_BASE64(s)", "The text that Base64 stands for.",
               "FROM_BASE64('aGVsbG8=') => 'hello'"}},
      {.name = "ENCODE",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, SqlType::Bytes()}},
       .kernel = &EncodeKernel,
       .doc = {"ENCODE(s, charset)", "The bytes of a text in a character set.",
               "ENCODE('a', 'UTF-8') => x'61'"}},
      {.name = "DECODE",
       .group = kGroup,
       .signatures = {{{A::kBinary, A::kText}, text}},
       .kernel = &DecodeKernel,
       .doc = {"DECODE(bytes, charset)", "The text of bytes in a character set.",
               "DECODE(x'61', 'UTF-8') => 'a'"}},
      {.name = "INET_ATON",
       .group = kGroup,
       .signatures = {{{A::kText}, SqlType::Bigint()}},
       .nulls = Nulls::kAlways,
       .kernel = &InetAtonKernel,
       .doc = {"INET_ATON(s)", "An IPv4 address as a number.",
               "INET_ATON('127.0.0.1') => 2130706433"}},
      {.name = "INET_NTOA",
       .group = kGroup,
       .signatures = {{{A::kInteger}, text}},
       .nulls = Nulls::kAlways,
       .kernel = &InetNtoaKernel,
       .doc = {"INET_NTOA(n)", "A number as an IPv4 address.",
               "INET_NTOA(2130706433) => '127.0.0.1'"}},
      {.name = "PRINTF",
       .group = kGroup,
       .signatures = {{{A::kText}, text}, {{A::kText, A::kAny}, text, true}},
       .nulls = Nulls::kAlways,
       .kernel = &PrintfKernel,
       .doc = {"PRINTF(format, x, …)", "Text by a format with %d, %s, %f and the like.",
               "PRINTF('%d-%s', 1, 'a') => '1-a'"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
