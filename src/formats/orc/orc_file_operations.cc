#include "formats/orc/orc_file_operations.h"

#include "formats/column_paths.h"
#include "formats/orc/orc_file.h"
#include "formats/orc/orc_options.h"
#include "formats/orc/orc_schema.h"

namespace sluice::formats {
namespace {

using orc_format::OrcKind;
using orc_format::OrcType;

void Append(const std::string& path, const std::vector<OrcType>& types, size_t column,
            std::vector<std::string>* paths) {
  const OrcType& type = types[column];
  if (type.children.empty()) return paths->push_back(path);
  for (size_t i = 0; i < type.children.size(); ++i) {
    Append(type.kind == OrcKind::kStruct ? ColumnPath(path, type.field_names[i]) : path, types,
           type.children[i], paths);
  }
}

Result<std::vector<std::string>> ColumnPathsOf(const FormatOptions& options, const Schema& table,
                                               std::shared_ptr<arrow::io::RandomAccessFile> input,
                                               const FormatContext& context) {
  SLUICE_ASSIGN_OR_RETURN(const auto parsed, orc_format::ParseOptions(options));
  SLUICE_ASSIGN_OR_RETURN(
      const auto file, orc_format::OrcFile::Open(parsed, ReadSchema{}, std::move(input), context));
  const std::vector<OrcType>& types = static_cast<const orc_format::OrcFile&>(*file).types();
  const OrcType& root = types.front();
  // Columns of a file without names are the table's, by their places.
  std::vector<std::string> names = root.field_names;
  for (int i = 0; i < table.column_count(); ++i) {
    const int place = orc_format::FindField(table, i, root);
    if (place >= 0) names[static_cast<size_t>(place)] = table.column(i).name;
  }
  std::vector<std::string> paths;
  for (size_t i = 0; i < root.children.size(); ++i)
    Append(names[i], types, root.children[i], &paths);
  return paths;
}

}  // namespace

const FileOperations kOrcFileOperations{.column_paths = &ColumnPathsOf};

}  // namespace sluice::formats
