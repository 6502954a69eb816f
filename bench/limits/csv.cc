// What a CSV file of the set `orders` costs at least: limit_csv FILE...
//
// "csv scan" finds commas and line ends, 32 bytes a step; "csv scan + parse" then turns the fields
// into columns of BIGINT, INT, DOUBLE, views of text and milliseconds. No quotes, no checks of
// more than the digits: a reader that does not trust its input cannot be faster.
#include <cstring>
#include <string_view>
#include <vector>

#include <immintrin.h>

#include "limit.h"

namespace {

using sluice::bench::Report;
using sluice::bench::Stopwatch;

constexpr size_t kChunk = 1 << 20;
constexpr int kColumns = 5;

/// Writes the positions of commas and line ends of [begin, end) and returns how many.
__attribute__((target("avx2,bmi"))) size_t Scan(const char* text, size_t begin, size_t end,
                                                uint32_t* positions) {
  const __m256i comma = _mm256_set1_epi8(',');
  const __m256i newline = _mm256_set1_epi8('\n');
  uint32_t* out = positions;
  for (size_t at = begin; at < end; at += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
    auto mask = static_cast<uint32_t>(_mm256_movemask_epi8(
        _mm256_or_si256(_mm256_cmpeq_epi8(bytes, comma), _mm256_cmpeq_epi8(bytes, newline))));
    while (mask != 0) {
      *out++ = static_cast<uint32_t>(at - begin) + static_cast<uint32_t>(_tzcnt_u32(mask));
      mask &= mask - 1;
    }
  }
  return static_cast<size_t>(out - positions);
}

int64_t Digits(const char* begin, const char* end) {
  int64_t value = 0;
  for (; begin < end; ++begin) value = value * 10 + (*begin - '0');
  return value;
}

int64_t TwoDigits(const char* text) { return (text[0] - '0') * 10 + text[1] - '0'; }

/// yyyy-MM-dd HH:mm:ss.SSS in milliseconds since 1970, of years this side of 1970.
int64_t Milliseconds(const char* text) {
  const int64_t month = TwoDigits(text + 5);
  const int64_t year = Digits(text, text + 4) - (month <= 2 ? 1 : 0);
  const int64_t era = year / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year =
      (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + TwoDigits(text + 8) - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  const int64_t days = era * 146097 + day_of_era - 719468;
  const int64_t seconds =
      TwoDigits(text + 11) * 3600 + TwoDigits(text + 14) * 60 + TwoDigits(text + 17);
  return (days * 86'400 + seconds) * 1000 + Digits(text + 20, text + 23);
}

struct Columns {
  std::vector<int64_t> order_id;
  std::vector<int32_t> user_id;
  std::vector<double> amount;
  std::vector<std::string_view> note;
  std::vector<int64_t> time;

  explicit Columns(size_t rows)
      : order_id(rows), user_id(rows), amount(rows), note(rows), time(rows) {}
};

/// Parses the whole rows of a chunk and returns their count.
size_t Parse(const char* chunk, const uint32_t* ends, size_t fields, Columns* columns) {
  const size_t rows = fields / kColumns;
  const char* begin = chunk;
  for (size_t row = 0; row < rows; ++row) {
    const uint32_t* end = ends + row * kColumns;
    columns->order_id[row] = Digits(begin, chunk + end[0]);
    columns->user_id[row] = static_cast<int32_t>(Digits(chunk + end[0] + 1, chunk + end[1]));
    const char* point = chunk + end[2] - 3;
    columns->amount[row] =
        static_cast<double>(Digits(chunk + end[1] + 1, point) * 100 + TwoDigits(point + 1)) / 100;
    columns->note[row] = {chunk + end[2] + 1, end[3] - end[2] - 1};
    columns->time[row] = Milliseconds(chunk + end[3] + 1);
    begin = chunk + end[4] + 1;
  }
  return rows;
}

/// One pass over the file, chunk after chunk of whole lines; returns a sum so that nothing is
/// optimised away.
int64_t Pass(const std::string& bytes, bool parse, double* rows) {
  std::vector<uint32_t> positions(kChunk + 64);
  Columns columns(kChunk / 16);
  int64_t sum = 0;
  for (size_t begin = 0; begin < bytes.size();) {
    size_t end = std::min(begin + kChunk, bytes.size());
    while (bytes[end - 1] != '\n') --end;
    size_t fields = Scan(bytes.data(), begin, end, positions.data());
    while (fields > 0 && begin + positions[fields - 1] >= end) --fields;
    *rows += static_cast<double>(fields) / kColumns;
    sum += positions[fields - 1];
    if (parse) {
      const size_t count = Parse(bytes.data() + begin, positions.data(), fields, &columns);
      sum += columns.order_id[count - 1] + columns.time[count / 2];
    }
    begin = end;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t sum = 0;
  for (const bool parse : {false, true}) {
    double rows = 0;
    const Stopwatch watch;
    for (int i = 1; i < argc; ++i) {
      const std::string bytes = sluice::bench::ReadWhole(argv[i], 64);
      if (bytes.empty()) {
        std::perror(argv[i]);
        return 1;
      }
      sum += Pass(bytes, parse, &rows);
    }
    Report(parse ? "csv scan + parse" : "csv scan", "rows", rows, watch);
  }
  return sum == 0 ? 1 : 0;
}
