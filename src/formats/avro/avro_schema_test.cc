#include "formats/avro/avro_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/avro/avro_test_support.h"

namespace sluice::formats::avro {
namespace {

using ::testing::HasSubstr;

TEST(AvroSchemaTest, NamesNamespacesAndReferences) {
  const auto schema = AvroSchema::Parse(R"({
    "type": "record", "name": "a.b.Outer", "fields": [
      {"name": "e", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}},
      {"name": "again", "type": "Colour"},
      {"name": "full", "type": "a.b.Colour"},
      {"name": "other", "type": {"type": "fixed", "name": "F", "namespace": "x", "size": 3}},
      {"name": "wrapped", "type": {"type": {"type": "array", "items": "x.F"}}},
      {"name": "next", "type": ["null", "Outer"], "aliases": ["following"]}
    ]})");
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  const Type& root = schema->root();
  EXPECT_EQ(root.name, "a.b.Outer");
  EXPECT_EQ(root.fields[0].type->name, "a.b.Colour");
  EXPECT_EQ(root.fields[1].type, root.fields[0].type);
  EXPECT_EQ(root.fields[2].type, root.fields[0].type);
  EXPECT_EQ(root.fields[4].type->element, root.fields[3].type);
  EXPECT_EQ(root.fields[5].type->branches[1], &root);
  EXPECT_EQ(root.fields[5].aliases.front(), "following");
  EXPECT_EQ(root.min_bytes, 1 + 1 + 1 + 3 + 1 + 1);
}

TEST(AvroSchemaTest, LogicalTypesThatDoNotFitAreLeftOut) {
  const auto text = [](const std::string& type) {
    return TypeText(AvroSchema::Parse(type)->root());
  };
  EXPECT_EQ(text(R"({"type":"long","logicalType":"timestamp-micros"})"), "long (timestamp-micros)");
  EXPECT_EQ(text(R"({"type":"int","logicalType":"timestamp-micros"})"), "int");
  EXPECT_EQ(text(R"({"type":"bytes","logicalType":"decimal","precision":4,"scale":2})"),
            "bytes (decimal(4, 2))");
  EXPECT_EQ(text(R"({"type":"bytes","logicalType":"decimal","precision":4,"scale":5})"), "bytes");
  EXPECT_EQ(text(R"({"type":"bytes","logicalType":"decimal"})"), "bytes");
  EXPECT_EQ(text(R"({"type":"string","logicalType":"made-up"})"), "string");
  EXPECT_EQ(text(R"(["null","string"])"), "union of null, string");
}

TEST(AvroSchemaTest, WrongSchemasAreRefused) {
  const std::string deep = std::string(300, '[') + "\"int\"" + std::string(300, ']');
  const std::pair<std::string, std::string> cases[] = {
      {"{", "no JSON"},
      {"12", "a type is 12"},
      {R"("nosuch")", "'nosuch' is not defined"},
      {R"({"name":"x"})", "no \"type\""},
      {R"({"type":"record","name":"r"})", "no \"fields\""},
      {R"({"type":"record","fields":[]})", "no \"name\""},
      {R"({"type":"record","name":"r","fields":[{"name":"a"}]})", "no \"name\" or no \"type\""},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})",
       "the field 'a' twice"},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"r"}]})", "it has no end"},
      {R"(["null",["int"]])", "a direct branch of a union"},
      {R"([])", "no branches"},
      {R"({"type":"fixed","name":"f","size":-1})", "no usable \"size\""},
      {R"({"type":"fixed","name":"f","size":99999999999999999999})", "no usable \"size\""},
      {R"({"type":"enum","name":"e","symbols":[1]})", "is no text"},
      {R"({"type":"array"})", "no \"items\""},
      {R"([{"type":"fixed","name":"f","size":1},{"type":"fixed","name":"f","size":1}])",
       "defined twice"},
      {deep, "deeper than 200 levels"},
      {std::string(300, 'x'), "no JSON"},
  };
  for (const auto& [json, message] : cases) {
    const auto schema = AvroSchema::Parse(json);
    ASSERT_FALSE(schema.ok()) << json;
    EXPECT_EQ(schema.status().code(), StatusCode::kDataError);
    EXPECT_THAT(schema.status().message(), HasSubstr(message));
  }
  std::string nested = "\"int\"";
  for (int i = 0; i < 300; ++i) nested = R"({"type":"array","items":)" + nested + "}";
  EXPECT_THAT(AvroSchema::Parse(nested).status().message(), HasSubstr("deeper than"));
}

}  // namespace
}  // namespace sluice::formats::avro
