// Records that are looked for many at a time are cut as the tokeniser cuts them one by one, at
// every vector level of this machine.
#include "formats/csv/csv_tokenizer.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "common/random.h"

namespace sluice::formats::csv {
namespace {

struct Cut {
  std::vector<std::vector<std::string>> fields;  // With flags.
  std::vector<uint32_t> begins;
  std::vector<int32_t> numbers;
  std::vector<std::string> bad;
  int32_t records = 0;
  bool operator==(const Cut&) const = default;
};

// `one_by_one`: as for a text that may not be UTF-8, whose records are looked at singly.
Cut CutText(const std::string& text, size_t begin, const CsvOptions& options,
            const std::vector<int>& slots, text::VectorLevel level, bool one_by_one,
            int32_t record_limit, int row_limit) {
  // Not a byte behind the text may be read: under ASan this tells.
  const std::vector<char> exact(text.begin(), text.end());
  const int slot_count = 1 + *std::max_element(slots.begin(), slots.end());
  CsvTokenizer tokenizer(options, slots, level);
  RecordBlock block(slot_count);
  Cut cut;
  tokenizer.SetText(exact.data(), begin, exact.size(), exact.size(), 7, record_limit, one_by_one);
  while (!tokenizer.at_end()) {
    block.row_count = 0;
    tokenizer.Fill(&block, row_limit);
    for (int row = 0; row < block.row_count; ++row) {
      std::vector<std::string>& fields = cut.fields.emplace_back();
      for (int slot = 0; slot < slot_count; ++slot) {
        const FieldRef field = block.column(slot)[row];
        fields.push_back(field.missing() ? "missing" : text.substr(field.begin, field.size()));
        fields.back() += field.quoted() ? "|quoted" : "|";
        fields.back() += field.escaped() ? "|escaped" : "|";
      }
      cut.begins.push_back(block.record_begin[static_cast<size_t>(row)]);
      cut.numbers.push_back(block.record_number[static_cast<size_t>(row)]);
    }
    for (const BadCut& bad : tokenizer.bad())
      cut.bad.push_back(std::to_string(bad.record_number) + " " + bad.reason);
    tokenizer.bad().clear();
  }
  cut.records = tokenizer.next_record();
  return cut;
}

// Mostly records of three fields; every `odd`-th is of another form.
std::string RandomText(Random& random) {
  static const std::string kFields[] = {"", "a", "12345", "some text", std::string(150, 'x')};
  static const std::string kOdd[] = {
      "\n",        "a,b\n",          "1,2,3,4\n",  "\"x\",y,z\n", "a,\"b,\n\",c\n",
      "p,q,r\r\n", "\"\"\"\",b,c\n", "a\rb,c,d\n", "u\"v,w,x\n",  "\"open,\nb,c\n"};
  const uint64_t odd = 1 + random.Below(60);
  std::string text;
  for (uint64_t n = random.Below(400); n > 0; --n) {
    if (random.Below(odd) == 0) {
      text += kOdd[random.Below(std::size(kOdd))];
      continue;
    }
    for (int field = 0; field < 3; ++field) {
      text += kFields[random.Below(std::size(kFields))];
      text += field < 2 ? ',' : '\n';
    }
  }
  if (random.OneIn(3)) text += "last,without,end";
  return text;
}

TEST(CsvTokenizerTest, ManyAtATimeAsOneByOne) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const std::string text = RandomText(random);
    CsvOptions options;
    options.ignore_parse_errors = random.OneIn(2);
    options.quoting = !random.OneIn(4);
    const std::vector<int> slots =
        random.OneIn(2) ? std::vector<int>{0, 1, 2} : std::vector<int>{-1, 0, -1};
    const int32_t record_limit =
        random.OneIn(3) ? static_cast<int32_t>(1 + random.Below(300)) : INT32_MAX;
    const int row_limit =
        random.OneIn(2) ? RecordBlock::kRows : 1 + static_cast<int>(random.Below(50));
    const Cut expected = CutText(text, 0, options, slots, text::VectorLevel::kBaseline, true,
                                 record_limit, row_limit);
    for (const text::VectorLevel level : text::UsableVectorLevels()) {
      const Cut found = CutText(text, 0, options, slots, level, false, record_limit, row_limit);
      EXPECT_EQ(found.fields, expected.fields) << "text " << i;
      EXPECT_TRUE(found == expected) << "text " << i << ", level " << static_cast<int>(level)
                                     << ", records " << found.records << " " << expected.records;
    }
  }
}

TEST(RecordScanTest, StopsAtWhatIsNotSimple) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(i) + ",b" + std::to_string(i) + "\n";
  const size_t simple = text.size();
  text += "c,\"d\"\n" + text;
  for (const text::VectorLevel level : text::UsableVectorLevels()) {
    RecordScan scan(',', '"', 2, level);
    size_t at = 0;
    int rows = 0;
    while (const int found = scan.Find(text.data(), at, text.size(), 700)) {
      ASSERT_LE(found, 700);
      for (int row = 0; row < found; ++row) {
        const uint32_t* const ends = scan.field_ends() + 2 * row;
        const std::string number = std::to_string(rows + row);
        ASSERT_EQ(text.substr(ends[-1] + 1, ends[0] - ends[-1] - 1), number);
        ASSERT_EQ(text.substr(ends[0] + 1, ends[1] - ends[0] - 1), "b" + number);
      }
      rows += found;
      at = scan.field_ends()[2 * found - 1] + 1;
    }
    // All but those in the 64 bytes with the quote.
    EXPECT_GT(rows, 1980);
    EXPECT_LE(at, simple);
    EXPECT_EQ(scan.Find(text.data(), simple, text.size(), 10), 0);
    RecordScan without_quotes(',', std::nullopt, 2, level);
    EXPECT_EQ(without_quotes.Find(text.data(), simple, text.size(), 10), 10);
  }
}

}  // namespace
}  // namespace sluice::formats::csv
