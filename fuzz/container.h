// What the fuzz targets of container formats share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/check.h"
#include "expr/builder.h"
#include "formats/testing/bulk_files.h"

namespace sluice::formats {

/// The first byte chooses the table, the rest is the file. The tables are those of the corpus,
/// whose files `fuzz/make_container_seeds.py` wrote.
inline Schema FuzzTable(uint8_t selector) {
  switch (selector % 4) {
    case 0:
      return Schema({{"i", SqlType::Bigint()}, {"s", SqlType::String()}});
    case 1:
      return Schema({{"b", SqlType::Boolean()},
                     {"d", SqlType::Double()},
                     {"dc", SqlType::Decimal(20, 3)},
                     {"dt", SqlType::Date()},
                     {"t", SqlType::Timestamp(6)},
                     {"x", SqlType::Bytes()}});
    case 2:
      return Schema(
          {{"a", SqlType::Array(SqlType::Int())},
           {"m", SqlType::Map(SqlType::String(), SqlType::Timestamp(9))},
           {"r", SqlType::Row({{"p", SqlType::Int()}, {"q", SqlType::Array(SqlType::String())}})}});
    default:
      return Schema({{"i", SqlType::Tinyint().NotNull()}, {"missing", SqlType::String()}});
  }
}

inline void FuzzPart(BulkFile& file, int part, std::span<const expr::ExprPtr> filters) {
  const auto rows = file.ReadPart(part, filters);
  if (!rows.ok()) return;
  int64_t count = 0;
  while (count < 100'000) {  // Run lengths may tell of any number of rows.
    const auto batch = (*rows)->Next();
    if (!batch.ok() || !*batch) break;
    count += (*batch)->row_count();
    SLUICE_CHECK(count <= (*rows)->position(), "rows beyond those of the part are given");
    const arrow::Status valid = (*batch)->rows()->ValidateFull();
    SLUICE_CHECK(valid.ok(), "a batch is not valid: " + valid.ToString());
  }
  if (file.row_count(part) >= 0)
    SLUICE_CHECK((*rows)->position() <= file.row_count(part), "rows behind the part are given");
}

inline void FuzzContainer(const Format& format, const uint8_t* data, size_t size) {
  if (size == 0) return;
  const Schema schema = FuzzTable(data[0]);
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto file = testing::OpenBulk(format, bytes, schema, testing::AllColumns(schema));
  if (!file.ok()) return;
  const expr::ExprPtr column = expr::MakeColumn(0, schema.column(0).type);
  std::vector<expr::ExprPtr> filters = {*expr::MakeIs(expr::IsTest::kNull, column, true)};
  if (schema.column(0).type.is_integer()) {
    filters.push_back(
        *expr::MakeComparison(expr::ComparisonOp::kGreater, column, expr::MakeInt(5)));
  }
  for (int part = 0; part < (*file)->part_count(); ++part) {
    FuzzPart(**file, part, {});
    if ((*file)->MayMatch(part, filters)) FuzzPart(**file, part, filters);
  }
}

}  // namespace sluice::formats
