#include "formats/csv/csv_quoting.h"

#include <algorithm>

#include "common/text.h"
#include "formats/text/byte_order_mark.h"
#include "formats/text/swar.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::formats::csv {
namespace {

/// Jackson looks for special characters in texts of up to 24 UTF-16 units only and quotes longer
/// ones unseen.
constexpr size_t kMaxCheckedUnits = 24;
constexpr std::string_view kTemporalCharacters = "0123456789-:.TZ ";
// Of numbers, NaN, Infinity, true and false.
constexpr std::string_view kNumberCharacters = "0123456789+-.ENaInfityrules";

uint32_t FirstCodePoint(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
  };
  if (byte(0) < 0x80) return byte(0);
  if (text.size() == 2) return (byte(0) & 31) << 6 | (byte(1) & 63);
  if (text.size() == 3) return (byte(0) & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63);
  return (byte(0) & 7) << 18 | (byte(1) & 63) << 12 | (byte(2) & 63) << 6 | (byte(3) & 63);
}

size_t SequenceSize(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// True when all characters are ASCII: one unit a byte. For eight bytes and more.
bool IsAscii(std::string_view text) {
  uint64_t bytes = text::LoadWord(text.data() + text.size() - 8);
  for (size_t i = 0; i + 8 <= text.size(); i += 8) bytes |= text::LoadWord(text.data() + i);
  return (bytes & 0x8080808080808080) == 0;
}

/// UTF-16 units: one a character, two beyond the basic plane.
size_t CountUnits(std::string_view text) {
  size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) units += byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

/// Texts of more UTF-16 units than are looked at: a unit has three bytes at most.
bool IsLong(std::string_view text) {
  if (text.size() <= kMaxCheckedUnits) return false;
  return text.size() > 3 * kMaxCheckedUnits || IsAscii(text) || CountUnits(text) > kMaxCheckedUnits;
}

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kTops = 0x8080808080808080;

/// At the start of a file such a text would be cut off as a byte order mark.
bool BeginsWithMark(std::string_view text) { return text::ByteOrderMarkBytes(text) > 0; }

}  // namespace

bool LooksLikeComment(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first != std::string_view::npos && text[first] == '#';
}

CsvQuoting::CsvQuoting(const CsvOptions& options)
    : options_(options),
      quoting_(options.quoting),
      quote_(options.quote),
      escape_(options.escaping ? options.escape : '\\'),
      doubled_(options.escaping ? options.escape : options.quote) {
  threshold_ =
      std::max({FirstCodePoint(options.field_delimiter),
                static_cast<uint32_t>(static_cast<unsigned char>(quote_)), uint32_t{'\r'}}) +
      1;
  const bool special = kTemporalCharacters.find(quote_) != std::string_view::npos ||
                       kTemporalCharacters.find(escape_) != std::string_view::npos;
  // A NULL literal that looks like a time would have to be compared with each.
  const bool literal = options.null_literal.has_value() && !options.null_literal->empty() &&
                       text::IsDigit(options.null_literal->front());
  quotes_blank_only_ = quoting_ && !special && !literal && threshold_ > ' ';
  plain_temporal_ = quoting_ && !special && !literal && threshold_ <= '-';
  const std::string null_text = options.null_literal.value_or("");
  std::string marks = options.field_delimiter;
  if (quoting_) marks += quote_;
  if (options.escaping) marks += escape_;
  plain_numbers_ =
      marks.find_first_of(kNumberCharacters) == std::string::npos &&
      (null_text.empty() || null_text.find_first_not_of(kNumberCharacters) != std::string::npos);
}

bool CsvQuoting::HasSpecial(std::string_view text) const {
  if (threshold_ > 128) return HasSpecialWide(text);
  const char* p = text.data();
  const size_t size = text.size();
  const uint64_t below = kOnes * threshold_;
  const uint64_t escapes = kOnes * static_cast<unsigned char>(escape_);
  const auto special = [&](uint64_t word) {
    const uint64_t no_escape = word ^ escapes;
    return (((word - below) & ~word) | ((no_escape - kOnes) & ~no_escape)) & kTops;
  };
  if (size >= 8) {
    uint64_t found = special(text::LoadWord(p + size - 8));
    for (size_t i = 0; i + 8 <= size; i += 8) found |= special(text::LoadWord(p + i));
    return found != 0;
  }
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(p[i]);
    if (byte < threshold_ || p[i] == escape_) return true;
  }
  return false;
}

#if defined(__SSE2__)

CsvQuoting::Found CsvQuoting::Look(std::string_view text, bool readable) const {
  const __m128i below = _mm_set1_epi8(static_cast<char>(threshold_ - 1));
  const __m128i escapes = _mm_set1_epi8(escape_);
  const __m128i quotes = _mm_set1_epi8(quote_);
  const __m128i doubled = _mm_set1_epi8(doubled_);
  int found_special = 0;
  int found_doubled = 0;
  const auto look = [&](const char* at, int mask) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i special = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(bytes, below), bytes),
                                         _mm_cmpeq_epi8(bytes, escapes));
    const __m128i twice =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, doubled));
    found_special |= _mm_movemask_epi8(special) & mask;
    found_doubled |= _mm_movemask_epi8(twice) & mask;
  };
  const size_t size = text.size();
  if (size >= 16) {
    for (size_t i = 0; i + 16 <= size; i += 16) look(text.data() + i, 0xFFFF);
    look(text.data() + size - 16, 0xFFFF);
  } else {
    char copy[16] = {};
    if (!readable) text::CopyShort(text.data(), size, copy);
    look(readable ? text.data() : copy, (1 << size) - 1);
  }
  return {found_special != 0, found_doubled != 0};
}

