#include "formats/avro/avro_schema.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "common/text.h"

namespace sluice::formats::avro {
namespace {

using Json = nlohmann::json;

// Nesting that no real schema has; keeps the stack bounded for broken ones.
constexpr int kMaxDepth = 200;
constexpr int64_t kMaxFixedBytes = int64_t{1} << 30;
constexpr int64_t kMinBytesCap = int64_t{1} << 40;

constexpr std::pair<std::string_view, Kind> kPrimitives[] = {
    {"null", Kind::kNull},   {"boolean", Kind::kBoolean}, {"int", Kind::kInt},
    {"long", Kind::kLong},   {"float", Kind::kFloat},     {"double", Kind::kDouble},
    {"bytes", Kind::kBytes}, {"string", Kind::kString},
};

struct LogicalEntry {
  std::string_view name;
  Logical logical;
  Kind kind;
};
constexpr LogicalEntry kLogicals[] = {
    {"decimal", Logical::kDecimal, Kind::kBytes},
    {"decimal", Logical::kDecimal, Kind::kFixed},
    {"uuid", Logical::kUuid, Kind::kString},
    {"uuid", Logical::kUuid, Kind::kFixed},
    {"date", Logical::kDate, Kind::kInt},
    {"time-millis", Logical::kTimeMillis, Kind::kInt},
    {"time-micros", Logical::kTimeMicros, Kind::kLong},
    {"timestamp-millis", Logical::kTimestampMillis, Kind::kLong},
    {"timestamp-micros", Logical::kTimestampMicros, Kind::kLong},
    {"timestamp-nanos", Logical::kTimestampNanos, Kind::kLong},
    {"local-timestamp-millis", Logical::kLocalTimestampMillis, Kind::kLong},
    {"local-timestamp-micros", Logical::kLocalTimestampMicros, Kind::kLong},
    {"local-timestamp-nanos", Logical::kLocalTimestampNanos, Kind::kLong},
    {"duration", Logical::kDuration, Kind::kFixed},
};

Status Invalid(const std::string& what) {
  return Status::DataError("The Avro schema is not valid: " + what);
}

/// The text of a member; null when it is missing or no text.
const std::string* Text(const Json& node, const char* key) {
  const auto it = node.find(key);
  return it != node.end() && it->is_string() ? &it->get_ref<const std::string&>() : nullptr;
}

int64_t Integer(const Json& node, const char* key, int64_t missing) {
  const auto it = node.find(key);
  if (it == node.end() || !it->is_number_integer()) return missing;
  if (it->is_number_unsigned() && it->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return INT64_MAX;
  }
  return it->get<int64_t>();
}

std::string NamespaceOf(const std::string& full_name) {
  const size_t dot = full_name.rfind('.');
  return dot == std::string::npos ? "" : full_name.substr(0, dot);
}

std::string Qualified(const std::string& name, const std::string& space) {
  if (space.empty() || name.find('.') != std::string::npos) return name;
  return space + "." + name;
}

class Parser {
 public:
  explicit Parser(std::vector<std::unique_ptr<Type>>* types) : types_(*types) {}

  Result<const Type*> Parse(const Json& node, const std::string& space, int depth) {
    if (depth > kMaxDepth) {
      return Invalid("it is nested deeper than " + std::to_string(kMaxDepth) + " levels.");
    }
    if (node.is_string()) return Reference(node.get_ref<const std::string&>(), space);
    if (node.is_array()) return Union(node, space, depth);
    if (!node.is_object()) return Invalid("a type is " + Printable(node.dump(), 60) + ".");
    const auto type = node.find("type");
    if (type == node.end()) return Invalid("a type has no \"type\".");
    if (!type->is_string()) return Parse(*type, space, depth + 1);
    const std::string& kind = type->get_ref<const std::string&>();
    if (kind == "record" || kind == "error") return Record(node, space, depth);
    if (kind == "enum") return Enum(node, space);
    if (kind == "fixed") return Fixed(node, space);
    if (kind == "array") return Container(node, Kind::kArray, "items", space, depth);
    if (kind == "map") return Container(node, Kind::kMap, "values", space, depth);
    for (const auto& [name, primitive] : kPrimitives) {
      if (kind != name) continue;
      Type* made = Add(primitive);
      ReadLogical(node, made);
      return made;
    }
    return Reference(kind, space);
  }

