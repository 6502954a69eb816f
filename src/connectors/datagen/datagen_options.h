// The WITH options of a datagen table, checked, and the generators that they ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/options.h"
#include "common/result.h"
#include "connectors/datagen/column_generator.h"
#include "types/schema.h"

namespace sluice::connectors {

struct DatagenPlan {
  std::vector<ColumnGeneratorPtr> columns;  // One for each column of the schema.
  int64_t rows_per_second = 10'000;
  /// Rows of the whole table: number-of-rows or the end of the shortest sequence; nullopt =
  /// endless.
  std::optional<int64_t> row_limit;
  std::optional<int> parallelism;
  std::optional<uint64_t> seed;
  /// Estimated bytes of a row, for the size of batches.
  int64_t row_bytes = 8;
};

/// Options that are not about a column.
std::span<const OptionSpec> DatagenOptions();

/// Checks `options` for a table of `schema`; messages as Flink's.
Result<DatagenPlan> PlanDatagen(const OptionMap& options, const Schema& schema);

}  // namespace sluice::connectors
