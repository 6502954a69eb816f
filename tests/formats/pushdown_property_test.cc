// Random filters on random containers: what a filtered read leaves out must not pass the filters,
// what it gives must be the rows at their places, whatever columns are read beside.
#include <cmath>

#include <gtest/gtest.h>

#include "common/random.h"
#include "expr/builder.h"
#include "formats/all_formats.h"
#include "formats/testing/bulk_files.h"
#include "random_rows.h"

namespace sluice::formats {
namespace {

constexpr int kRows = 6000;
constexpr int kFilterColumns = 5;

// Columns whose values lie near those of neighbours, in front of random ones.
class FilteredTable {
 public:
  FilteredTable(uint64_t seed, bool orc) : random_(seed) {
    RandomLimits limits;
    limits.nesting = 2;
    limits.last_second_digits = !orc;
    RandomTable others(seed, limits);
    std::vector<Column> columns = {{"k", SqlType::Bigint()},
                                   {"s", SqlType::String()},
                                   {"t", SqlType::Timestamp(3)},
                                   {"d", SqlType::Decimal(9, 2)},
                                   {"f", SqlType::Double()}};
    const Schema more = others.MakeSchema();
    for (const Column& column : more.columns()) columns.push_back(column);
    schema_ = Schema(columns);
    arrow::ArrayVector arrays;
    for (int i = 0; i < kFilterColumns; ++i) arrays.push_back(NearValues(columns[i].type));
    const Batch random_rows = others.MakeRows(more, kRows);
    for (int i = 0; i < more.column_count(); ++i) arrays.push_back(random_rows.column(i));
    rows_ = Batch(arrow::RecordBatch::Make(schema_.ToArrow(), kRows, std::move(arrays)));
  }

  const Schema& schema() const { return schema_; }
  const Batch& rows() const { return rows_; }
  Random& random() { return random_; }

  std::vector<expr::ExprPtr> MakeFilters() {
    std::vector<expr::ExprPtr> filters;
    for (uint64_t n = 1 + random_.Below(3); n > 0; --n) {
      expr::ExprPtr filter = Condition();
      if (random_.OneIn(4)) filter = *expr::MakeOr({filter, Condition()});
      filters.push_back(std::move(filter));
    }
    return filters;
  }

  std::vector<int> MakeProjection() {
    std::vector<int> projection;
    for (int i = 0; i < schema_.column_count(); ++i) {
      if (!random_.OneIn(3)) projection.push_back(i);
    }
    if (random_.OneIn(2)) std::reverse(projection.begin(), projection.end());
    return projection;
  }

