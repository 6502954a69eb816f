#include "formats/parquet/read_values.h"

#include <algorithm>

#include <arrow/api.h>
#include <arrow/compute/api.h>
#include <arrow/extension_type.h>

#include "common/text.h"
#include "types/arrow_status.h"

namespace sluice::formats::parquet_format {

namespace {

using arrow::Type;

bool IsAnyOf(Type::type id, std::initializer_list<Type::type> ids) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool IsAnyList(Type::type id) {
  return IsAnyOf(id, {Type::LIST, Type::LARGE_LIST, Type::FIXED_SIZE_LIST});
}

/// Of at most 32 bits in the file. The sign does not matter: each value is judged.
bool IsSmallInteger(Type::type id) {
  return arrow::is_integer(id) && id != Type::INT64 && id != Type::UINT64;
}

bool CanReadRow(const arrow::DataType& file_type, const SqlType& type) {
  if (file_type.id() != Type::STRUCT) return false;
  const auto& fields = static_cast<const arrow::StructType&>(file_type);
  for (const RowField& field : type.fields()) {
    const int index = fields.GetFieldIndex(field.name);
    if (index < 0 ? !field.type.nullable() : !CanRead(*fields.field(index)->type(), field.type))
      return false;
  }
  return true;
}

int LeafCountOf(const arrow::DataType& type) {
  if (type.num_fields() == 0) return 1;
  int count = 0;
  for (const auto& field : type.fields()) count += LeafCountOf(*field->type());
  return count;
}

// The traits of a child with `before` leaves of its siblings in front of it.
SourceTraits Below(const SourceTraits& traits, int before) {
  SourceTraits below = traits;
  below.first_leaf += before;
  return below;
}

// INT96 values are taken one for each valid element: a batch must hold its own elements only.
Status CheckExact(const arrow::Array& list, const SourceTraits& traits) {
  if (traits.int96 == nullptr) return {};
  const auto& lists = static_cast<const arrow::ListArray&>(list);
  const bool exact =
      lists.value_offset(0) == 0 && lists.value_offset(lists.length()) == lists.values()->length();
  return exact ? Status() : Status::Internal("A batch of lists shares its elements with others.");
}

bool CanReadMap(const arrow::DataType& file_type, const SqlType& key, const SqlType& value) {
  if (file_type.id() != Type::MAP) return false;
  const auto& map = static_cast<const arrow::MapType&>(file_type);
  return CanRead(*map.key_type(), key) && CanRead(*map.item_type(), value);
}

}  // namespace

bool CanRead(const arrow::DataType& file_type, const SqlType& type) {
  const Type::type id = file_type.id();
  if (id == Type::DICTIONARY)
    return CanRead(*static_cast<const arrow::DictionaryType&>(file_type).value_type(), type);
  if (id == Type::EXTENSION)
    return CanRead(*static_cast<const arrow::ExtensionType&>(file_type).storage_type(), type);
  if (id == Type::NA) return type.nullable();
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return id == Type::BOOL;
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
      return IsSmallInteger(id);
    case TypeKind::kBigint:
      return arrow::is_integer(id);
    case TypeKind::kFloat:
      return IsAnyOf(id, {Type::FLOAT, Type::HALF_FLOAT});
    case TypeKind::kDouble:
      return IsSmallInteger(id) || IsAnyOf(id, {Type::DOUBLE, Type::FLOAT, Type::HALF_FLOAT});
    case TypeKind::kDecimal:
      return arrow::is_integer(id) ||
             IsAnyOf(id, {Type::DECIMAL32, Type::DECIMAL64, Type::DECIMAL128, Type::DECIMAL256});
    case TypeKind::kChar:
    case TypeKind::kVarchar:
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return IsAnyOf(id, {Type::STRING, Type::LARGE_STRING, Type::STRING_VIEW, Type::BINARY,
                          Type::LARGE_BINARY, Type::BINARY_VIEW, Type::FIXED_SIZE_BINARY});
    case TypeKind::kDate:
      return IsAnyOf(id, {Type::DATE32, Type::INT32});
    case TypeKind::kTime:
      return IsAnyOf(id, {Type::TIME32, Type::TIME64, Type::INT32});
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return id == Type::TIMESTAMP;
    case TypeKind::kArray:
      return IsAnyList(id) && CanRead(*file_type.field(0)->type(), type.element());
    case TypeKind::kMap:
      return CanReadMap(file_type, type.key().NotNull(), type.value());
    case TypeKind::kMultiset:
      return CanReadMap(file_type, type.element().NotNull(), SqlType::Int());
    case TypeKind::kRow:
      return CanReadRow(file_type, type);
    default:
      return false;
  }
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::Convert(const ArrayPtr& values,
                                                             const SqlType& type,
                                                             const SourceTraits& traits,
                                                             int64_t* bad_row) {
  bad_row_ = -1;
  auto converted = ConvertInner(values, type, traits);
  *bad_row = bad_row_;
  return converted;
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::ConvertInner(const ArrayPtr& values,
                                                                  const SqlType& type,
                                                                  const SourceTraits& traits) {
  switch (values->type_id()) {
    case Type::DICTIONARY: {
      SLUICE_ASSIGN_OR_RETURN(
          const ArrayPtr plain,
          Cast(values, static_cast<const arrow::DictionaryType&>(*values->type()).value_type()));
      return ConvertInner(plain, type, traits);
    }
    case Type::EXTENSION:
      return ConvertInner(static_cast<const arrow::ExtensionArray&>(*values).storage(), type,
                          traits);
    case Type::NA:
      return FromArrow(arrow::MakeArrayOfNull(type.ToArrow(), values->length(), pool_));
    default:
      break;
  }
  switch (type.kind()) {
    case TypeKind::kArray:
      return ConvertList(values, type, traits);
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      return ConvertMap(values, type, traits);
    case TypeKind::kRow:
      return ConvertRow(values, type, traits);
    default:
      return ConvertScalars(values, type, traits);
  }
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::ConvertScalars(const ArrayPtr& values,
                                                                    const SqlType& type,
                                                                    const SourceTraits& traits) {
  switch (type.kind()) {
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return ToText(values, traits);
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      if (values->type_id() == Type::STRING) return FromArrow(values->View(arrow::binary()));
      return Cast(values, arrow::binary());
    case TypeKind::kDate:
      if (values->type_id() == Type::INT32) return FromArrow(values->View(arrow::date32()));
      return values;
    case TypeKind::kTime:
      return ToTime(values, type);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return ToTimestamps(values, type, traits);
    case TypeKind::kDecimal:
      return ToDecimal(values, type);
    default:
      return Cast(values, type.ToArrow());
  }
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::ToTimestamps(const ArrayPtr& values,
                                                                  const SqlType& type,
                                                                  const SourceTraits& traits) {
  const bool wall_time = type.kind() == TypeKind::kTimestamp;
  if (traits.int96 == nullptr || !traits.int96->Has(traits.first_leaf)) {
    const bool instants =
        !static_cast<const arrow::TimestampType&>(*values->type()).timezone().empty();
    return ConvertTimestamps(*values, {type, instants && wall_time}, wall_clock_, pool_);
  }
  SLUICE_ASSIGN_OR_RETURN(
      const std::vector<::parquet::Int96> raw,
      traits.int96->Take(traits.first_leaf, values->length() - values->null_count()));
  std::vector<int16_t> levels(static_cast<size_t>(values->length()));
  for (int64_t row = 0; row < values->length(); ++row)
    levels[static_cast<size_t>(row)] = values->IsValid(row) ? 1 : 0;
  return Int96ToTimestamps(raw.data(), levels.data(), values->length(), {type, wall_time},
                           wall_clock_, pool_);
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::ToDecimal(const ArrayPtr& values,
                                                               const SqlType& type) {
  ArrayPtr decimals = values;
  // Arrow judges a cast from integers by their type; by way of a decimal each value is judged.
  if (arrow::is_integer(values->type_id())) {
    constexpr int32_t kMostDigits = 20;  // Of 64 bits without a sign.
    SLUICE_ASSIGN_OR_RETURN(decimals, Cast(values, arrow::decimal128(kMostDigits, 0)));
  }
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr cast, Cast(decimals, type.ToArrow()));
  // The bytes of a damaged file hold more digits than its schema promises.
  const auto& numbers = static_cast<const arrow::Decimal128Array&>(*cast);
  const auto most = arrow::Decimal128::GetMaxValue(type.precision());
  for (int64_t row = 0; row < numbers.length(); ++row) {
    if (numbers.IsNull(row)) continue;
    const arrow::Decimal128 number(numbers.GetValue(row));
    if (number <= most && -most <= number) continue;
    bad_row_ = row;
    return Status::DataError("The value " + number.ToString(type.scale()) + " does not fit " +
                             type.WithNullable(true).ToString());
  }
  return cast;
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::Cast(const ArrayPtr& values,
                                                          std::shared_ptr<arrow::DataType> type) {
  if (values->type()->Equals(*type)) return values;
  arrow::compute::CastOptions options = arrow::compute::CastOptions::Safe(type);
  options.allow_time_truncate = true;
  arrow::compute::ExecContext context(pool_);
  context.set_use_threads(false);
  auto cast = arrow::compute::Cast(*values, type, options, &context);
  if (!cast.ok()) return Status::DataError(cast.status().message());
  return std::move(cast).ValueUnsafe();
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::ToTime(const ArrayPtr& values,
                                                            const SqlType& type) {
  if (values->type_id() == Type::INT32) return FromArrow(values->View(type.ToArrow()));
  return Cast(values, type.ToArrow());
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::ToText(const ArrayPtr& values,
                                                            const SourceTraits& traits) {
  ArrayPtr bytes = values;
  const bool uuid = std::find(traits.uuid_leaves.begin(), traits.uuid_leaves.end(),
                              traits.first_leaf) != traits.uuid_leaves.end();
  if (uuid && values->type_id() == Type::FIXED_SIZE_BINARY) {
    arrow::StringBuilder builder(pool_);
    const auto& fixed = static_cast<const arrow::FixedSizeBinaryArray&>(*values);
    for (int64_t row = 0; row < fixed.length(); ++row) {
      if (fixed.IsNull(row)) {
        SLUICE_RETURN_ARROW(builder.AppendNull());
        continue;
      }
      std::string text;
      for (int i = 0; i < fixed.byte_width(); ++i) {
        constexpr char kHex[] = "0123456789abcdef";
        if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
        text.push_back(kHex[fixed.GetValue(row)[i] >> 4]);
        text.push_back(kHex[fixed.GetValue(row)[i] & 15]);
      }
      SLUICE_RETURN_ARROW(builder.Append(text));
    }
    return FromArrow(builder.Finish());
  }
  if (values->type_id() != Type::STRING) {
    if (values->type_id() != Type::BINARY) {
      SLUICE_ASSIGN_OR_RETURN(bytes, Cast(values, arrow::binary()));
    }
    SLUICE_ASSIGN_ARROW(bytes, bytes->View(arrow::utf8()));
  }
  const auto& strings = static_cast<const arrow::StringArray&>(*bytes);
  if (strings.ValidateUTF8().ok()) return bytes;
  for (int64_t row = 0; row < strings.length(); ++row) {
    if (strings.IsNull(row) || IsValidUtf8(strings.GetView(row))) continue;
    bad_row_ = row;
    return Status::DataError("The text is not UTF-8: '" + Printable(strings.GetView(row), 60) +
                             "'. Declare the column as BYTES to read it as it is");
  }
  return bytes;
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::ConvertList(const ArrayPtr& values,
                                                                 const SqlType& type,
                                                                 const SourceTraits& traits) {
  ArrayPtr list = values;
  if (list->type_id() != Type::LIST) {
    SLUICE_ASSIGN_OR_RETURN(list, Cast(values, arrow::list(values->type()->field(0)->type())));
  }
  SLUICE_RETURN_NOT_OK(CheckExact(*list, traits));
  const auto data = list->data()->Copy();
  SLUICE_ASSIGN_OR_RETURN(
      const ArrayPtr elements,
      ConvertInner(arrow::MakeArray(data->child_data[0]), type.element(), traits));
  data->type = type.ToArrow();
  data->child_data[0] = elements->data();
  return arrow::MakeArray(data);
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::ConvertMap(const ArrayPtr& values,
                                                                const SqlType& type,
                                                                const SourceTraits& traits) {
  SLUICE_RETURN_NOT_OK(CheckExact(*values, traits));
  const auto data = values->data()->Copy();
  const auto entries = data->child_data[0]->Copy();
  const auto target = std::static_pointer_cast<arrow::MapType>(type.ToArrow());
  const SqlType item_type = type.kind() == TypeKind::kMap ? type.value() : SqlType::Int().NotNull();
  SLUICE_ASSIGN_OR_RETURN(
      const ArrayPtr keys,
      ConvertInner(arrow::MakeArray(entries->child_data[0]), type.key(), traits));
  SLUICE_ASSIGN_OR_RETURN(const ArrayPtr items,
                          ConvertInner(arrow::MakeArray(entries->child_data[1]), item_type,
                                       Below(traits, LeafCountOf(*entries->child_data[0]->type))));
  entries->type = target->value_type();
  entries->child_data = {keys->data(), items->data()};
  data->type = target;
  data->child_data[0] = entries;
  return arrow::MakeArray(data);
}

Result<std::shared_ptr<arrow::Array>> ReadConverter::ConvertRow(const ArrayPtr& values,
                                                                const SqlType& type,
                                                                const SourceTraits& traits) {
  const auto data = values->data()->Copy();
  const auto& source = static_cast<const arrow::StructType&>(*values->type());
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  for (const RowField& field : type.fields()) {
    const int index = source.GetFieldIndex(field.name);
    if (index < 0) {
      SLUICE_ASSIGN_ARROW(
          const ArrayPtr nulls,
          arrow::MakeArrayOfNull(field.type.ToArrow(), data->offset + data->length, pool_));
      children.push_back(nulls->data());
      continue;
    }
    int before = 0;
    for (int i = 0; i < index; ++i) before += LeafCountOf(*source.field(i)->type());
    auto child = ConvertInner(arrow::MakeArray(data->child_data[static_cast<size_t>(index)]),
                              field.type, Below(traits, before));
    if (!child.ok()) return child.status().WithContext("In field '" + field.name + "':");
    children.push_back((*child)->data());
  }
  data->type = type.ToArrow();
  data->child_data = std::move(children);
  return arrow::MakeArray(data);
}

}  // namespace sluice::formats::parquet_format
