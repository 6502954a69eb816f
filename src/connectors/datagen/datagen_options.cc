#include "connectors/datagen/datagen_options.h"

#include <cfloat>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <set>

#include "common/nearest_name.h"
#include "common/text.h"
#include "connectors/connector.h"
#include "types/value_text.h"

namespace sluice::connectors {
namespace {

constexpr int32_t kDefaultTextLength = 100;
constexpr int32_t kDefaultCollectionLength = 3;

Status BadValue(const std::string& key, std::string_view value, const std::string& reason) {
  return Status::InvalidArgument("Invalid value for option '" + key + "'. Could not parse value '" +
                                 std::string(value) + "' for key '" + key + "'. " + reason);
}

/// Walks the types of a table, reads the options of each place and notes which keys exist.
class GeneratorPlanner {
 public:
  explicit GeneratorPlanner(const OptionMap& options) : options_(options) {}

  Result<ColumnGeneratorPtr> Column(const Column& column) {
    const std::string path = "fields." + column.name;
    const std::string kind = Text(path + ".kind").value_or("random");
    if (kind == "sequence") return SequenceColumn(path, column.type);
    if (kind != "random") {
      return Status::InvalidArgument("Unsupported generator kind: " + kind +
                                     ". Use 'random' or 'sequence' for '" + path + ".kind'.");
    }
    return Random(path, column.name, column.type);
  }

  const std::set<std::string>& known_keys() const { return known_; }
  int64_t row_bytes() const { return row_bytes_; }

 private:
  // ---- Reading options ----

  std::optional<std::string> Text(const std::string& key) {
    known_.insert(key);
    const auto it = options_.find(key);
    if (it == options_.end()) return std::nullopt;
    return std::string(TrimAscii(it->second));
  }

  Result<int64_t> Integer(const std::string& key, int64_t fallback, int64_t min, int64_t max) {
    const std::optional<std::string> text = Text(key);
    if (!text) return fallback;
    const std::optional<int64_t> number = ParseInt64(*text);
    if (!number || *number < min || *number > max) {
      return BadValue(key, *text,
                      "Expected a whole number from " + std::to_string(min) + " to " +
                          std::to_string(max) + ".");
    }
    return *number;
  }

  Result<double> Number(const std::string& key, double fallback) {
    const std::optional<std::string> text = Text(key);
    if (!text) return fallback;
    double value = 0;
    if (ParseDoubleText(*text, &value) != TextError::kNone || !std::isfinite(value)) {
      return BadValue(key, *text, "Expected a number.");
    }
    return value;
  }

  Result<RandomSettings> Settings(const std::string& path, const SqlType& type) {
    RandomSettings settings{.path = path};
    const std::string key = path + ".null-rate";
    SLUICE_ASSIGN_OR_RETURN(settings.null_rate, Number(key, 0));
    if (settings.null_rate < 0 || settings.null_rate > 1) {
      return BadValue(key, *Text(key), "Expected a rate from 0 to 1.");
    }
    if (settings.null_rate > 0 && !type.nullable()) {
      return BadValue(key, *Text(key), "The column is NOT NULL.");
    }
    return settings;
  }

  template <typename Value>
  Status CheckRange(const std::string& path, const Value& min, const Value& max) {
    if (min <= max) return {};
    return Status::InvalidArgument("Option '" + path + ".min' (" +
                                   Text(path + ".min").value_or("default") +
                                   ") must not be larger than '" + path + ".max' (" +
                                   Text(path + ".max").value_or("default") + ").");
  }

  // ---- Random values ----