  /// Sets min_bytes of all types.
  Status Measure() {
    for (const auto& type : types_) SLUICE_RETURN_NOT_OK(Measure(type.get(), 0));
    return {};
  }

 private:
  Type* Add(Kind kind) {
    types_.push_back(std::make_unique<Type>());
    types_.back()->kind = kind;
    return types_.back().get();
  }

  Result<const Type*> Reference(const std::string& name, const std::string& space) {
    for (const auto& [primitive, kind] : kPrimitives) {
      if (name == primitive) return Add(kind);
    }
    auto found = named_.find(Qualified(name, space));
    // Older writers name a type of no namespace from within one.
    if (found == named_.end()) found = named_.find(name);
    if (found != named_.end()) return found->second;
    return Invalid("the type '" + Printable(name) + "' is not defined.");
  }

  Result<const Type*> Union(const Json& node, const std::string& space, int depth) {
    Type* made = Add(Kind::kUnion);
    for (const Json& branch : node) {
      SLUICE_ASSIGN_OR_RETURN(const Type* type, Parse(branch, space, depth + 1));
      if (type->kind == Kind::kUnion) return Invalid("a union is a direct branch of a union.");
      made->branches.push_back(type);
    }
    if (made->branches.empty()) return Invalid("a union has no branches.");
    return made;
  }

  Result<const Type*> Container(const Json& node, Kind kind, const char* key,
                                const std::string& space, int depth) {
    const auto element = node.find(key);
    if (element == node.end()) {
      return Invalid(std::string(kind == Kind::kArray ? "an array" : "a map") + " has no \"" + key +
                     "\".");
    }
    Type* made = Add(kind);
    SLUICE_ASSIGN_OR_RETURN(made->element, Parse(*element, space, depth + 1));
    return made;
  }

  /// A named type under its full name and its aliases.
  Result<Type*> Named(const Json& node, Kind kind, const std::string& space) {
    const std::string* name = Text(node, "name");
    if (name == nullptr || name->empty()) return Invalid("a named type has no \"name\".");
    const std::string* own_space = Text(node, "namespace");
    Type* made = Add(kind);
    made->name = Qualified(*name, own_space != nullptr ? *own_space : space);
    if (!named_.emplace(made->name, made).second) {
      return Invalid("the type '" + Printable(made->name) + "' is defined twice.");
    }
    return made;
  }

  Result<const Type*> Record(const Json& node, const std::string& space, int depth) {
    SLUICE_ASSIGN_OR_RETURN(Type * made, Named(node, Kind::kRecord, space));
    const auto fields = node.find("fields");
    if (fields == node.end() || !fields->is_array()) {
      return Invalid("the record '" + Printable(made->name) + "' has no \"fields\".");
    }
    std::set<std::string> names;
    const std::string inner = NamespaceOf(made->name);
    for (const Json& entry : *fields) {
      const std::string* name = entry.is_object() ? Text(entry, "name") : nullptr;
      if (name == nullptr || entry.find("type") == entry.end()) {
        return Invalid("a field of the record '" + Printable(made->name) +
                       "' has no \"name\" or no \"type\".");
      }
      if (!names.insert(*name).second) {
        return Invalid("the record '" + Printable(made->name) + "' has the field '" +
                       Printable(*name) + "' twice.");
      }
      Field field{.name = *name, .aliases = Aliases(entry)};
      SLUICE_ASSIGN_OR_RETURN(field.type, Parse(entry["type"], inner, depth + 1));
      made->fields.push_back(std::move(field));
    }
    return made;
  }

  static std::vector<std::string> Aliases(const Json& entry) {
    std::vector<std::string> aliases;
    const auto list = entry.find("aliases");
    if (list == entry.end() || !list->is_array()) return aliases;
    for (const Json& alias : *list) {
      if (alias.is_string()) aliases.push_back(alias.get<std::string>());
    }
    return aliases;
  }

  Result<const Type*> Enum(const Json& node, const std::string& space) {
    SLUICE_ASSIGN_OR_RETURN(Type * made, Named(node, Kind::kEnum, space));
    const auto symbols = node.find("symbols");
    if (symbols == node.end() || !symbols->is_array()) {
      return Invalid("the enum '" + Printable(made->name) + "' has no \"symbols\".");
    }
    for (const Json& symbol : *symbols) {
      if (!symbol.is_string()) {
        return Invalid("a symbol of the enum '" + Printable(made->name) + "' is no text.");
      }
      made->symbols.push_back(symbol.get<std::string>());
    }
    return made;
  }