#else

CsvQuoting::Found CsvQuoting::Look(std::string_view text, bool) const {
  return {HasSpecial(text), text.find(quote_) != std::string_view::npos ||
                                text.find(doubled_) != std::string_view::npos};
}

#endif

CsvQuoting::Form CsvQuoting::FormOf(std::string_view text, bool readable, bool first_field) const {
  if (!quoting_ || threshold_ > 128) return Form::kOther;
  if (first_field && (options_.allow_comments || BeginsWithMark(text))) return Form::kOther;
  const Found found = Look(text, readable);
  if (found.doubled) return Form::kOther;
  const bool quoted = found.special || IsLong(text) || IsNullLiteral(text);
  return quoted ? Form::kQuoted : Form::kBare;
}

/// For delimiters beyond ASCII, where whole characters are compared.
bool CsvQuoting::HasSpecialWide(std::string_view text) const {
  while (!text.empty()) {
    const size_t size = std::min(SequenceSize(text.front()), text.size());
    if (FirstCodePoint(text.substr(0, size)) < threshold_ || text.front() == escape_) return true;
    text.remove_prefix(size);
  }
  return false;
}

bool CsvQuoting::Needed(std::string_view text) const {
  if (!quoting_) return false;
  return IsLong(text) || HasSpecial(text) || IsNullLiteral(text);
}

bool CsvQuoting::MisreadBare(std::string_view number) const {
  return IsNullLiteral(number) || number.find(options_.field_delimiter) != std::string_view::npos ||
         (quoting_ && number.find(quote_) != std::string_view::npos) ||
         (options_.escaping && number.find(escape_) != std::string_view::npos);
}

Status CsvQuoting::CheckUnquoted(std::string_view text, const char* skipped) const {
  const bool splits = text.find(options_.field_delimiter) != std::string_view::npos ||
                      text.find_first_of("\r\n") != std::string_view::npos;
  const bool escapes = options_.escaping && text.find(options_.escape) != std::string_view::npos;
  const bool null = !text.empty() && IsNullLiteral(text);
  if (!splits && !escapes && !null && skipped == nullptr) return {};
  const char* what = splits    ? "contains the field delimiter or a line end"
                     : escapes ? "contains the escape character"
                     : null    ? "is the null literal"
                               : skipped;
  return Status::DataError("The text \"" + Printable(text) + "\" " + what +
                           " and could not be read back without quotes. Remove '" +
                           options_.prefix + "disable-quote-character'.");
}

/// Doubles quotes and, where one is configured, escape characters.
char* CsvQuoting::CopyQuoted(std::string_view text, char quote, char escape, char* out) {
  const char* p = text.data();
  const char* end = p + text.size();
  const uint64_t quotes = kOnes * static_cast<unsigned char>(quote);
  const uint64_t escapes = kOnes * static_cast<unsigned char>(escape);
  while (p < end) {
    while (end - p >= 8) {  // Eight ordinary characters at a time.
      const uint64_t word = text::LoadWord(p);
      const uint64_t no_quote = word ^ quotes;
      const uint64_t no_escape = word ^ escapes;
      if (((((no_quote - kOnes) & ~no_quote) | ((no_escape - kOnes) & ~no_escape)) & kTops) != 0)
        break;
      std::memcpy(out, p, 8);
      out += 8;
      p += 8;
    }
    const char* stop = end - p >= 8 ? p + 8 : end;
    for (; p < stop; ++p) {
      if (*p == quote || *p == escape) *out++ = *p;
      *out++ = *p;
    }
  }
  return out;
}

Status CsvQuoting::Write(std::string_view text, bool first_field, text::OutputBuffer* out) const {
  const bool comment = first_field && options_.allow_comments && LooksLikeComment(text);
  const bool mark = first_field && BeginsWithMark(text);
  if (Needed(text) || (quoting_ && (comment || mark))) {
    char* to = out->Room(text.size() * 2 + 2);
    *to++ = quote_;
    to = CopyQuoted(text, quote_, doubled_, to);
    *to++ = quote_;
    out->SetEnd(to);
    return {};
  }
  if (!quoting_) {
    const char* const skipped = comment ? "begins with #" : mark ? "begins with U+FEFF" : nullptr;
    SLUICE_RETURN_NOT_OK(CheckUnquoted(text, skipped));
  }
  char* to = out->Room(text.size());
  text::CopyShort(text.data(), text.size(), to);
  out->SetEnd(to + text.size());
  return {};
}

}  // namespace sluice::formats::csv
