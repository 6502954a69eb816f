// Random schemas and rows through every format of the list, and damaged files. A container with a
// footer is an error or all its rows; a text loses the records that are touched and tells of each.
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

// csv keeps NULL and the empty text apart only by a literal.
OptionMap OptionsOf(const Format& format) {
  return format.name == "csv" ? OptionMap{{"null-literal", "\\N"}} : OptionMap();
}

bool Accepts(const Format& format, const Schema& schema) {
  return format.validate(testing::BulkOptions(format, {}), schema, Direction::kWrite).ok();
}

RandomLimits LimitsOf(const Format& format) {
  RandomLimits limits;
  limits.last_second_digits = format.name != "orc";
  limits.line_breaks = format.name != "raw";
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

// Rows of a text format with the offset behind each.
struct Encoded {
  std::string text;
  std::vector<size_t> ends;
};

Result<Encoded> EncodeRows(const Format& format, const Schema& schema, const Batch& rows) {
  SLUICE_ASSIGN_OR_RETURN(const auto encoder,
                          format.make_encoder(testing::BulkOptions(format, OptionsOf(format)),
                                              schema, Framing::kFile, {}));
  Encoded encoded;
  SLUICE_RETURN_NOT_OK(encoder->Encode(rows, &encoded.text, &encoded.ends));
  return encoded;
}

DecodedRows DecodeRows(const Format& format, const Schema& schema, std::string_view text,
                       bool keep_bad) {
  FormatContext context;
  context.keep_bad_records = keep_bad;
  const auto decoder = format.make_decoder(testing::BulkOptions(format, OptionsOf(format)),
                                           testing::AllOf(schema), context);
  SLUICE_CHECK(decoder.ok(), decoder.status().ToString());
  auto rows = (*decoder)->DecodeChunk(text, true);
  SLUICE_CHECK(rows.ok(), rows.status().ToString());
  return std::move(*rows);
}

void RoundTripRows(const Format& format, const Schema& schema, const Batch& rows, uint64_t seed) {
  const auto encoded = EncodeRows(format, schema, rows);
  if (!encoded.ok()) {  // A value that could not be read back.
    EXPECT_EQ(encoded.status().code(), StatusCode::kDataError) << encoded.status().ToString();
    return;
  }
  const DecodedRows read = DecodeRows(format, schema, encoded->text, false);
  ASSERT_EQ(testing::FirstBad(read), "") << format.name << ", seed " << seed;
  ExpectSameRows(read.rows, rows, schema, seed);
}

TEST(PropertyTest, RandomSchemasAndRowsComeBack) {
  for (const Format* format : AllFormats()) {
    // Elements of csv are not escaped, raw has one column and no NULL: round_trip_test.cc and
    // raw_format_test.cc.
    if (format->name == "csv" || format->name == "raw") continue;
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

// Whatever happened to some bytes, the rows of records that are whole before and behind them are
// there, and every other record is a row, a bad record, or one that the format ignores.
void ExpectOnlyTouchedRecordsSuffer(const Format& format, const Schema& schema, const Encoded& good,
                                    const std::vector<std::string>& rows, const std::string& bad,
                                    const std::string& where) {
  const auto started = std::chrono::steady_clock::now();
  const DecodedRows read = DecodeRows(format, schema, bad, true);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(10)) << where;
  ASSERT_TRUE(read.rows.rows()->ValidateFull().ok()) << where;
  const std::vector<std::string> found = testing::RenderRows(read.rows);

  const size_t shorter = std::min(good.text.size(), bad.size());
  size_t before = 0;
  while (before < shorter && good.text[before] == bad[before]) ++before;
  size_t behind = 0;
  while (behind < shorter - before &&
         good.text[good.text.size() - 1 - behind] == bad[bad.size() - 1 - behind]) {
    ++behind;
  }
  size_t whole_before = 0;
  while (whole_before < rows.size() && good.ends[whole_before] <= before) ++whole_before;
  ASSERT_GE(found.size(), whole_before) << where;
  for (size_t i = 0; i < whole_before; ++i) ASSERT_EQ(found[i], rows[i]) << where << ", row " << i;
  ASSERT_GE(static_cast<size_t>(read.record_count), whole_before) << where;

  // A quote of csv reaches over line ends, so that records behind may become part of a value.
  if (format.name == "csv") return;
  size_t whole_behind = 0;
  while (whole_behind + whole_before + 1 < rows.size() &&
         good.ends[rows.size() - 2 - whole_behind] > good.text.size() - behind) {
    ++whole_behind;
  }
  ASSERT_GE(found.size(), whole_before + whole_behind) << where;
  for (size_t i = 1; i <= whole_behind; ++i) {
    ASSERT_EQ(found[found.size() - i], rows[rows.size() - i])
        << where << ", " << i << " from the end";
  }
  int64_t lost = read.record_count - read.ignored_count;
  int32_t last = -1;
  for (size_t i = 0; i < found.size(); ++i) {
    const int32_t record =
        read.record_of_row.empty() ? static_cast<int32_t>(i) : read.record_of_row[i];
    lost -= record != last ? 1 : 0;
    last = record;
  }
  for (const BadRecord& record : read.bad) lost -= record.field_only ? 0 : 1;
  // Only a record without a sign in it may be passed over: the damage can make two at most of one.
  EXPECT_LE(lost, 2) << where;
}

TEST(PropertyTest, DamagedTextsLoseOnlyTheRecordsThatAreTouched) {
  for (const Format* format : AllFormats()) {
    if (format->encoding != Encoding::kRow) continue;
    Random random(23);
    int tried = 0;
    for (uint64_t seed = 1; tried < 25; ++seed) {
      ASSERT_LT(seed, 5000u) << format->name << " accepts no schema";
      RandomTable table(seed, LimitsOf(*format));
      const Schema schema =
          format->name == "raw" ? Schema({{"v", SqlType::String().NotNull()}}) : table.MakeSchema();
      if (!Accepts(*format, schema)) continue;
      const Batch rows = table.MakeRows(schema, 30);
      const auto good = EncodeRows(*format, schema, rows);
      if (!good.ok()) continue;  // A value that could not be read back.
      ++tried;
      const std::vector<std::string> texts =
          testing::RenderRows(DecodeRows(*format, schema, good->text, false).rows);
      ASSERT_EQ(texts.size(), 30u) << format->name << ", seed " << seed;
      for (int i = 0; i < 60; ++i) {
        std::string where(format->name);
        where += ", seed " + std::to_string(seed) + ", damage " + std::to_string(i);
        ExpectOnlyTouchedRecordsSuffer(*format, schema, *good, texts, Damaged(good->text, random),
                                       where);
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace sluice::formats