  Result<ColumnGeneratorPtr> Random(const std::string& path, const std::string& name,
                                    const SqlType& type) {
    switch (type.kind()) {
      case TypeKind::kBoolean: {
        row_bytes_ += 1;
        SLUICE_ASSIGN_OR_RETURN(RandomSettings settings, Settings(path, type));
        return RandomBoolean(std::move(settings));
      }
      case TypeKind::kTinyint:
        return RandomIntegerColumn(path, type, INT8_MIN, INT8_MAX);
      case TypeKind::kSmallint:
        return RandomIntegerColumn(path, type, INT16_MIN, INT16_MAX);
      case TypeKind::kInt:
        return RandomIntegerColumn(path, type, INT32_MIN, INT32_MAX);
      case TypeKind::kBigint:
      case TypeKind::kIntervalDayTime:
        return RandomIntegerColumn(path, type, INT64_MIN, INT64_MAX);
      case TypeKind::kIntervalYearMonth:
        return RandomIntegerColumn(path, type, 0, 120'000);
      case TypeKind::kFloat:
        // Java's Float.MIN_VALUE is the smallest positive number.
        return RandomDoubleColumn(path, type, std::numeric_limits<float>::denorm_min(), FLT_MAX);
      case TypeKind::kDouble:
        return RandomDoubleColumn(path, type, std::numeric_limits<double>::denorm_min(), DBL_MAX);
      case TypeKind::kDecimal:
        return RandomDecimalColumn(path, type);
      case TypeKind::kChar:
      case TypeKind::kBinary:
        return RandomFixedText(path, name, type);
      case TypeKind::kVarchar:
      case TypeKind::kVarbinary:
        return RandomVaryingText(path, name, type);
      case TypeKind::kDate:
      case TypeKind::kTime:
        row_bytes_ += 4;
        return CurrentDateOrTime(type);
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        return RandomTimestampColumn(path, type);
      case TypeKind::kArray:
      case TypeKind::kMultiset:
      case TypeKind::kMap:
        return RandomCollection(path, name, type);
      case TypeKind::kRow:
        return RandomRowColumn(path, type);
      case TypeKind::kNull:
        break;
    }
    return Status::Unsupported("Unsupported type: " + type.ToString() + " of '" + path + "'.");
  }

  Result<ColumnGeneratorPtr> RandomIntegerColumn(const std::string& path, const SqlType& type,
                                                 int64_t lowest, int64_t highest) {
    row_bytes_ += 8;
    SLUICE_ASSIGN_OR_RETURN(const int64_t min, Integer(path + ".min", lowest, lowest, highest));
    SLUICE_ASSIGN_OR_RETURN(const int64_t max, Integer(path + ".max", highest, lowest, highest));
    SLUICE_RETURN_NOT_OK(CheckRange(path, min, max));
    SLUICE_ASSIGN_OR_RETURN(RandomSettings settings, Settings(path, type));
    return RandomInteger(std::move(settings), type, min, max);
  }

  Result<ColumnGeneratorPtr> RandomDoubleColumn(const std::string& path, const SqlType& type,
                                                double lowest, double highest) {
    row_bytes_ += 8;
    SLUICE_ASSIGN_OR_RETURN(const double min, Number(path + ".min", lowest));
    SLUICE_ASSIGN_OR_RETURN(const double max, Number(path + ".max", highest));
    SLUICE_RETURN_NOT_OK(CheckRange(path, min, max));
    SLUICE_ASSIGN_OR_RETURN(RandomSettings settings, Settings(path, type));
    return RandomDouble(std::move(settings), type, min, max);
  }

  Result<ColumnGeneratorPtr> RandomDecimalColumn(const std::string& path, const SqlType& type) {
    row_bytes_ += 16;
    const auto bound = [&](const std::string& key,
                           const arrow::Decimal128& fallback) -> Result<arrow::Decimal128> {
      const std::optional<std::string> text = Text(key);
      if (!text) return fallback;
      arrow::Decimal128 value;
      if (ParseDecimalText(*text, type.precision(), type.scale(), &value) != TextError::kNone) {
        return BadValue(key, *text, "Expected a number that fits " + type.ToString() + ".");
      }
      return value;
    };
    SLUICE_ASSIGN_OR_RETURN(const arrow::Decimal128 min,
                            bound(path + ".min", arrow::Decimal128(0)));
    SLUICE_ASSIGN_OR_RETURN(const arrow::Decimal128 max,
                            bound(path + ".max", arrow::Decimal128::GetMaxValue(type.precision())));
    SLUICE_RETURN_NOT_OK(CheckRange(path, min, max));
    SLUICE_ASSIGN_OR_RETURN(RandomSettings settings, Settings(path, type));
    return RandomDecimal(std::move(settings), type, min, max);
  }

  Result<ColumnGeneratorPtr> RandomFixedText(const std::string& path, const std::string& name,
                                             const SqlType& type) {
    row_bytes_ += type.length();
    if (Text(path + ".length")) {
      return Status::InvalidArgument("Custom length for fixed-length type (CHAR/BINARY) field '" +
                                     name + "' is not supported.");
    }
    RandomSettings settings{.path = path};
    if (type.is_character()) {
      SLUICE_ASSIGN_OR_RETURN(settings, Settings(path, type));
    }
    return RandomText(std::move(settings), type, type.length(), false);
  }

  Result<ColumnGeneratorPtr> RandomVaryingText(const std::string& path, const std::string& name,
                                               const SqlType& type) {
    const bool unbounded = type.length() == SqlType::kMaxLength;
    const int32_t fallback = unbounded ? kDefaultTextLength : type.length();
    SLUICE_ASSIGN_OR_RETURN(const int64_t length,
                            Integer(path + ".length", fallback, 1, SqlType::kMaxLength));
    if (length > type.length()) {
      return Status::InvalidArgument(
          "Custom length '" + std::to_string(length) +
          "' for variable-length type (VARCHAR/STRING/VARBINARY/BYTES) field '" + name +
          "' should be shorter than '" + std::to_string(type.length()) +
          "' defined in the schema.");
    }
    row_bytes_ += length;
    bool varies = false;
    if (const std::optional<std::string> text = Text(path + ".var-len")) {
      Result<bool> parsed = ParseBooleanOption(*text);
      if (!parsed.ok()) return BadValue(path + ".var-len", *text, parsed.status().message());
      varies = *parsed;
    }
    RandomSettings settings{.path = path};
    if (type.is_character()) {
      SLUICE_ASSIGN_OR_RETURN(settings, Settings(path, type));
    }
    return RandomText(std::move(settings), type, static_cast<int32_t>(length), varies);
  }

  Result<ColumnGeneratorPtr> RandomTimestampColumn(const std::string& path, const SqlType& type) {
    row_bytes_ += 8;
    int64_t max_past_ms = 0;
    const std::string key = path + ".max-past";
    if (const std::optional<std::string> text = Text(key)) {
      Result<int64_t> parsed = ParseDurationMillis(*text);
      if (!parsed.ok()) return BadValue(key, *text, parsed.status().message());
      max_past_ms = *parsed;
      // Ten thousand years; nanoseconds reach back to 1677 only.
      const int64_t reach_ms = type.precision() > 6 ? 9'000'000'000'000 : 315'576'000'000'000;
      if (max_past_ms > reach_ms) {
        return BadValue(key, *text, type.ToString() + " does not reach that far back.");
      }
    }
    SLUICE_ASSIGN_OR_RETURN(RandomSettings settings, Settings(path, type));
    return RandomTimestamp(std::move(settings), type, max_past_ms);
  }

  Result<ColumnGeneratorPtr> RandomCollection(const std::string& path, const std::string& name,
                                              const SqlType& type) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t length,
                            Integer(path + ".length", kDefaultCollectionLength, 0, 100'000'000));
    const int64_t outer_bytes = row_bytes_;
    const bool map = type.kind() == TypeKind::kMap;
    const std::string element_path = path + (map ? ".key" : ".element");
    SLUICE_ASSIGN_OR_RETURN(ColumnGeneratorPtr element, Random(element_path, name, type.element()));
    if (type.kind() != TypeKind::kArray && Text(element_path + ".null-rate").value_or("0") != "0") {
      return BadValue(element_path + ".null-rate", *Text(element_path + ".null-rate"),
                      "Keys of maps and elements of multisets cannot be NULL here.");
    }
    ColumnGeneratorPtr value;
    if (map) {
      SLUICE_ASSIGN_OR_RETURN(value, Random(path + ".value", name, type.value()));
    } else if (type.kind() == TypeKind::kMultiset) {
      value = RandomInteger({.path = path + "#count"}, SqlType::Int(), 0, 10);
    }
    row_bytes_ = outer_bytes + 4 + (row_bytes_ - outer_bytes + (value ? 4 : 0)) * length;
    SLUICE_ASSIGN_OR_RETURN(RandomSettings settings, Settings(path, type));
    const auto count = static_cast<int32_t>(length);
    if (!value) return RandomArray(std::move(settings), type, count, std::move(element));
    return RandomMap(std::move(settings), type, count, std::move(element), std::move(value));
  }

