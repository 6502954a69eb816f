#include "expr/cast.h"

#include <arrow/api.h>

#include "expr/cast_internal.h"
#include "types/coercion.h"

namespace sluice::expr {

namespace {

bool ElementsRelabel(const SqlType& from, const SqlType& to) {
  switch (from.kind()) {
    case TypeKind::kArray:
    case TypeKind::kMultiset:
      return IsRelabel(from.element(), to.element());
    case TypeKind::kMap:
      return IsRelabel(from.key(), to.key()) && IsRelabel(from.value(), to.value());
    default:
      if (from.fields().size() != to.fields().size()) return false;
      for (size_t i = 0; i < from.fields().size(); ++i) {
        if (!IsRelabel(from.fields()[i].type, to.fields()[i].type)) return false;
      }
      return true;
  }
}

std::shared_ptr<arrow::ArrayData> RelabelData(const arrow::ArrayData& data,
                                              const std::shared_ptr<arrow::DataType>& type) {
  auto copy = std::make_shared<arrow::ArrayData>(data);
  copy->type = type;
  for (size_t i = 0; i < copy->child_data.size(); ++i) {
    copy->child_data[i] =
        RelabelData(*copy->child_data[i], type->field(static_cast<int>(i))->type());
  }
  return copy;
}

}  // namespace

bool IsRelabel(const SqlType& from, const SqlType& to) {
  if (from.WithNullable(true) == to.WithNullable(true)) return true;
  if (from.is_character() && to.kind() == TypeKind::kVarchar) return to.length() >= from.length();
  if (from.is_binary() && to.kind() == TypeKind::kVarbinary) return to.length() >= from.length();
  if (from.kind() != to.kind()) return false;
  return from.is_nested() && ElementsRelabel(from, to);
}

std::shared_ptr<arrow::Array> Relabel(const std::shared_ptr<arrow::Array>& values,
                                      const SqlType& to) {
  const std::shared_ptr<arrow::DataType> type = to.ToArrow();
  // Equality that looks at the names and nullability of nested fields too.
  if (values->type()->Equals(*type, /*check_metadata=*/true)) return values;
  return arrow::MakeArray(RelabelData(*values->data(), type));
}

Result<std::shared_ptr<arrow::Array>> CastArray(const std::shared_ptr<arrow::Array>& values,
                                                const SqlType& from, const SqlType& to,
                                                const CastOptions& options,
                                                const EvalContext& context) {
  const internal::CastJob job{values, from, to, options, context};
  if (from.kind() == TypeKind::kNull) {
    return FromArrow(arrow::MakeArrayOfNull(to.ToArrow(), values->length(), context.pool));
  }
  if (IsRelabel(from, to)) return Relabel(values, to);
  if (to.is_character()) return internal::CastToText(job);
  if (from.is_character()) return internal::CastFromText(job);
  if (from.is_binary() && to.is_binary()) return internal::CastBinaryToBinary(job);
  const bool numbers = (from.is_numeric() || from.kind() == TypeKind::kBoolean) &&
                       (to.is_numeric() || to.kind() == TypeKind::kBoolean);
  if (numbers) return internal::CastNumberToNumber(job);
  if (from.is_datetime() && to.is_datetime()) return internal::CastDatetime(job);
  if (from.is_nested() && from.kind() == to.kind()) return internal::CastNested(job);
  return CheckExplicitCast(from, to).ok()
             ? Status::Unsupported("CAST from " + from.ToString() + " to " + to.ToString())
             : CheckExplicitCast(from, to);
}

}  // namespace sluice::expr
