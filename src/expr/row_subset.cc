#include "expr/row_subset.h"

#include <arrow/api.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>

#include "types/arrow_status.h"

namespace sluice::expr {

namespace {

void Keep(RowSelection* selection, const RowSelection& from, int64_t position) {
  if (selection == nullptr) return;
  selection->indices.push_back(from.all ? static_cast<int32_t>(position)
                                        : from.indices[static_cast<size_t>(position)]);
}

void Seal(RowSelection* selection, const RowSelection& from) {
  if (selection == nullptr) return;
  selection->count = static_cast<int64_t>(selection->indices.size());
  selection->all = from.all && selection->count == from.count;
  if (selection->all) selection->indices.clear();
}

std::shared_ptr<arrow::Array> IndexArray(const std::vector<int32_t>& indices) {
  return std::make_shared<arrow::Int32Array>(static_cast<int64_t>(indices.size()),
                                             arrow::Buffer::Wrap(indices));
}

arrow::compute::TakeOptions Unchecked() { return arrow::compute::TakeOptions::NoBoundsCheck(); }

}  // namespace

void SplitRows(const RowSelection& rows, const arrow::Datum& condition, RowSelection* taken,
               RowSelection* rest) {
  if (condition.is_scalar()) {
    const auto& scalar = static_cast<const arrow::BooleanScalar&>(*condition.scalar());
    RowSelection none{false, {}, 0};
    const bool is_true = scalar.is_valid && scalar.value;
    RowSelection copy = rows;  // `taken` or `rest` may be `rows` itself.
    if (taken != nullptr) *taken = is_true ? copy : none;
    if (rest != nullptr) *rest = is_true ? none : copy;
    return;
  }
  const arrow::BooleanArray bits(condition.array());
  RowSelection yes{false, {}, 0};
  RowSelection no{false, {}, 0};
  for (int64_t i = 0; i < rows.count; ++i) {
    const bool is_true = bits.IsValid(i) && bits.Value(i);
    Keep(is_true ? &yes : &no, rows, i);
  }
  Seal(&yes, rows);
  Seal(&no, rows);
  if (taken != nullptr) *taken = std::move(yes);
  if (rest != nullptr) *rest = std::move(no);
}

Result<arrow::Datum> EvaluateSelected(const Expr& expression, const arrow::RecordBatch& rows,
                                      const RowSelection& selection, const EvalContext& context) {
  if (selection.all || expression.kind() == ExprKind::kLiteral) {
    return expression.Evaluate(rows, context);
  }
  arrow::compute::ExecContext execution(context.pool);
  const std::shared_ptr<arrow::Array> indices = IndexArray(selection.indices);
  // Columns the expression does not use only have to be there, with the right length.
  const auto absent = std::make_shared<arrow::NullArray>(selection.count);
  arrow::ArrayVector columns(static_cast<size_t>(rows.num_columns()), absent);
  arrow::FieldVector fields(columns.size(), arrow::field("", arrow::null()));
  for (const int index : UsedColumns(expression)) {
    if (index >= rows.num_columns()) return Status::Internal("an unknown column was asked for");
    SLUICE_ASSIGN_ARROW(arrow::Datum taken,
                        arrow::compute::Take(rows.column(index), indices, Unchecked(), &execution));
    columns[static_cast<size_t>(index)] = taken.make_array();
    fields[static_cast<size_t>(index)] = arrow::field("", rows.column(index)->type());
  }
  const auto subset = arrow::RecordBatch::Make(arrow::schema(std::move(fields)), selection.count,
                                               std::move(columns));
  return expression.Evaluate(*subset, context);
}

Result<std::shared_ptr<arrow::Array>> TakeValues(const std::shared_ptr<arrow::Array>& values,
                                                 const std::vector<int32_t>& positions,
                                                 arrow::MemoryPool* pool) {
  arrow::compute::ExecContext execution(pool);
  SLUICE_ASSIGN_ARROW(
      arrow::Datum taken,
      arrow::compute::Take(arrow::Datum(values), IndexArray(positions), Unchecked(), &execution));
  return taken.make_array();
}

Result<arrow::Datum> JoinParts(std::vector<ResultPart> parts, const SqlType& type,
                               int64_t row_count, arrow::MemoryPool* pool) {
  std::erase_if(parts, [](const ResultPart& part) { return part.rows.count == 0; });
  if (parts.empty()) {
    SLUICE_ASSIGN_ARROW(auto empty, arrow::MakeArrayOfNull(type.ToArrow(), row_count, pool));
    return arrow::Datum(std::move(empty));
  }
  if (parts.size() == 1 && parts[0].rows.all) return parts[0].values;
  // One array of all values and, for each row, the place of its value in there.
  arrow::ArrayVector pieces;
  std::vector<int32_t> place(static_cast<size_t>(row_count), 0);
  int32_t base = 0;
  for (const ResultPart& part : parts) {
    const bool scalar = part.values.is_scalar();
    if (scalar) {
      SLUICE_ASSIGN_ARROW(auto one, arrow::MakeArrayFromScalar(*part.values.scalar(), 1, pool));
      pieces.push_back(std::move(one));
    } else {
      pieces.push_back(part.values.make_array());
    }
    for (int64_t i = 0; i < part.rows.count; ++i) {
      const int64_t row = part.rows.all ? i : part.rows.indices[static_cast<size_t>(i)];
      place[static_cast<size_t>(row)] = base + (scalar ? 0 : static_cast<int32_t>(i));
    }
    base += static_cast<int32_t>(pieces.back()->length());
  }
  SLUICE_ASSIGN_ARROW(auto values, arrow::Concatenate(pieces, pool));
  arrow::compute::ExecContext execution(pool);
  return FromArrow(
      arrow::compute::Take(arrow::Datum(values), IndexArray(place), Unchecked(), &execution));
}

}  // namespace sluice::expr
