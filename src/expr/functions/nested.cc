// ARRAY[…], MAP[…], ROW(…), a[i], m[k], r.f.
#include <arrow/api.h>

#include "expr/cast.h"
#include "expr/functions/lists.h"
#include "expr/list_support.h"

namespace sluice::expr {

namespace {

Result<ArrayPtr> ArrayKernel(const KernelCall& call) {
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr values,
                          Interleave(call.arguments, call.row_count, call.context.pool));
  return FixedLists(values, call.row_count, static_cast<int64_t>(call.arguments.size()),
                    call.result_type, call.context.pool);
}

Result<ArrayPtr> MapKernel(const KernelCall& call) {
  std::vector<KernelArgument> keys;
  std::vector<KernelArgument> values;
  for (size_t i = 0; i < call.arguments.size(); i += 2) {
    keys.push_back(call.arguments[i]);
    values.push_back(call.arguments[i + 1]);
  }
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr key_values, Interleave(keys, call.row_count, call.context.pool));
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr item_values,
                          Interleave(values, call.row_count, call.context.pool));
  const ElementEqual equal = EqualIn(call.result_type.key(), key_values, key_values);
  ListResult result(call.row_count, call.context.pool);
  const auto width = static_cast<int64_t>(keys.size());
  for (int64_t row = 0; row < call.row_count; ++row) {
    for (int64_t i = row * width; i < (row + 1) * width; ++i) {
      bool replaced = false;  // Of equal keys the last one stays.
      for (int64_t later = i + 1; later < (row + 1) * width; ++later) {
        replaced = replaced || equal(i, later);
      }
      if (!replaced) result.Add(i);
    }
    result.EndRow();
  }
  return result.FinishMap(key_values, item_values, call.result_type);
}

Result<ArrayPtr> RowKernel(const KernelCall& call) {
  std::vector<std::shared_ptr<arrow::ArrayData>> fields;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(ArrayPtr values,
                            Expand(call.arguments[i], call.row_count, call.context.pool));
    fields.push_back(Relabel(values, call.result_type.fields()[i].type)->data());
  }
  return arrow::MakeArray(arrow::ArrayData::Make(call.result_type.ToArrow(), call.row_count,
                                                 {nullptr}, std::move(fields), 0));
}

/// a[i]; past the end NULL.
Result<ArrayPtr> ArrayItem(const KernelCall& call) {
  const ListOperand array(call.arguments[0]);
  const NumberOperand<int64_t> index(call.arguments[1]);
  std::vector<int32_t> positions(static_cast<size_t>(call.row_count), -1);
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (array.IsNull(row) || index.IsNull(row)) continue;
    const int64_t i = index[row];
    if (i < 1 || i > array.length(row)) continue;
    positions[static_cast<size_t>(row)] = array.begin(row) + static_cast<int32_t>(i - 1);
  }
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr values, Gather(array.values(), positions, call.context.pool));
  return Relabel(values, call.result_type);
}

/// m[k]; a missing key gives NULL.
Result<ArrayPtr> MapItem(const KernelCall& call) {
  const ListOperand map(call.arguments[0]);
  const Operand key(call.arguments[1]);
  const ElementEqual equal =
      EqualIn(call.arguments[0].type->key(), map.values(), call.arguments[1].values);
  std::vector<int32_t> positions(static_cast<size_t>(call.row_count), -1);
  for (int64_t row = 0; row < call.row_count; ++row) {
    if (map.IsNull(row) || key.IsNull(row)) continue;
    for (int32_t i = map.begin(row); i < map.end(row); ++i) {
      if (equal(i, key.index(row))) positions[static_cast<size_t>(row)] = i;
    }
  }
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr values, Gather(map.items(), positions, call.context.pool));
  return Relabel(values, call.result_type);
}

Result<ArrayPtr> ItemKernel(const KernelCall& call) {
  return call.arguments[0].type->kind() == TypeKind::kArray ? ArrayItem(call) : MapItem(call);
}

Result<ArrayPtr> FieldKernel(const KernelCall& call) {
  const int32_t index = NumberOperand<int32_t>(call.arguments[1])[0];
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr rows,
                          Expand(call.arguments[0], call.row_count, call.context.pool));
  // A NULL row has NULL fields.
  SLUICE_ASSIGN_ARROW(
      ArrayPtr field,
      static_cast<const arrow::StructArray&>(*rows).GetFlattenedField(index, call.context.pool));
  return Relabel(field, call.result_type);
}

ScalarFunction Operator(std::string_view name, Kernel kernel) {
  return {.name = name, .group = "nested", .kernel = kernel, .is_operator = true};
}

}  // namespace

std::span<const ScalarFunction> NestedOperators() {
  static const ScalarFunction kFunctions[] = {
      Operator("ARRAY", &ArrayKernel), Operator("MAP", &MapKernel),     Operator("ROW", &RowKernel),
      Operator("ITEM", &ItemKernel),   Operator("FIELD", &FieldKernel),
  };
  return kFunctions;
}

}  // namespace sluice::expr