  Result<ColumnGeneratorPtr> RandomRowColumn(const std::string& path, const SqlType& type) {
    std::vector<ColumnGeneratorPtr> fields;
    for (const RowField& field : type.fields()) {
      SLUICE_ASSIGN_OR_RETURN(ColumnGeneratorPtr generator,
                              Random(path + "." + field.name, field.name, field.type));
      fields.push_back(std::move(generator));
    }
    SLUICE_ASSIGN_OR_RETURN(RandomSettings settings, Settings(path, type));
    return RandomRow(std::move(settings), type, std::move(fields));
  }

  // ---- Sequences ----

  /// What numbers a sequence of `type` can hold.
  static std::optional<std::pair<int64_t, int64_t>> SequenceBounds(const SqlType& type) {
    switch (type.kind()) {
      case TypeKind::kTinyint:
        return std::pair<int64_t, int64_t>{INT8_MIN, INT8_MAX};
      case TypeKind::kSmallint:
        return std::pair<int64_t, int64_t>{INT16_MIN, INT16_MAX};
      case TypeKind::kInt:
        return std::pair<int64_t, int64_t>{INT32_MIN, INT32_MAX};
      case TypeKind::kDecimal: {
        const int digits = type.precision() - type.scale();
        if (digits >= 19) return std::pair<int64_t, int64_t>{INT64_MIN, INT64_MAX};
        const auto bound = static_cast<int64_t>(std::llround(std::pow(10.0, digits))) - 1;
        return std::pair{-bound, bound};
      }
      case TypeKind::kBigint:
      case TypeKind::kFloat:
      case TypeKind::kDouble:
      case TypeKind::kChar:
      case TypeKind::kVarchar:
      case TypeKind::kBinary:
      case TypeKind::kVarbinary:
        return std::pair<int64_t, int64_t>{INT64_MIN, INT64_MAX};
      default:
        return std::nullopt;
    }
  }

