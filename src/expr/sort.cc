#include "expr/sort.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include <arrow/api.h>

#include "types/arrow_status.h"

namespace sluice::expr {

namespace {

/// A column made ready for comparing: for each row whether it is NULL, and a number that orders
/// like the first bytes of its value. Only rows whose numbers are equal are compared in full, and
/// only where the type needs it.
struct PreparedKey {
  std::vector<uint64_t> prefix;
  std::vector<uint8_t> null_rank;                     // Empty without NULLs; smaller comes first.
  std::function<int(int64_t, int64_t)> compare_rest;  // Null when the prefix says all.
};

uint64_t OrderedWord(int64_t value) { return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63); }

/// NaN is greatest; -0.0 and 0.0 are one.
uint64_t OrderedDouble(double value) {
  if (value == 0) value = 0;
  if (std::isnan(value)) return ~uint64_t{0};
  const auto bits = std::bit_cast<uint64_t>(value);
  return bits >> 63 ? ~bits : bits | (uint64_t{1} << 63);
}

uint64_t OrderedText(std::string_view text) {
  uint64_t word = 0;
  for (size_t i = 0; i < 8; ++i) {
    word = word << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
  }
  return word;
}

template <typename ArrayType, typename Fn>
void FillPrefix(const arrow::Array& values, PreparedKey* key, Fn fn) {
  const auto& typed = static_cast<const ArrayType&>(values);
  for (int64_t row = 0; row < values.length(); ++row) {
    key->prefix[static_cast<size_t>(row)] = values.IsNull(row) ? 0 : fn(typed, row);
  }
}

template <typename ArrayType>
void FillIntegers(const arrow::Array& values, PreparedKey* key) {
  FillPrefix<ArrayType>(values, key, [](const ArrayType& typed, int64_t row) {
    return OrderedWord(static_cast<int64_t>(typed.Value(row)));
  });
}

Status FillKey(const std::shared_ptr<arrow::Array>& column, PreparedKey* key) {
  const arrow::Array& values = *column;
  switch (values.type_id()) {
    case arrow::Type::NA:
      return {};
    case arrow::Type::BOOL:
      FillIntegers<arrow::BooleanArray>(values, key);
      return {};
    case arrow::Type::INT8:
      FillIntegers<arrow::Int8Array>(values, key);
      return {};
    case arrow::Type::INT16:
      FillIntegers<arrow::Int16Array>(values, key);
      return {};
    case arrow::Type::INT32:
      FillIntegers<arrow::Int32Array>(values, key);
      return {};
    case arrow::Type::DATE32:
      FillIntegers<arrow::Date32Array>(values, key);
      return {};
    case arrow::Type::TIME32:
      FillIntegers<arrow::Time32Array>(values, key);
      return {};
    case arrow::Type::INTERVAL_MONTHS:
      FillIntegers<arrow::MonthIntervalArray>(values, key);
      return {};
    case arrow::Type::INT64:
      FillIntegers<arrow::Int64Array>(values, key);
      return {};
    case arrow::Type::TIMESTAMP:
      FillIntegers<arrow::TimestampArray>(values, key);
      return {};
    case arrow::Type::DURATION:
      FillIntegers<arrow::DurationArray>(values, key);
      return {};
    case arrow::Type::FLOAT:
      FillPrefix<arrow::FloatArray>(values, key, [](const arrow::FloatArray& typed, int64_t row) {
        return OrderedDouble(typed.Value(row));
      });
      return {};
    case arrow::Type::DOUBLE:
      FillPrefix<arrow::DoubleArray>(values, key, [](const arrow::DoubleArray& typed, int64_t row) {
        return OrderedDouble(typed.Value(row));
      });
      return {};
    case arrow::Type::DECIMAL128: {
      const auto decimal = [](const arrow::Decimal128Array& typed, int64_t row) {
        return arrow::Decimal128(typed.GetValue(row));
      };
      FillPrefix<arrow::Decimal128Array>(values, key, [&](const auto& typed, int64_t row) {
        return OrderedWord(decimal(typed, row).high_bits());
      });
      const auto* typed = static_cast<const arrow::Decimal128Array*>(column.get());
      key->compare_rest = [typed, decimal](int64_t a, int64_t b) {
        const uint64_t x = decimal(*typed, a).low_bits();
        const uint64_t y = decimal(*typed, b).low_bits();
        return x < y ? -1 : x > y ? 1 : 0;
      };
      return {};
    }
    case arrow::Type::STRING:
    case arrow::Type::BINARY: {
      FillPrefix<arrow::BinaryArray>(values, key, [](const arrow::BinaryArray& typed, int64_t row) {
        return OrderedText(typed.GetView(row));
      });
      const auto* typed = static_cast<const arrow::BinaryArray*>(column.get());
      key->compare_rest = [typed](int64_t a, int64_t b) {
        return typed->GetView(a).compare(typed->GetView(b));
      };
      return {};
    }
    default:
      return Status::Validation("Rows cannot be ordered by a value of type " +
                                values.type()->ToString() + ".");
  }
}

Result<PreparedKey> Prepare(const std::shared_ptr<arrow::Array>& column, const SortKey& sort) {
  PreparedKey key;
  key.prefix.resize(static_cast<size_t>(column->length()));
  SLUICE_RETURN_NOT_OK(FillKey(column, &key));
  if (sort.descending) {
    for (uint64_t& word : key.prefix) word = ~word;
    if (key.compare_rest) {
      key.compare_rest = [ascending = std::move(key.compare_rest)](int64_t a, int64_t b) {
        return ascending(b, a);
      };
    }
  }
  if (column->null_count() > 0) {
    key.null_rank.resize(key.prefix.size());
    for (int64_t row = 0; row < column->length(); ++row) {
      const bool null = column->IsNull(row);
      key.null_rank[static_cast<size_t>(row)] = null == sort.nulls_first ? 0 : 1;
      if (null) key.prefix[static_cast<size_t>(row)] = 0;
    }
  }
  return key;
}

/// Below 0, 0, above 0.
int CompareKey(const PreparedKey& key, bool nullable_equal, int64_t a, int64_t b) {
  const auto x = static_cast<size_t>(a);
  const auto y = static_cast<size_t>(b);
  if (!key.null_rank.empty() && key.null_rank[x] != key.null_rank[y]) {
    return key.null_rank[x] < key.null_rank[y] ? -1 : 1;
  }
  if (key.prefix[x] != key.prefix[y]) return key.prefix[x] < key.prefix[y] ? -1 : 1;
  if (!key.compare_rest || nullable_equal) return 0;
  return key.compare_rest(a, b);
}

}  // namespace

