// Random tables and rows come back equal; random damage never crashes, hangs or changes the count
// of rows in silence.
#include <random>

#include <gtest/gtest.h>

#include "formats/avro/avro_test_support.h"
#include "formats/text/column_builder.h"

namespace sluice::formats::avro {
namespace {

using text::ColumnBuilder;

class RandomTable {
 public:
  explicit RandomTable(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t bound) { return random_() % bound; }

  Schema MakeSchema() {
    std::vector<Column> columns;
    for (uint64_t i = 0; i <= Below(6); ++i) {
      columns.push_back({"c" + std::to_string(i), MakeType(3)});
    }
    return Schema(std::move(columns));
  }

  Batch MakeRows(const Schema& schema, int rows) {
    arrow::ArrayDataVector arrays;
    for (const Column& column : schema.columns()) {
      ColumnBuilder builder(column.type, arrow::default_memory_pool());
      for (int i = 0; i < rows; ++i) Append(builder);
      arrays.push_back(builder.Finish());
    }
    return Batch(arrow::RecordBatch::Make(schema.ToArrow(), rows, std::move(arrays)));
  }

 private:
  SqlType MakeType(int depth) { return MakeNullable(depth).WithNullable(Below(4) != 0); }

  SqlType MakeNullable(int depth) {
    const SqlType key = SqlType::String().NotNull();
    switch (Below(depth > 0 ? 18 : 14)) {
      case 0:
        return SqlType::Boolean();
      case 1:
        return SqlType::Tinyint();
      case 2:
        return SqlType::Smallint();
      case 3:
        return SqlType::Int();
      case 4:
        return SqlType::Bigint();
      case 5:
        return SqlType::Float();
      case 6:
        return SqlType::Double();
      case 7:
        return SqlType::Decimal(static_cast<int>(1 + Below(38)), static_cast<int>(Below(2)));
      case 8:
        return SqlType::Date();
      case 9:
        return SqlType::Time(3);
      case 10:
        return SqlType::Timestamp(static_cast<int>(Below(4)) * 3);
      case 11:
        return SqlType::TimestampLtz(static_cast<int>(Below(4)) * 3);
      case 12:
        return SqlType::Bytes();
      case 13:
        return SqlType::String();
      case 14:
        return SqlType::Array(MakeType(depth - 1));
      case 15:
        return SqlType::Map(key, MakeType(depth - 1));
      case 16:
        return SqlType::Multiset(key);
      default: {
        std::vector<RowField> fields;
        for (uint64_t i = 0; i <= Below(3); ++i) {
          fields.push_back({"f" + std::to_string(i), MakeType(depth - 1)});
        }
        return SqlType::Row(std::move(fields));
      }
    }
  }

  arrow::Decimal128 MakeDecimal(const SqlType& type) {
    std::string digits = Below(2) == 0 ? "-" : "";
    for (uint64_t n = 1 + Below(static_cast<uint64_t>(type.precision())); n > 0; --n) {
      digits += static_cast<char>('0' + Below(10));
    }
    return arrow::Decimal128(digits);
  }

  std::string MakeText() {
    static const std::string kPieces[] = {"a", "", "é", "한", "😀", "a longer text without end "};
    std::string text;
    for (uint64_t n = Below(5); n > 0; --n) text += kPieces[Below(std::size(kPieces))];
    return text;
  }

  void Append(ColumnBuilder& builder) {
    const SqlType& type = builder.type();
    if (type.nullable() && Below(5) == 0) return builder.AppendNull();
    switch (type.kind()) {
      case TypeKind::kBoolean:
        return builder.Append<uint8_t>(Below(2));
      case TypeKind::kTinyint:
        return builder.Append(static_cast<int8_t>(random_()));
      case TypeKind::kSmallint:
        return builder.Append(static_cast<int16_t>(random_()));
      case TypeKind::kInt:
      case TypeKind::kDate:
        return builder.Append(static_cast<int32_t>(random_()) >> Below(32));
      case TypeKind::kTime:
        return builder.Append(static_cast<int32_t>(Below(86'400'000)));
      case TypeKind::kBigint:
        return builder.Append(static_cast<int64_t>(random_()) >> Below(64));
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz: {
        const int64_t cut = type.precision() == 0 ? 1000 : 1;
        return builder.Append((static_cast<int64_t>(random_()) >> Below(64)) / cut * cut);
      }
      case TypeKind::kFloat:
        return builder.Append(static_cast<float>(static_cast<int32_t>(random_())) / 8);
      case TypeKind::kDouble:
        return builder.Append(static_cast<double>(static_cast<int64_t>(random_())) / 1024);
      case TypeKind::kDecimal:
        return builder.Append(MakeDecimal(type));
      case TypeKind::kVarchar:
      case TypeKind::kVarbinary:
        return builder.AppendBytes(MakeText());
      default:
        AppendNested(builder);
    }
  }

