#include "formats/orc/orc_type.h"

#include <string_view>

namespace sluice::formats::orc_format {

size_t ChildCount(const OrcType& type) {
  switch (type.kind) {
    case OrcKind::kList:
      return 1;
    case OrcKind::kMap:
      return 2;
    case OrcKind::kStruct:
      return type.field_names.size();
    case OrcKind::kUnion:
      return type.children.size();
    default:
      return 0;
  }
}

std::string TypeText(const std::vector<OrcType>& types, size_t column) {
  static constexpr std::string_view kNames[] = {"boolean",
                                                "tinyint",
                                                "smallint",
                                                "int",
                                                "bigint",
                                                "float",
                                                "double",
                                                "string",
                                                "binary",
                                                "timestamp",
                                                "array",
                                                "map",
                                                "struct",
                                                "uniontype",
                                                "decimal",
                                                "date",
                                                "varchar",
                                                "char",
                                                "timestamp with local time zone"};
  const OrcType& type = types[column];
  std::string text(kNames[static_cast<size_t>(type.kind)]);
  if (type.kind == OrcKind::kDecimal)
    return text + "(" + std::to_string(type.precision) + "," + std::to_string(type.scale) + ")";
  if (type.kind == OrcKind::kChar || type.kind == OrcKind::kVarchar)
    return text + "(" + std::to_string(type.length) + ")";
  if (ChildCount(type) == 0 && type.kind != OrcKind::kStruct) return text;
  text += "<";
  for (size_t i = 0; i < type.children.size(); ++i) {
    if (i > 0) text += ",";
    if (i < type.field_names.size()) text += type.field_names[i] + ":";
    if (type.children[i] > column && type.children[i] < types.size())
      text += TypeText(types, type.children[i]);
  }
  return text + ">";
}

}  // namespace sluice::formats::orc_format
