#include "formats/parquet/column_plan.h"

#include <arrow/type.h>

#include "formats/parquet/page_column.h"

namespace sluice::formats::parquet_format {

namespace {

// Leaves of top-level field `index`: [first, first + count).
void FindLeaves(const ::parquet::SchemaDescriptor& file, int index, int* first, int* count) {
  const ::parquet::schema::Node* const root = file.group_node()->field(index).get();
  *first = -1;
  *count = 0;
  for (int leaf = 0; leaf < file.num_columns(); ++leaf) {
    if (file.GetColumnRoot(leaf) != root) continue;
    if (*first < 0) *first = leaf;
    ++*count;
  }
}

std::string FileTypeText(const ::parquet::schema::Node& node, const arrow::DataType& arrow_type) {
  if (node.is_group()) return arrow_type.ToString();
  const auto& primitive = static_cast<const ::parquet::schema::PrimitiveNode&>(node);
  std::string text = ::parquet::TypeToString(primitive.physical_type());
  const auto& logical = primitive.logical_type();
  if (logical != nullptr && !logical->is_none()) text += " (" + logical->ToString() + ")";
  return text;
}

Status Mismatch(const std::string& column, const std::string& file_type, const SqlType& type) {
  return Status::DataError("Column '" + column + "' cannot be read: the file has " + file_type +
                           ", the table declares " + type.ToString() +
                           " (Unexpected type: " + file_type +
                           "). Declare the column with a type that holds the file's values.");
}

}  // namespace

bool IsUuid(const ::parquet::ColumnDescriptor& leaf) {
  return leaf.logical_type() != nullptr && leaf.logical_type()->is_UUID();
}

int FindField(const ::parquet::SchemaDescriptor& file, std::string_view name) {
  for (int i = 0; i < file.group_node()->field_count(); ++i) {
    if (file.group_node()->field(i)->name() == name) return i;
  }
  return -1;
}

Result<ReadPlan> MakeReadPlan(const ReadSchema& schema, const ::parquet::SchemaDescriptor& file,
                              const arrow::Schema& file_columns) {
  ReadPlan plan;
  for (const int index : schema.projection) {
    const Column& column = schema.physical.column(index);
    ColumnPlan& planned = plan.columns.emplace_back();
    planned.name = column.name;
    planned.type = column.type;
    const int field = FindField(file, column.name);
    if (field < 0) {
      if (column.type.nullable()) continue;
      return Status::DataError(
          "Column '" + column.name + "' of type " + column.type.ToString() +
          " is not in the file. Declare it without NOT NULL to read it as NULL.");
    }
    FindLeaves(file, field, &planned.first_leaf, &planned.leaf_count);
    const ::parquet::schema::Node& node = *file.group_node()->field(field);
    const ::parquet::ColumnDescriptor& leaf = *file.Column(planned.first_leaf);
    const arrow::DataType& arrow_type = *file_columns.field(field)->type();
    if (!CanRead(arrow_type, column.type))
      return Mismatch(column.name, FileTypeText(node, arrow_type), column.type);
    const bool flat = node.is_primitive() && leaf.max_repetition_level() == 0;
    planned.how = ColumnPlan::How::kArrow;
    if (flat) {
      if (leaf.physical_type() == ::parquet::Type::INT96) planned.how = ColumnPlan::How::kInt96;
      if (HasPlainNumbers(leaf, arrow_type)) {
        planned.how = ColumnPlan::How::kNumbers;
        planned.file_type = file_columns.field(field)->type();
      }
    }
    for (int i = planned.first_leaf; i < planned.first_leaf + planned.leaf_count; ++i) {
      if (file.Column(i)->physical_type() == ::parquet::Type::INT96)
        planned.int96_leaves.push_back(i);
      if (IsUuid(*file.Column(i))) planned.uuid_leaves.push_back(i);
    }
  }
  return plan;
}

}  // namespace sluice::formats::parquet_format