  Result<ColumnGeneratorPtr> SequenceColumn(const std::string& path, const SqlType& type) {
    row_bytes_ += 16;
    if (type.kind() == TypeKind::kBoolean) return RandomBoolean({.path = path});
    const auto bounds = SequenceBounds(type);
    if (!bounds) {
      return Status::InvalidArgument("Unsupported type: " + type.ToString() +
                                     " for the sequence generator of '" + path +
                                     ".kind'. Use 'random'.");
    }
    for (const char* end : {".start", ".end"}) {
      if (!Text(path + end)) {
        return Status::InvalidArgument("Could not find required property '" + path + end +
                                       "' for sequence generator.");
      }
    }
    SLUICE_ASSIGN_OR_RETURN(const int64_t start,
                            Integer(path + ".start", 0, bounds->first, bounds->second));
    SLUICE_ASSIGN_OR_RETURN(const int64_t end,
                            Integer(path + ".end", 0, bounds->first, bounds->second));
    if (start > end) {
      return Status::InvalidArgument("Option '" + path + ".start' (" + std::to_string(start) +
                                     ") must not be larger than '" + path + ".end' (" +
                                     std::to_string(end) + ").");
    }
    return Sequence(type, start, end);
  }

  const OptionMap& options_;
  std::set<std::string> known_;
  int64_t row_bytes_ = 0;
};

/// Generic, own and column keys in one list, as ValidateOptions wants it; `keys` holds the texts.
std::vector<OptionSpec> AllSpecs(const std::set<std::string>& keys) {
  const std::span<const OptionSpec> own = DatagenOptions();
  const std::span<const OptionSpec> generic = GenericTableOptions();
  std::vector<OptionSpec> specs(own.begin(), own.end());
  specs.insert(specs.end(), generic.begin(), generic.end());
  for (const std::string& key : keys) specs.push_back({.key = key});
  return specs;
}

Status ReadTableOptions(const OptionReader& reader, DatagenPlan* plan) {
  SLUICE_ASSIGN_OR_RETURN(plan->rows_per_second, reader.Integer("rows-per-second"));
  if (plan->rows_per_second < 1) {
    return Status::InvalidArgument(
        "Invalid value for option 'rows-per-second': " + std::to_string(plan->rows_per_second) +
        ". It must be at least 1: a table without rows would never end.");
  }
  if (reader.Has("number-of-rows")) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t rows, reader.Integer("number-of-rows"));
    if (rows < 0) {
      return Status::InvalidArgument("Invalid value for option 'number-of-rows': " +
                                     std::to_string(rows) + ". It must not be negative.");
    }
    plan->row_limit = rows;
  }
  SLUICE_ASSIGN_OR_RETURN(const std::optional<int> parallelism, ReadScanParallelism(reader));
  if (parallelism) plan->parallelism = *parallelism;
  if (reader.Has("seed")) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t seed, reader.Integer("seed"));
    plan->seed = static_cast<uint64_t>(seed);
  }
  return {};
}

}  // namespace

