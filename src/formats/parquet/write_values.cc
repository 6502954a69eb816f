#include "formats/parquet/write_values.h"

#include <arrow/api.h>

#include "types/map_keys.h"

namespace sluice::formats::parquet_format {

namespace {

/// Timestamps change their form, keys of maps are looked at.
bool NeedsPreparing(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return true;
    case TypeKind::kArray:
    case TypeKind::kMultiset:
      return NeedsPreparing(type.element());
    case TypeKind::kMap:
      return true;  // Its keys are looked at.
    case TypeKind::kRow:
      return std::any_of(type.fields().begin(), type.fields().end(),
                         [](const RowField& field) { return NeedsPreparing(field.type); });
    default:
      return false;
  }
}

class Preparer {
 public:
  Preparer(const ParquetOptions& options, WallClock* wall_clock, arrow::MemoryPool* pool)
      : options_(options), wall_clock_(wall_clock), pool_(pool) {}

  Result<std::shared_ptr<arrow::Array>> Prepare(const SqlType& type,
                                                const std::shared_ptr<arrow::Array>& values) {
    if (!NeedsPreparing(type)) return values;
    if (type.is_timestamp()) {
      if (options_.write_int64) return TimestampsToInt64(*values, options_.int64_unit, pool_);
      std::shared_ptr<arrow::Array> instants = values;
      if (type.kind() == TypeKind::kTimestamp) {
        SLUICE_ASSIGN_OR_RETURN(instants, WallClockToInstants(values, wall_clock_, pool_));
      }
      SLUICE_RETURN_NOT_OK(CheckInt96Days(*instants));
      return instants;
    }
    // Rebuilds the nested array around its changed children; offsets and validity stay.
    auto data = values->data()->Copy();
    SLUICE_RETURN_NOT_OK(ReplaceChildren(type, data.get()));
    return arrow::MakeArray(data);
  }

 private:
  Status ReplaceChildren(const SqlType& type, arrow::ArrayData* data) {
    switch (type.kind()) {
      case TypeKind::kArray: {
        SLUICE_RETURN_NOT_OK(ReplaceChild(type.element(), data, 0));
        data->type = arrow::list(data->child_data[0]->type);
        return {};
      }
      case TypeKind::kMap:
      case TypeKind::kMultiset: {
        SLUICE_RETURN_NOT_OK(CheckKeys(*data));
        auto entries = data->child_data[0]->Copy();
        SLUICE_RETURN_NOT_OK(ReplaceChild(type.key(), entries.get(), 0));
        if (type.kind() == TypeKind::kMap)
          SLUICE_RETURN_NOT_OK(ReplaceChild(type.value(), entries.get(), 1));
        const auto map = std::make_shared<arrow::MapType>(entries->child_data[0]->type,
                                                          entries->child_data[1]->type);
        entries->type = map->value_type();
        data->child_data[0] = std::move(entries);
        data->type = map;
        return {};
      }
      default: {
        arrow::FieldVector fields;
        for (size_t i = 0; i < type.fields().size(); ++i) {
          SLUICE_RETURN_NOT_OK(ReplaceChild(type.fields()[i].type, data, i));
          fields.push_back(arrow::field(type.fields()[i].name, data->child_data[i]->type));
        }
        data->type = arrow::struct_(std::move(fields));
        return {};
      }
    }
  }

  static Status CheckKeys(const arrow::ArrayData& data) {
    const arrow::MapArray map(data.Copy());
    const int64_t end = map.value_offset(map.length());
    for (int64_t i = map.value_offset(0); i < end; ++i) {
      if (!IsNullMapKey(map, i)) continue;
      return Status::DataError(
          "Parquet does not support null keys in maps. Take such entries out, or write "
          "COALESCE(key, …) into the map.");
    }
    return {};
  }

  Status ReplaceChild(const SqlType& type, arrow::ArrayData* data, size_t index) {
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> child,
                            Prepare(type, arrow::MakeArray(data->child_data[index])));
    data->child_data[index] = child->data();
    return {};
  }

  const ParquetOptions& options_;
  WallClock* const wall_clock_;
  arrow::MemoryPool* const pool_;
};

}  // namespace

Result<std::shared_ptr<arrow::Array>> PrepareForWriting(const Column& column,
                                                        const std::shared_ptr<arrow::Array>& values,
                                                        const ParquetOptions& options,
                                                        WallClock* wall_clock,
                                                        arrow::MemoryPool* pool) {
  auto prepared = Preparer(options, wall_clock, pool).Prepare(column.type, values);
  if (!prepared.ok())
    return prepared.status().WithContext("Cannot write column '" + column.name + "'.");
  return prepared;
}

}  // namespace sluice::formats::parquet_format