  Result<const Type*> Fixed(const Json& node, const std::string& space) {
    SLUICE_ASSIGN_OR_RETURN(Type * made, Named(node, Kind::kFixed, space));
    made->size = Integer(node, "size", -1);
    if (made->size < 0 || made->size > kMaxFixedBytes) {
      return Invalid("the fixed '" + Printable(made->name) + "' has no usable \"size\".");
    }
    ReadLogical(node, made);
    return made;
  }

  /// A logical type that does not fit is left out, and the underlying type counts.
  static void ReadLogical(const Json& node, Type* type) {
    const std::string* name = Text(node, "logicalType");
    if (name == nullptr) return;
    for (const LogicalEntry& entry : kLogicals) {
      if (*name != entry.name || type->kind != entry.kind) continue;
      if (entry.logical == Logical::kDecimal) {
        const int64_t precision = Integer(node, "precision", 0);
        const int64_t scale = Integer(node, "scale", 0);
        if (precision < 1 || precision > INT32_MAX || scale < 0 || scale > precision) return;
        type->precision = static_cast<int>(precision);
        type->scale = static_cast<int>(scale);
      }
      if (entry.logical == Logical::kUuid && type->kind == Kind::kFixed && type->size != 16) return;
      if (entry.logical == Logical::kDuration && type->size != 12) return;
      type->logical = entry.logical;
    }
  }

  static int64_t ScalarBytes(const Type& type) {
    switch (type.kind) {
      case Kind::kNull:
      case Kind::kRecord:
        return 0;
      case Kind::kFloat:
        return 4;
      case Kind::kDouble:
        return 8;
      case Kind::kFixed:
        return type.size;
      default:
        return 1;
    }
  }

  Status Measure(Type* type, int depth) {
    int& state = measured_[type];
    if (state == 2) return {};
    // Records may hold each other by name in a chain longer than the text is deep.
    if (depth > kMaxDepth) return Invalid("records hold each other over too many levels.");
    if (state == 1) {
      return Invalid("the record '" + Printable(type->name) +
                     "' holds itself without a union, array or map between: it has no end.");
    }
    state = 1;
    type->min_bytes = ScalarBytes(*type);
    for (const Field& field : type->fields) {
      SLUICE_RETURN_NOT_OK(Measure(const_cast<Type*>(field.type), depth + 1));
      type->min_bytes = std::min(type->min_bytes + field.type->min_bytes, kMinBytesCap);
    }
    measured_[type] = 2;
    return {};
  }

  std::vector<std::unique_ptr<Type>>& types_;
  std::map<std::string, Type*> named_;
  std::map<const Type*, int> measured_;  // 1: begun, 2: done.
};

std::string_view KindName(Kind kind) {
  static constexpr std::string_view kNames[] = {"null",   "boolean", "int",    "long",   "float",
                                                "double", "bytes",   "string", "record", "enum",
                                                "array",  "map",     "union",  "fixed"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

Result<AvroSchema> AvroSchema::Parse(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return Invalid("it is no JSON: " + Printable(text, 80));
  }
  AvroSchema schema;
  Parser parser(&schema.types_);
  SLUICE_ASSIGN_OR_RETURN(schema.root_, parser.Parse(json, "", 0));
  SLUICE_RETURN_NOT_OK(parser.Measure());
  return schema;
}

std::string_view LogicalName(Logical logical) {
  for (const LogicalEntry& entry : kLogicals) {
    if (entry.logical == logical) return entry.name;
  }
  return "";
}

std::string TypeText(const Type& type) {
  std::string text(KindName(type.kind));
  if (!type.name.empty()) text += " " + Printable(type.name, 60);
  if (type.logical == Logical::kDecimal) {
    text +=
        " (decimal(" + std::to_string(type.precision) + ", " + std::to_string(type.scale) + "))";
  } else if (type.logical != Logical::kNone) {
    text += " (" + std::string(LogicalName(type.logical)) + ")";
  }
  for (size_t i = 0; i < type.branches.size(); ++i) {
    if (i == 4) return text + ", …";
    text += (i == 0 ? " of " : ", ") + TypeText(*type.branches[i]);
  }
  return text;
}

}  // namespace sluice::formats::avro
