#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/csv/csv_format.h"
#include "formats/csv/csv_options.h"
#include "formats/testing/bulk_files.h"
#include "formats/testing/render.h"

namespace sluice::formats {
namespace {

using testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Options;

Batch TextRows(const std::vector<std::vector<const char*>>& rows, size_t columns) {
  std::vector<arrow::StringBuilder> builders(columns);
  for (const auto& row : rows) {
    for (size_t i = 0; i < columns; ++i) {
      const arrow::Status status =
          row[i] == nullptr ? builders[i].AppendNull() : builders[i].Append(row[i]);
      EXPECT_TRUE(status.ok());
    }
  }
  arrow::ArrayVector arrays;
  arrow::FieldVector fields;
  for (size_t i = 0; i < columns; ++i) {
    arrays.push_back(*builders[i].Finish());
    fields.push_back(arrow::field("c" + std::to_string(i), arrow::utf8()));
  }
  return Batch(
      arrow::RecordBatch::Make(arrow::schema(fields), static_cast<int64_t>(rows.size()), arrays));
}

Schema TextSchema(size_t columns) {
  std::vector<Column> list;
  for (size_t i = 0; i < columns; ++i) list.push_back({"c" + std::to_string(i), SqlType::String()});
  return Schema(std::move(list));
}

Result<std::string> EncodeText(OptionMap options, const std::vector<std::vector<const char*>>& rows,
                               Framing framing = Framing::kFile) {
  const size_t columns = rows[0].size();
  auto encoder = kCsvFormat.make_encoder(Options(kCsvFormat, std::move(options)),
                                         TextSchema(columns), framing, {});
  if (!encoder.ok()) return encoder.status();
  std::string out;
  SLUICE_RETURN_NOT_OK((*encoder)->Encode(TextRows(rows, columns), &out, nullptr));
  return out;
}

TEST(CsvEncoder, QuotesByFlinksRules) {
  EXPECT_EQ(*EncodeText({}, {{"123456789012345678901234", "1234567890123456789012345"}}),
            "123456789012345678901234,\"1234567890123456789012345\"\n");
  EXPECT_EQ(*EncodeText({}, {{"ééééééééééééééééééééééééé", "éééééééééééééééééééééééé"}}),
            "\"ééééééééééééééééééééééééé\",éééééééééééééééééééééééé\n");
  EXPECT_EQ(*EncodeText({}, {{"😀😀😀😀😀😀😀😀😀😀😀😀", "😀😀😀😀😀😀😀😀😀😀😀😀x"}}),
            "😀😀😀😀😀😀😀😀😀😀😀😀,\"😀😀😀😀😀😀😀😀😀😀😀😀x\"\n");
  EXPECT_EQ(*EncodeText({}, {{"a-b", "a+b"}, {"it's", "x\\y"}, {"", nullptr}}),
            "a-b,\"a+b\"\n\"it's\",\"x\\y\"\n,\n");
  EXPECT_EQ(*EncodeText({{"field-delimiter", "|"}}, {{"~", "{"}, {"abc", "A"}}),
            "~|\"{\"\n\"abc\"|\"A\"\n");
  EXPECT_EQ(*EncodeText({{"field-delimiter", ";"}}, {{"7", "a<b"}}), "\"7\";a<b\n");
  EXPECT_EQ(
      *EncodeText({{"field-delimiter", "\\t"}, {"escape-character", "\\"}, {"null-literal", "\\N"}},
                  {{"a\\b", "q\"t"}, {"tab\tin", nullptr}}),
      "\"a\\\\b\"\t\"q\"\"t\"\n\"tab\tin\"\t\\N\n");
  EXPECT_EQ(*EncodeText({{"quote-character", "'"}}, {{"it's", "a\"b"}}), "'it''s','a\"b'\n");
  EXPECT_EQ(*EncodeText({{"null-literal", "nil"}}, {{"nil", nullptr}}), "\"nil\",nil\n");
  EXPECT_EQ(*EncodeText({{"null-literal", ""}}, {{"", nullptr}}), "\"\",\n");
  EXPECT_EQ(*EncodeText({{"allow-comments", "true"}, {"field-delimiter", "\\t"}}, {{"#a", "#b"}}),
            "\"#a\"\t#b\n");
  EXPECT_EQ(*EncodeText({{"field-delimiter", "¦"}}, {{"a", "한"}}), "\"a\"¦한\n");
  // Not Flink's: it loses U+FEFF at the start of a file.
  EXPECT_EQ(*EncodeText({}, {{"\uFEFFa", "\uFEFFb"}}), "\"\uFEFFa\",\uFEFFb\n");
}

TEST(CsvEncoder, MessagesHaveNoSeparator) {
  auto encoder =
      kCsvFormat.make_encoder(Options(kCsvFormat, {}), TextSchema(2), Framing::kMessage, {});
  std::string out = "x";
  std::vector<size_t> ends;
  ASSERT_TRUE((*encoder)->Encode(TextRows({{"a", "b"}, {"c", ""}}, 2), &out, &ends).ok());
  EXPECT_EQ(out, "xa,bc,");
  EXPECT_THAT(ends, ElementsAre(4, 6));
}

TEST(CsvEncoder, RefusesWhatCannotBeReadBack) {
  const OptionMap options = {{"disable-quote-character", "true"}};
  EXPECT_EQ(*EncodeText(options, {{"5\" disk", "x"}}), "5\" disk,x\n");
  for (const char* text : {"a,b", "a\nb", "a\rb"}) {
    EXPECT_THAT(EncodeText(options, {{"x", text}}).status().message(),
                HasSubstr("Fail to serialize at field: c1."))
        << text;
  }
  EXPECT_THAT(EncodeText(options, {{"\uFEFFx", "y"}}).status().message(),
              HasSubstr("begins with U+FEFF"));
  const auto literal =
      EncodeText({{"disable-quote-character", "true"}, {"null-literal", "nil"}}, {{"x", "nil"}});
  EXPECT_THAT(literal.status().message(), HasSubstr("c1. The text \"nil\" is the null literal"));
}

// Numbers, which Flink never quotes, are told by quotes from NULL and from what the options make
// special.
TEST(CsvEncoder, NumbersThatCannotStandBare) {
  struct Case {
    const char* key;
    const char* value;
    SqlType type;
    const char* json;
    const char* text;
  };
  const Case cases[] = {
      {"null-literal", "0", SqlType::Int(), "[0, null, 10]", "\"0\"\n0\n10\n"},
      {"null-literal", "-1", SqlType::Bigint(), "[-1, null]", "\"-1\"\n-1\n"},
      {"null-literal", "true", SqlType::Boolean(), "[true, null, false]",
       "\"true\"\ntrue\nfalse\n"},
      {"null-literal", "NaN", SqlType::Double(), "[NaN, null, 1.5]", "\"NaN\"\nNaN\n1.5\n"},
      {"null-literal", "1E+2", SqlType::Decimal(5, 2), "[\"100.00\", null]", "\"1E+2\"\n1E+2\n"},
      {"null-literal", "1970-01-01", SqlType::Date(), "[0, null]", "\"1970-01-01\"\n1970-01-01\n"},
      {"null-literal", "00:00:00", SqlType::Time(0), "[0, null]", "\"00:00:00\"\n00:00:00\n"},
      {"field-delimiter", "-", SqlType::Int(), "[-5, 5]", "\"-5\"\n5\n"},
      {"field-delimiter", ".", SqlType::Double(), "[0.5, 1e8]", "\"0.5\"\n\"1.0E8\"\n"},
      {"field-delimiter", "u", SqlType::Boolean(), "[true, false]", "\"true\"\nfalse\n"},
      {"quote-character", "1", SqlType::Int(), "[12, 2]", "11121\n2\n"},
      {"escape-character", "7", SqlType::Int(), "[127, 2]", "\"1277\"\n2\n"},
  };
  for (const Case& c : cases) {
    const Schema schema({{"c", c.type}});
    const auto options = Options(kCsvFormat, {{c.key, c.value}});
    const Batch batch = testing::BatchFromJson(schema, {c.json});
    auto encoder = kCsvFormat.make_encoder(options, schema, Framing::kFile, {});
    std::string out;
    ASSERT_TRUE((*encoder)->Encode(batch, &out, nullptr).ok());
    EXPECT_EQ(out, c.text);
    auto decoder = kCsvFormat.make_decoder(options, AllOf(schema), {});
    const auto read = (*decoder)->DecodeChunk(out, true);
    for (int64_t i = 0; i < batch.row_count(); ++i)
      EXPECT_EQ(testing::RenderRow(*read->rows.rows(), i), testing::RenderRow(*batch.rows(), i));

    if (c.key == std::string("quote-character")) continue;
    const auto bare = Options(kCsvFormat, {{c.key, c.value}, {"disable-quote-character", "true"}});
    auto refusing = kCsvFormat.make_encoder(bare, schema, Framing::kFile, {});
    EXPECT_THAT((*refusing)->Encode(batch, &out, nullptr).message(),
                HasSubstr("could not be read back without quotes"))
        << c.key << c.value;
  }
}

TEST(CsvEncoder, ElementsThatWouldBeReadAsOthers) {
  const Schema schema({{"c", SqlType::Array(SqlType::Int())}});
  auto encoder = kCsvFormat.make_encoder(Options(kCsvFormat, {{"array-element-delimiter", "-"}}),
                                         schema, Framing::kFile, {});
  std::string out;
  EXPECT_TRUE((*encoder)->Encode(testing::BatchFromJson(schema, {"[[1, 2]]"}), &out, nullptr).ok());
  EXPECT_EQ(out, "1-2\n");
  EXPECT_THAT(
      (*encoder)->Encode(testing::BatchFromJson(schema, {"[[1, -2]]"}), &out, nullptr).message(),
      HasSubstr("Fail to serialize at field: c. The element -2 holds the delimiter"));
  auto nulls = kCsvFormat.make_encoder(Options(kCsvFormat, {{"null-literal", "0"}}), schema,
                                       Framing::kFile, {});
  EXPECT_THAT(
      (*nulls)->Encode(testing::BatchFromJson(schema, {"[[1, 0]]"}), &out, nullptr).message(),
      HasSubstr("The element 0 is the null literal"));
}

TEST(CsvEncoder, SlicesAndEmptyBatches) {
  auto encoder =
      kCsvFormat.make_encoder(Options(kCsvFormat, {}), TextSchema(1), Framing::kFile, {});
  std::string out;
  const Batch batch = TextRows({{"a"}, {nullptr}, {"c"}, {"d"}}, 1);
  ASSERT_TRUE((*encoder)->Encode(batch.Slice(1, 2), &out, nullptr).ok());
  ASSERT_TRUE((*encoder)->Encode(batch.Slice(4, 0), &out, nullptr).ok());
  EXPECT_EQ(out, "\nc\n");
}

TEST(CsvOptions, AreChecked) {
  struct Bad {
    OptionMap options;
    const char* message;
  };
  const Bad cases[] = {
      {{{"field-delimiter", "||"}},
       "Option 'csv.field-delimiter' must be a string with single character, but was: ||"},
      {{{"field-delimiter", "\n"}}, "must not be a line end"},
      {{{"field-delimiter", "\\n"}}, "must not be a line end"},
      {{{"quote-character", ""}},
       "Option 'csv.quote-character' must be a string with single character"},
      {{{"quote-character", "'"}, {"disable-quote-character", "true"}},
       "Format cannot define a quote character and disabled quote character at the same time."},
      {{{"field-delimiter", "\""}},
       "Options 'csv.field-delimiter' and 'csv.quote-character' must differ"},
      {{{"escape-character", ","}}, "must differ"},
      {{{"escape-character", "n"}}, "'csv.escape-character' must not be 'n'"},
      {{{"escape-character", "\\"}, {"null-literal", "N\\"}}, "ends with the escape character"},
      {{{"array-element-delimiter", ","}}, "must differ"},
      {{{"allow-comments", "maybe"}}, "Could not parse value 'maybe' for key 'csv.allow-comments'"},
      {{{"feld-delimiter", ","}}, "Did you mean 'csv.field-delimiter'"},
      {{{"null-literal", "a,b"}}, "'csv.null-literal' contains the field delimiter"},
      {{{"null-literal", "a\nb"}}, "'csv.null-literal' contains a line end"},
      {{{"null-literal", "\"\""}}, "'csv.null-literal' begins with the quote character"},
      {{{"trim-spaces", "true"}, {"null-literal", " n"}}, "'csv.null-literal' has blanks around"},
      {{{"allow-comments", "true"}, {"field-delimiter", "#"}}, "'csv.field-delimiter' is the # of"},
      {{{"allow-comments", "true"}, {"quote-character", "#"}}, "'csv.quote-character' is the # of"},
      {{{"allow-comments", "true"}, {"escape-character", "#"}},
       "'csv.escape-character' is the # of"},
  };
  for (const Bad& c : cases) {
    EXPECT_THAT(ValidateFormatOptions(kCsvFormat, Options(kCsvFormat, c.options)).ToString(),
                HasSubstr(c.message));
  }
  EXPECT_TRUE(
      ValidateFormatOptions(kCsvFormat, Options(kCsvFormat, {{"field-delimiter", ";"}})).ok());
  const Schema arrays({{"a", SqlType::Array(SqlType::Int())}});
  EXPECT_THAT(
      kCsvFormat.validate(Options(kCsvFormat, {{"field-delimiter", ";"}}), arrays, Direction::kRead)
          .message(),
      HasSubstr("'csv.array-element-delimiter' to differ"));
  EXPECT_THAT(
      kCsvFormat.validate(Options(kCsvFormat, {{"null-literal", "n;a"}}), arrays, Direction::kRead)
          .message(),
      HasSubstr("'csv.null-literal' contains the delimiter of elements"));
}

// What reading such a table would take for a header or a comment is not written.
TEST(CsvOptions, OfReadingOnlyAreRefusedForWriting) {
  struct Case {
    OptionMap options;
    const char* message;
  };
  const Case cases[] = {
      {{{"ignore-first-line", "true"}}, "'csv.ignore-first-line' is for reading"},
      {{{"allow-comments", "true"}, {"null-literal", "#N/A"}},
       "a record whose first column is NULL would be read as a comment"},
  };
  for (const Case& c : cases) {
    const auto options = Options(kCsvFormat, c.options);
    EXPECT_TRUE(kCsvFormat.validate(options, TextSchema(2), Direction::kRead).ok());
    EXPECT_THAT(kCsvFormat.validate(options, TextSchema(2), Direction::kWrite).message(),
                HasSubstr(c.message));
  }
  EXPECT_THAT(
      kCsvFormat
          .validate_messages(Options(kCsvFormat, {{"ignore-first-line", "true"}}), TextSchema(2))
          .message(),
      HasSubstr("'csv.ignore-first-line' is for files"));
}

TEST(CsvOptions, JavaEscapes) {
  EXPECT_EQ(csv::UnescapeJava("\\t"), "\t");
  EXPECT_EQ(csv::UnescapeJava("\\\\"), "\\");
  EXPECT_EQ(csv::UnescapeJava("\\u0001"), "\x01");
  EXPECT_EQ(csv::UnescapeJava("\\1"), "\x01");
  EXPECT_EQ(csv::UnescapeJava("\\174"), "|");
  EXPECT_EQ(csv::UnescapeJava("\\uu00A6"), "¦");
  EXPECT_EQ(csv::UnescapeJava("\\x"), "x");
}

}  // namespace
}  // namespace sluice::formats
