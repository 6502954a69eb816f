// PARSE_URL, URL_ENCODE, URL_DECODE.
#include <algorithm>

#include "common/text.h"
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"

namespace sluice::expr {

namespace {

/// The parts of "protocol://user@host:port/path?query#ref" as java.net.URL sees them.
struct Url {
  std::string_view protocol;
  std::string_view authority;
  std::string_view user_info;
  std::string_view host;
  std::string_view path;
  std::string_view query;
  std::string_view reference;
  bool has_user_info = false;
  bool has_query = false;
  bool has_reference = false;
};

bool IsKnownProtocol(std::string_view protocol) {
  for (const std::string_view known : {"http", "https", "ftp", "file", "jar", "mailto"}) {
    if (EqualsIgnoreCaseAscii(protocol, known)) return true;
  }
  return false;
}

bool ParseUrl(std::string_view text, Url* url) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || !IsKnownProtocol(text.substr(0, colon))) return false;
  url->protocol = text.substr(0, colon);
  std::string_view rest = text.substr(colon + 1);
  if (const size_t mark = rest.find('#'); mark != std::string_view::npos) {
    url->reference = rest.substr(mark + 1);
    url->has_reference = true;
    rest = rest.substr(0, mark);
  }
  if (const size_t mark = rest.find('?'); mark != std::string_view::npos) {
    url->query = rest.substr(mark + 1);
    url->has_query = true;
    rest = rest.substr(0, mark);
  }
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const size_t slash = std::min(rest.find('/'), rest.size());
    url->authority = rest.substr(0, slash);
    rest = rest.substr(slash);
    url->host = url->authority;
    if (const size_t at = url->authority.rfind('@'); at != std::string_view::npos) {
      url->user_info = url->authority.substr(0, at);
      url->has_user_info = true;
      url->host = url->authority.substr(at + 1);
    }
    const size_t port = url->host.starts_with('[') ? url->host.find("]:") : url->host.rfind(':');
    if (port != std::string_view::npos) {
      url->host = url->host.substr(0, url->host[port] == ']' ? port + 1 : port);
    }
  }
  url->path = rest;
  return true;
}

/// The value of `key` in "a=1&b=2".
std::optional<std::string_view> QueryValue(std::string_view query, std::string_view key) {
  for (const std::string_view pair : Split(query, '&')) {
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == key) {
      return pair.substr(equals + 1);
    }
  }
  return std::nullopt;
}

std::optional<std::string> UrlPart(std::string_view text, std::string_view part) {
  Url url;
  if (!ParseUrl(text, &url)) return std::nullopt;
  const auto given = [](bool present, std::string_view value) {
    return present ? std::optional<std::string>(value) : std::nullopt;
  };
  if (part == "HOST") return std::string(url.host);
  if (part == "PATH") return std::string(url.path);
  if (part == "QUERY") return given(url.has_query, url.query);
  if (part == "REF") return given(url.has_reference, url.reference);
  if (part == "PROTOCOL") return std::string(url.protocol);
  if (part == "AUTHORITY") return std::string(url.authority);
  if (part == "USERINFO") return given(url.has_user_info, url.user_info);
  if (part == "FILE") {
    return std::string(url.path) + (url.has_query ? "?" + std::string(url.query) : "");
  }
  return std::nullopt;
}

Result<ArrayPtr> ParseUrlKernel(const KernelCall& call) {
  const TextOperand urls(call.arguments[0]);
  const TextOperand parts(call.arguments[1]);
  if (call.arguments.size() == 2) {
    return MapText(
        call, urls.byte_count(),
        [](TextBuilder& out, std::string_view url, std::string_view part) {
          const std::optional<std::string> value = UrlPart(url, part);
          if (value) out.Append(*value);
          return value.has_value();
        },
        urls, parts);
  }
  return MapText(
      call, urls.byte_count(),
      [](TextBuilder& out, std::string_view url, std::string_view part, std::string_view key) {
        if (part != "QUERY") return false;
        const std::optional<std::string> query = UrlPart(url, "QUERY");
        const auto value = query ? QueryValue(*query, key) : std::nullopt;
        if (value) out.Append(*value);
        return value.has_value();
      },
      urls, parts, TextOperand(call.arguments[2]));
}

/// application/x-www-form-urlencoded, as java.net.URLEncoder.
Result<ArrayPtr> EncodeKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count() * 2,
      [](TextBuilder& out, std::string_view text) {
        constexpr char kDigits[] = "0123456789ABCDEF";
        for (const char c : text) {
          const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '*' || c == '_';
          if (plain) {
            out.Append(c);
          } else if (c == ' ') {
            out.Append('+');
          } else {
            out.Append('%');
            out.Append(kDigits[static_cast<unsigned char>(c) >> 4]);
            out.Append(kDigits[static_cast<unsigned char>(c) & 15]);
          }
        }
      },
      input);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 32);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

Result<ArrayPtr> DecodeKernel(const KernelCall& call) {
  const TextOperand input(call.arguments[0]);
  return MapText(
      call, input.byte_count(),
      [](TextBuilder& out, std::string_view text) {
        for (size_t at = 0; at < text.size(); ++at) {
          if (text[at] == '+') {
            out.Append(' ');
          } else if (text[at] == '%') {
            const int high = at + 2 < text.size() ? HexDigit(text[at + 1]) : -1;
            const int low = at + 2 < text.size() ? HexDigit(text[at + 2]) : -1;
            if (high < 0 || low < 0) return false;
            out.Append(static_cast<char>(high << 4 | low));
            at += 2;
          } else {
            out.Append(text[at]);
          }
        }
        return IsValidUtf8(out.current());
      },
      input);
}

}  // namespace

std::span<const ScalarFunction> UrlFunctions() {
  constexpr std::string_view kGroup = "string";
  using A = Accept;
  const SqlType text = SqlType::String();
  static const ScalarFunction kFunctions[] = {
      {.name = "PARSE_URL",
       .group = kGroup,
       .signatures = {{{A::kText, A::kText}, text}, {{A::kText, A::kText, A::kText}, text}},
       .nulls = Nulls::kAlways,
       .kernel = &ParseUrlKernel,
       .doc = {"PARSE_URL(url, part[, key])",
               "A part of a URL: HOST, PATH, QUERY, REF, PROTOCOL, AUTHORITY, FILE or USERINFO.",
               "PARSE_URL('http://h/p?q=1#f', 'QUERY', 'q') => '1'"}},
      {.name = "URL_ENCODE",
       .group = kGroup,
       .signatures = {{{A::kText}, text}},
       .nulls = Nulls::kAlways,
       .kernel = &EncodeKernel,
       .doc = {"URL_ENCODE(s)", "Text as it stands in a URL's query.",
               "URL_ENCODE('a b&c') => 'a+b%26c'"}},
      {.name = "URL_DECODE",
       .group = kGroup,
       .signatures = {{{A::kText}, text}},
       .nulls = Nulls::kAlways,
       .kernel = &DecodeKernel,
       .doc = {"URL_DECODE(s)", "The text of a URL's query, NULL when it is malformed.",
               "URL_DECODE('a+b%26c') => 'a b&c'"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
