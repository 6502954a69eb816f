#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/csv/csv_format.h"
#include "formats/csv/csv_options.h"
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
      {{{"array-element-delimiter", ","}}, "must differ"},
      {{{"allow-comments", "maybe"}}, "Could not parse value 'maybe' for key 'csv.allow-comments'"},
      {{{"feld-delimiter", ","}}, "Did you mean 'csv.field-delimiter'"},
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