Result<std::vector<int64_t>> SortIndices(const arrow::RecordBatch& rows,
                                         const std::vector<SortKey>& keys, int64_t limit) {
  std::vector<PreparedKey> prepared;
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const SortKey& key : keys) {
    if (key.column < 0 || key.column >= rows.num_columns()) {
      return Status::Internal("sort column " + std::to_string(key.column) + " of " +
                              std::to_string(rows.num_columns()));
    }
    columns.push_back(rows.column(key.column));
    SLUICE_ASSIGN_OR_RETURN(PreparedKey one, Prepare(columns.back(), key));
    prepared.push_back(std::move(one));
  }
  std::vector<int64_t> indices(static_cast<size_t>(rows.num_rows()));
  std::iota(indices.begin(), indices.end(), 0);
  const auto before = [&](int64_t a, int64_t b) {
    for (size_t i = 0; i < prepared.size(); ++i) {
      // Two NULLs are equal; their values must not be looked at.
      const bool nulls =
          !prepared[i].null_rank.empty() && columns[i]->IsNull(a) && columns[i]->IsNull(b);
      const int way = CompareKey(prepared[i], nulls, a, b);
      if (way != 0) return way < 0;
    }
    return a < b;
  };
  if (limit >= 0 && limit < static_cast<int64_t>(indices.size())) {
    std::partial_sort(indices.begin(), indices.begin() + limit, indices.end(), before);
    indices.resize(static_cast<size_t>(limit));
  } else {
    std::sort(indices.begin(), indices.end(), before);
  }
  return indices;
}

}  // namespace sluice::expr
