#include "formats/avro/avro_file_operations.h"

#include <algorithm>

#include "formats/avro/avro_schema.h"
#include "formats/avro/container.h"
#include "formats/column_paths.h"

namespace sluice::formats {
namespace {

using avro::Kind;
using avro::Type;

/// `around`: the records that the type is in, as a record may contain itself.
void Append(const std::string& path, const Type& type, std::vector<const Type*>* around,
            std::vector<std::string>* paths) {
  if (type.kind == Kind::kRecord) {
    if (std::find(around->begin(), around->end(), &type) != around->end()) return;
    around->push_back(&type);
    for (const avro::Field& field : type.fields)
      Append(ColumnPath(path, field.name), *field.type, around, paths);
    around->pop_back();
  } else if (type.kind == Kind::kUnion) {
    for (const Type* branch : type.branches) Append(path, *branch, around, paths);
  } else if (type.element != nullptr) {
    Append(path, *type.element, around, paths);
  } else if (type.kind != Kind::kNull) {
    paths->push_back(path);
  }
}

Result<std::vector<std::string>> ColumnPathsOf(const FormatOptions&, const Schema&,
                                               std::shared_ptr<arrow::io::RandomAccessFile> input,
                                               const FormatContext&) {
  SLUICE_ASSIGN_OR_RETURN(const auto container, avro::Container::Open(std::move(input)));
  SLUICE_ASSIGN_OR_RETURN(const auto schema,
                          avro::AvroSchema::Parse(container->header().schema_json));
  std::vector<const Type*> around;
  std::vector<std::string> paths;
  Append("", schema.root(), &around, &paths);
  return paths;
}

}  // namespace

const FileOperations kAvroFileOperations{.column_paths = &ColumnPathsOf};

}  // namespace sluice::formats