 private:
  std::shared_ptr<arrow::Array> NearValues(const SqlType& type) {
    text::ColumnBuilder builder(type, arrow::default_memory_pool());
    const auto null_begin = static_cast<int>(random_.Below(kRows));
    const int null_end = null_begin + static_cast<int>(random_.Below(2500));
    const bool falls = random_.OneIn(2);
    const bool repeats = random_.OneIn(2);  // Values that a dictionary holds.
    for (int row = 0; row < kRows; ++row) {
      if ((row >= null_begin && row < null_end) || random_.OneIn(50)) {
        builder.AppendNull();
        continue;
      }
      int64_t value = (falls ? kRows - row : row) + static_cast<int64_t>(random_.Below(20));
      if (repeats) value = value / 500 * 500;
      if (type.kind() == TypeKind::kVarchar) {
        builder.AppendBytes("text " + std::to_string(100'000 + value));
      } else if (type.kind() == TypeKind::kDecimal) {
        builder.Append(arrow::Decimal128(value * 10 - 20'000));
      } else if (type.kind() == TypeKind::kDouble) {
        builder.Append(random_.OneIn(1000) ? std::nan("") : static_cast<double>(value) / 8);
      } else {
        builder.Append(value * (type.is_timestamp() ? 1'000'003 : 1));
      }
    }
    return arrow::MakeArray(builder.Finish());
  }

  expr::ExprPtr Condition() {
    const auto index = static_cast<int>(random_.Below(kFilterColumns));
    const expr::ExprPtr column = expr::MakeColumn(index, schema_.column(index).type);
    if (random_.OneIn(8)) return *expr::MakeIs(expr::IsTest::kNull, column, random_.OneIn(2));
    if (random_.OneIn(6)) return *expr::MakeIn(column, {Literal(index), Literal(index)});
    static constexpr expr::ComparisonOp kOps[] = {
        expr::ComparisonOp::kEqual,        expr::ComparisonOp::kLess,
        expr::ComparisonOp::kLessEqual,    expr::ComparisonOp::kGreater,
        expr::ComparisonOp::kGreaterEqual, expr::ComparisonOp::kNotEqual};
    return *expr::MakeComparison(kOps[random_.Below(std::size(kOps))], column, Literal(index));
  }

  // A value of the column.
  expr::ExprPtr Literal(int index) {
    std::shared_ptr<arrow::Scalar> value;
    do {
      value = rows_.column(index)->GetScalar(random_.Between(0, kRows - 1)).ValueOrDie();
    } while (!value->is_valid);
    return std::make_shared<expr::LiteralExpr>(std::move(value), schema_.column(index).type);
  }

  Random random_;
  Schema schema_;
  Batch rows_{std::shared_ptr<arrow::RecordBatch>()};
};

OptionMap OptionsFor(const Format& format, Random& random) {
  const auto one_of = [&random](std::initializer_list<const char*> values) {
    return std::string(*(values.begin() + random.Below(values.size())));
  };
  if (format.name == "orc") {
    return {{"row.index.stride", one_of({"1000", "1700", "3000"})},
            {"compress", one_of({"NONE", "ZLIB", "ZSTD"})},
            {"dictionary.key.threshold", one_of({"0", "1"})}};
  }
  return {{"page.size", one_of({"300", "3000", "20000"})},
          {"enable.dictionary", one_of({"true", "false"})},
          {"compression", one_of({"UNCOMPRESSED", "SNAPPY"})},
          {"writer.version", one_of({"PARQUET_1_0", "PARQUET_2_0"})}};
}

// Which rows pass all filters.
std::vector<bool> Passing(const Batch& rows, const std::vector<expr::ExprPtr>& filters) {
  std::vector<bool> passing(static_cast<size_t>(rows.row_count()), true);
  for (const expr::ExprPtr& filter : filters) {
    const auto judged = expr::EvaluateToArray(*filter, *rows.rows(), {});
    const auto& values = static_cast<const arrow::BooleanArray&>(**judged);
    for (int64_t row = 0; row < values.length(); ++row) {
      if (values.IsNull(row) || !values.Value(row)) passing[static_cast<size_t>(row)] = false;
    }
  }
  return passing;
}

struct FilteredRead {
  std::vector<bool> given;
  int64_t count = 0;
};

// Rows of all parts with `filters`, each checked to be the row at its place in `expected`.
void ReadFiltered(BulkFile& file, const std::vector<expr::ExprPtr>& filters,
                  const arrow::RecordBatch& expected, FilteredRead* read) {
  const auto equal = arrow::EqualOptions::Defaults().nans_equal(true);
  read->given.assign(static_cast<size_t>(expected.num_rows()), false);
  int64_t part_begin = 0;
  for (int part = 0; part < file.part_count(); part_begin += file.row_count(part++)) {
    if (!file.MayMatch(part, filters)) continue;
    const auto rows = file.ReadPart(part, filters);
    ASSERT_TRUE(rows.ok()) << rows.status().ToString();
    int64_t position = 0;
    while (true) {
      const auto batch = (*rows)->Next();
      ASSERT_TRUE(batch.ok()) << batch.status().ToString();
      if (!*batch) break;
      const int64_t count = (*batch)->row_count();
      const int64_t begin = (*rows)->position() - count;
      ASSERT_GE(begin, position);
      position = (*rows)->position();
      ASSERT_TRUE((*batch)->rows()->ValidateFull().ok());
      ASSERT_TRUE(
          (*batch)->rows()->Equals(*expected.Slice(part_begin + begin, count), false, equal))
          << "rows " << begin << " to " << position;
      for (int64_t row = begin; row < position; ++row)
        read->given[static_cast<size_t>(part_begin + row)] = true;
      read->count += count;
    }
    ASSERT_EQ((*rows)->position(), file.row_count(part));
  }
}

TEST(PushdownPropertyTest, RowsLeftOutDoNotPass) {
  for (const char* name : {"parquet", "orc"}) {
    const Format& format = **FindFormat(name);
    int64_t left_out_within = 0;
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      FilteredTable table(seed, format.name == "orc");
      const Schema& schema = table.schema();
      if (!format.validate(testing::BulkOptions(format, {}), schema, Direction::kWrite).ok())
        continue;
      const OptionMap options = OptionsFor(format, table.random());
      const auto bytes = testing::WriteBulk(
          format, schema, {table.rows(), table.rows().Slice(100, 2500)}, options, seed % 2 == 0);
      ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
      const Batch all = *testing::ReadBulk(format, *bytes, schema);
      for (int i = 0; i < 15; ++i) {
        const std::vector<expr::ExprPtr> filters = table.MakeFilters();
        const std::vector<int> projection = table.MakeProjection();
        const auto file = testing::OpenBulk(format, *bytes, schema, projection);
        FilteredRead read;
        ReadFiltered(**file, filters, *all.rows()->SelectColumns(projection).ValueOrDie(), &read);
        const std::vector<bool> passing = Passing(all, filters);
        for (size_t row = 0; row < passing.size(); ++row) {
          ASSERT_TRUE(read.given[row] || !passing[row])
              << name << ", seed " << seed << ": row " << row << " passes "
              << filters[0]->ToString(schema) << " and is left out";
        }
        if (HasFatalFailure()) {
          FAIL() << name << ", seed " << seed << ", filters " << filters.size() << ", first "
                 << filters[0]->ToString(schema);
        }
        if (read.count > 0) left_out_within += all.row_count() - read.count;
      }
    }
    EXPECT_GT(left_out_within, 100'000) << name;
  }
}

}  // namespace
}  // namespace sluice::formats