std::span<const OptionSpec> DatagenOptions() {
  static const OptionSpec kOptions[] = {
      {.key = "rows-per-second",
       .type = OptionType::kLong,
       .default_text = "10000",
       .doc = "Rows a second of the whole table, spread evenly."},
      {.key = "number-of-rows",
       .type = OptionType::kLong,
       .doc = "Rows of the whole table; endless when absent, unless a column is a sequence."},
      {.key = "scan.parallelism",
       .type = OptionType::kInt,
       .doc = "Subtasks of the source; the job's parallelism when absent."},
      {.key = "seed",
       .type = OptionType::kLong,
       .doc = "Makes the same rows in every run (times apart); other rows each time when absent."},
  };
  return kOptions;
}

Result<DatagenPlan> PlanDatagen(const OptionMap& options, const Schema& schema) {
  DatagenPlan plan;
  GeneratorPlanner planner(options);
  for (const Column& column : schema.columns()) {
    SLUICE_ASSIGN_OR_RETURN(ColumnGeneratorPtr generator, planner.Column(column));
    plan.columns.push_back(std::move(generator));
  }
  const std::vector<OptionSpec> specs = AllSpecs(planner.known_keys());
  SLUICE_RETURN_NOT_OK(ValidateOptions("datagen", options, specs));
  SLUICE_RETURN_NOT_OK(ReadTableOptions(OptionReader(options, specs), &plan));
  for (const ColumnGeneratorPtr& column : plan.columns) {
    if (const std::optional<int64_t> limit = column->row_limit()) {
      plan.row_limit = std::min(plan.row_limit.value_or(*limit), *limit);
    }
  }
  plan.row_bytes = std::max<int64_t>(1, planner.row_bytes());
  return plan;
}

}  // namespace sluice::connectors
