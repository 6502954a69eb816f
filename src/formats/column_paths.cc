#include "formats/column_paths.h"

namespace sluice::formats {
namespace {

void Append(const std::string& path, const arrow::DataType& type, std::vector<std::string>* paths) {
  if (type.num_fields() == 0) return paths->push_back(path);
  const bool named = type.id() == arrow::Type::STRUCT;
  const bool entries = type.id() == arrow::Type::MAP;  // Of a struct of key and value.
  for (const auto& field : type.fields()) {
    if (entries) {
      for (const auto& part : field->type()->fields()) Append(path, *part->type(), paths);
    } else {
      Append(named ? ColumnPath(path, field->name()) : path, *field->type(), paths);
    }
  }
}

}  // namespace

std::string ColumnPath(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "." + name;
}

std::vector<std::string> ColumnPaths(const arrow::Schema& schema) {
  std::vector<std::string> paths;
  for (const auto& field : schema.fields()) Append(field->name(), *field->type(), &paths);
  return paths;
}

}  // namespace sluice::formats