  void AppendNested(ColumnBuilder& builder) {
    if (builder.type().kind() == TypeKind::kRow) {
      for (int i = 0; i < builder.child_count(); ++i) Append(builder.child(i));
    } else {
      for (uint64_t n = Below(4); n > 0; --n) {
        if (builder.child_count() == 2) builder.child(0).AppendBytes(MakeText());
        Append(builder.child(builder.child_count() - 1));
      }
    }
    builder.CloseNested();
  }

  std::mt19937_64 random_;
};

constexpr const char* kCodecs[] = {"null", "deflate", "snappy", "bzip2", "xz", "zstandard"};

struct RandomFile {
  Schema schema;
  Batch rows;
  std::string bytes;
};

RandomFile MakeFile(RandomTable& random) {
  RandomFile file;
  file.schema = random.MakeSchema();
  file.rows = random.MakeRows(file.schema, static_cast<int>(random.Below(200)) + 1);
  const OptionMap options = {{"codec", kCodecs[random.Below(6)]},
                             {"timestamp_mapping.legacy", random.Below(2) == 0 ? "true" : "false"}};
  const int64_t half = file.rows.row_count() / 2;
  auto bytes = WriteFile(
      file.schema, {file.rows.Slice(0, half), file.rows.Slice(half, file.rows.row_count() - half)},
      options, true);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  file.bytes = *bytes;
  return file;
}

TEST(AvroPropertyTest, RandomTablesComeBack) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    RandomTable random(seed);
    const RandomFile file = MakeFile(random);
    const auto all = ReadRows(file.bytes, testing::AllOf(file.schema),
                              static_cast<int64_t>(1 + random.Below(5000)));
    ASSERT_TRUE(all.ok()) << seed << ": " << all.status().ToString();
    ASSERT_EQ(*all, testing::RenderRows(file.rows)) << seed << " " << file.schema.ToString();

    // Fewer columns, in another order.
    ReadSchema some{file.schema, {}};
    for (int i = file.schema.column_count() - 1; i >= 0; --i) {
      if (random.Below(2) == 0) some.projection.push_back(i);
    }
    const auto projected = file.rows.rows()->SelectColumns(some.projection);
    const auto wanted = Batch(*projected);
    const auto read = ReadRows(file.bytes, some);
    ASSERT_TRUE(read.ok()) << seed << ": " << read.status().ToString();
    ASSERT_EQ(*read, testing::RenderRows(wanted)) << seed;
  }
}

/// One random change of the bytes.
std::string Damage(RandomTable& random, std::string bytes) {
  const size_t at = random.Below(bytes.size());
  switch (random.Below(4)) {
    case 0:
      return bytes.substr(0, at);
    case 1:
      bytes[at] = static_cast<char>(random.Below(256));
      return bytes;
    case 2:
      bytes.insert(at, bytes.substr(at, random.Below(40)));
      return bytes;
    default:
      bytes.erase(at, 1 + random.Below(20));
      return bytes;
  }
}

TEST(AvroPropertyTest, RandomDamageIsAnErrorOrTheSameCount) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomTable random(seed + 1000);
    const RandomFile file = MakeFile(random);
    const auto all = static_cast<size_t>(file.rows.row_count());
    for (int i = 0; i < 40; ++i) {
      const auto rows = ReadRows(Damage(random, file.bytes), file.schema);
      if (!rows.ok()) {
        EXPECT_EQ(rows.status().code(), StatusCode::kDataError) << rows.status().ToString();
        continue;
      }
      // A file cut between blocks is a whole file: nothing in it says how many there were.
      EXPECT_TRUE(rows->size() == all || rows->size() == all / 2 || rows->empty())
          << seed << ": " << rows->size() << " of " << all;
    }
  }
}

}  // namespace
}  // namespace sluice::formats::avro
