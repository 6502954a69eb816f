// Random schemas and rows through every format of the list, and damaged containers: an error or all
// rows, never a crash and never another number of rows.
#include <chrono>

#include <arrow/compare.h>
#include <gtest/gtest.h>

#include "common/random.h"
#include "formats/all_formats.h"
#include "formats/testing/bulk_files.h"
#include "formats/testing/render.h"
#include "formats/text/column_builder.h"
#include "random_rows.h"

namespace sluice::formats {
namespace {

bool Accepts(const Format& format, const Schema& schema) {
  return format.validate(testing::BulkOptions(format, {}), schema, Direction::kWrite).ok();
}

RandomLimits LimitsOf(const Format& format) {
  RandomLimits limits;
  limits.last_second_digits = format.name != "orc";
  return limits;
}

void ExpectSameRows(const Batch& read, const Batch& written, const Schema& schema, uint64_t seed) {
  ASSERT_EQ(read.row_count(), written.row_count()) << "seed " << seed;
  const auto equal = arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false);
  for (int i = 0; i < schema.column_count(); ++i) {
    if (read.column(i)->Equals(*written.column(i), equal)) continue;
    for (int64_t row = 0; row < read.row_count(); ++row) {
      ASSERT_EQ(testing::Texts(schema, read.Slice(row, 1), i),
                testing::Texts(schema, written.Slice(row, 1), i))
          << "seed " << seed << ", row " << row << ", type " << schema.column(i).type.ToString();
    }
    // Values print alike and are not equal: signs of zero, bits of NaN.
    const auto loose = arrow::EqualOptions::Defaults().nans_equal(true);
    EXPECT_TRUE(read.column(i)->Equals(*written.column(i), loose)) << "seed " << seed;
  }
}

void RoundTripBulk(const Format& format, const Schema& schema, const Batch& rows, uint64_t seed) {
  const auto bytes =
      testing::WriteBulk(format, schema, {rows, rows.Slice(3, 5)}, {}, seed % 2 == 0);
  ASSERT_TRUE(bytes.ok()) << format.name << ", seed " << seed << ": " << bytes.status().ToString()
                          << "\n"
                          << schema.ToString();
  const auto read = testing::ReadBulk(format, *bytes, schema);
  ASSERT_TRUE(read.ok()) << format.name << ", seed " << seed << ": " << read.status().ToString();
  ASSERT_EQ(read->row_count(), rows.row_count() + 5);
  ExpectSameRows(read->Slice(0, rows.row_count()), rows, schema, seed);
  ExpectSameRows(read->Slice(rows.row_count(), 5), rows.Slice(3, 5), schema, seed);
}

void RoundTripRows(const Format& format, const Schema& schema, const Batch& rows, uint64_t seed) {
  const FormatOptions options = testing::BulkOptions(format, {});
  const auto encoder = format.make_encoder(options, schema, Framing::kFile, {});
  ASSERT_TRUE(encoder.ok()) << format.name << ": " << encoder.status().ToString();
  std::string text;
  const Status written = (*encoder)->Encode(rows, &text, nullptr);
  if (!written.ok()) {  // A value that could not be read back.
    EXPECT_EQ(written.code(), StatusCode::kDataError) << written.ToString();
    return;
  }
  const auto decoder = format.make_decoder(options, testing::AllOf(schema), {});
  const auto read = (*decoder)->DecodeChunk(text, true);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(testing::FirstBad(*read), "") << format.name << ", seed " << seed;
  ExpectSameRows(read->rows, rows, schema, seed);
}

TEST(PropertyTest, RandomSchemasAndRowsComeBack) {
  for (const Format* format : AllFormats()) {
    // csv writes NULL and the empty text alike, raw has one column: they have tests of their own.
    if (format->name == "csv" || format->name == "raw") continue;
    if (!format->read_kinds.insert_only()) continue;
    int tried = 0;
    for (uint64_t seed = 1; tried < 60; ++seed) {
      RandomTable table(seed, LimitsOf(*format));
      const Schema schema = table.MakeSchema();
      if (!Accepts(*format, schema)) {
        ASSERT_LT(seed, 2000u) << format->name << " accepts no schema";
        continue;
      }
      ++tried;
      const Batch rows = table.MakeRows(schema, 40);
      if (format->encoding == Encoding::kBulk) {
        RoundTripBulk(*format, schema, rows, seed);
      } else {
        RoundTripRows(*format, schema, rows, seed);
      }
      if (HasFatalFailure()) return;
    }
  }
}

// One way of damaging bytes.
std::string Damaged(const std::string& good, Random& random) {
  std::string bad = good;
  const size_t at = random.Below(bad.size());
  switch (random.Below(5)) {
    case 0:
      bad.resize(at);
      break;
    case 1:
      bad[at] = static_cast<char>(bad[at] ^ (1 << random.Below(8)));
      break;
    case 2:
      for (int i = 0; i < 4; ++i) bad[random.Below(bad.size())] = static_cast<char>(random.Next());
      break;
    case 3: {
      const size_t length = 1 + random.Below(std::min<size_t>(bad.size() - at, 300));
      bad.insert(at, good.substr(at, length));
      break;
    }
    default: {
      const size_t length = 1 + random.Below(std::min<size_t>(bad.size() - at, 300));
      bad.erase(at, length);
    }
  }
  return bad;
}

// Rows read, or nullopt after an error.
std::optional<int64_t> CountRows(const Format& format, const std::string& bytes,
                                 const Schema& schema) {
  const auto file = testing::OpenBulk(format, bytes, schema, testing::AllColumns(schema));
  if (!file.ok()) return std::nullopt;
  int64_t count = 0;
  for (int part = 0; part < (*file)->part_count(); ++part) {
    const auto rows = (*file)->ReadPart(part);
    if (!rows.ok()) return std::nullopt;
    while (true) {
      const auto batch = (*rows)->Next();
      if (!batch.ok()) return std::nullopt;
      if (!*batch) break;
      EXPECT_TRUE((*batch)->rows()->Validate().ok());
      count += (*batch)->row_count();
    }
  }
  return count;
}

TEST(PropertyTest, DamagedContainersAreErrorsOrAllRows) {
  // Those that end with a footer: a container without one that is cut between two blocks is whole.
  for (const char* name : {"orc", "parquet"}) {
    const Format* const format = *FindFormat(name);
    Random random(17);
    int64_t errors = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      RandomTable table(seed, LimitsOf(*format));
      const Schema schema = table.MakeSchema();
      if (!Accepts(*format, schema)) continue;
      const Batch rows = table.MakeRows(schema, 60);
      const auto good = testing::WriteBulk(*format, schema, {rows, rows.Slice(0, 11)}, {}, true);
      ASSERT_TRUE(good.ok()) << good.status().ToString();
      for (int i = 0; i < 60; ++i) {
        const std::string bad = Damaged(*good, random);
        const auto started = std::chrono::steady_clock::now();
        const std::optional<int64_t> count = CountRows(*format, bad, schema);
        EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(10));
        if (count) {
          EXPECT_EQ(*count, 71) << format->name << ", seed " << seed << ", damage " << i;
        } else {
          ++errors;
        }
      }
    }
    EXPECT_GT(errors, 100) << format->name;
  }
}

}  // namespace
}  // namespace sluice::formats
