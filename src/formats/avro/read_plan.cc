#include "formats/avro/read_plan.h"

#include <algorithm>
#include <set>

#include "types/value_text.h"

namespace sluice::formats::avro {
namespace {

using Op = ReadStep::Op;

// A schema of unions of records that hold each other could be resolved in endlessly many ways.
constexpr int kMaxSteps = 200'000;

int64_t UnitsPerSecond(Logical logical, const SqlType& type) {
  switch (logical) {
    case Logical::kTimestampMillis:
    case Logical::kLocalTimestampMillis:
      return 1'000;
    case Logical::kTimestampMicros:
    case Logical::kLocalTimestampMicros:
      return 1'000'000;
    case Logical::kTimestampNanos:
    case Logical::kLocalTimestampNanos:
      return 1'000'000'000;
    default:
      // A plain long is read as the long that the column itself would be written as.
      return TimestampUnitsPerSecond(type.precision());
  }
}

int64_t PowerOfTen(int digits) {
  int64_t power = 1;
  for (int i = 0; i < digits; ++i) power *= 10;
  return power;
}

bool IsTimestamp(Logical logical) {
  return logical >= Logical::kTimestampMillis && logical <= Logical::kLocalTimestampNanos;
}

class Planner {
 public:
  /// A step that appends to a column of `type`; kMismatch when no value fits.
  Result<ReadStep> Resolve(const Type& writer, const SqlType& type) {
    if (++steps_ > kMaxSteps) {
      return Status::DataError("The Avro schema has too many ways to be read as the table's rows.");
    }
    if (writer.kind == Kind::kUnion) return ResolveUnion(writer, type);
    ReadStep step;
    step.writer = &writer;
    step.nullable = type.nullable();
    SLUICE_RETURN_NOT_OK(ResolveValue(writer, type, &step));
    if (step.op == Op::kMismatch && step.mismatch.empty()) {
      step.mismatch = "the file has " + TypeText(writer) + ", which cannot become " +
                      type.WithNullable(true).ToString();
    }
    return step;
  }

  /// Steps for the fields of `writer`, and which of the columns it lacks. `columns` may hold more
  /// than is wanted: `target_of` gives the target of each, -1 for those not wanted.
  Status ResolveFields(const Type& writer, const std::vector<Column>& columns,
                       const std::vector<int>& target_of, ReadStep* step) {
    step->op = Op::kRecord;
    step->writer = &writer;
    const std::vector<int> column_of_field = MatchFields(writer, columns);
    std::vector<char> found(columns.size(), 0);
    for (size_t i = 0; i < writer.fields.size(); ++i) {
      const Field& field = writer.fields[i];
      const int column = column_of_field[i];
      ReadStep child;
      child.op = Op::kSkip;
      child.writer = field.type;
      if (column >= 0) {
        const auto at = static_cast<size_t>(column);
        found[at] = 1;
        if (target_of[at] >= 0) {
          SLUICE_ASSIGN_OR_RETURN(child, Resolve(*field.type, columns[at].type));
          if (child.op == Op::kMismatch && step->op != Op::kMismatch) {
            step->op = Op::kMismatch;
            step->mismatch = "column '" + columns[at].name + "': " + child.mismatch;
          }
          child.target = target_of[at];
        }
      }
      child.name = column >= 0 ? columns[static_cast<size_t>(column)].name : field.name;
      step->children.push_back(std::move(child));
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      if (found[i] != 0 || target_of[i] < 0) continue;
      if (!columns[i].type.nullable()) {
        step->op = Op::kMismatch;
        step->mismatch = "column '" + columns[i].name +
                         "' is NOT NULL, and the file lacks it: missing required field " +
                         columns[i].name;
      }
      step->missing.push_back(target_of[i]);
    }
    return {};
  }

 private:
  /// The column of each field, -1 for none. A field's alias counts where no field has the name.
  static std::vector<int> MatchFields(const Type& writer, const std::vector<Column>& columns) {
    const auto find = [&](const std::string& name) {
      for (size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name == name) return static_cast<int>(i);
      }
      return -1;
    };
    std::vector<int> column_of_field;
    std::set<int> taken;
    for (const Field& field : writer.fields) {
      column_of_field.push_back(find(field.name));
      if (column_of_field.back() >= 0) taken.insert(column_of_field.back());
    }
    for (size_t i = 0; i < writer.fields.size(); ++i) {
      for (const std::string& alias : writer.fields[i].aliases) {
        if (column_of_field[i] >= 0) break;
        const int column = find(alias);
        if (column >= 0 && taken.insert(column).second) column_of_field[i] = column;
      }
    }
    return column_of_field;
  }

  Result<ReadStep> ResolveUnion(const Type& writer, const SqlType& type) {
    std::vector<ReadStep> branches;
    const ReadStep* first_mismatch = nullptr;
    bool readable = false;
    for (const Type* branch : writer.branches) {
      SLUICE_ASSIGN_OR_RETURN(ReadStep step, Resolve(*branch, type));
      branches.push_back(std::move(step));
    }
    for (const ReadStep& step : branches) {
      if (step.op == Op::kMismatch && first_mismatch == nullptr) first_mismatch = &step;
      readable = readable || (step.op != Op::kMismatch && step.op != Op::kNull);
    }
    // A union of null alone reads as NULL; one whose values never fit is told when it is opened.
    if (!readable && first_mismatch != nullptr) return *first_mismatch;
    const size_t null_at = branches.size() == 2 && branches[0].op == Op::kNull   ? 0
                           : branches.size() == 2 && branches[1].op == Op::kNull ? 1
                                                                                 : 2;
    if (null_at < 2 && branches[1 - null_at].op != Op::kNull &&
        branches[1 - null_at].op != Op::kMismatch) {
      ReadStep step = std::move(branches[1 - null_at]);
      step.null_byte = static_cast<int8_t>(null_at * 2);
      return step;
    }
    ReadStep step;
    step.op = Op::kUnion;
    step.writer = &writer;
    step.nullable = type.nullable();
    step.children = std::move(branches);
    return step;
  }

  Status ResolveValue(const Type& writer, const SqlType& type, ReadStep* step) {
    if (writer.kind == Kind::kNull) {
      step->op = Op::kNull;
      return {};
    }
    switch (type.kind()) {
      case TypeKind::kArray:
        if (writer.kind != Kind::kArray) return {};
        return ResolveElement(writer, type.element(), Op::kArray, step);
      case TypeKind::kMap:
      case TypeKind::kMultiset:
        if (writer.kind != Kind::kMap) return {};
        return ResolveElement(writer, type.value(), Op::kMap, step);
      case TypeKind::kRow:
        if (writer.kind != Kind::kRecord) return {};
        return ResolveRow(writer, type, step);
      case TypeKind::kDecimal:
        if (writer.kind != Kind::kBytes && writer.kind != Kind::kFixed) return {};
        if (writer.logical != Logical::kNone && writer.logical != Logical::kDecimal) return {};
        step->op = writer.kind == Kind::kBytes ? Op::kDecimal : Op::kFixedDecimal;
        step->size = writer.size;
        // Bytes without a logical type are unscaled digits of the column's own type.
        step->scale = writer.logical == Logical::kDecimal ? writer.scale : type.scale();
        return {};
      case TypeKind::kTime:
        ResolveTime(writer, type, step);
        return {};
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        ResolveTimestamp(writer, type, step);
        return {};
      case TypeKind::kDate:
        if (writer.kind == Kind::kInt && writer.logical != Logical::kTimeMillis) {
          step->op = Op::kInt;
        }
        return {};
      default:
        step->op = Scalar(writer, type);
        step->size = writer.size;
        return {};
    }
  }

  static Op Scalar(const Type& writer, const SqlType& type) {
    const bool is_int = writer.kind == Kind::kInt;
    const bool is_long = writer.kind == Kind::kLong;
    switch (type.kind()) {
      case TypeKind::kBoolean:
        return writer.kind == Kind::kBoolean ? Op::kBoolean : Op::kMismatch;
      case TypeKind::kTinyint:
        return is_int ? Op::kTinyint : Op::kMismatch;
      case TypeKind::kSmallint:
        return is_int ? Op::kSmallint : Op::kMismatch;
      case TypeKind::kInt:
        return is_int ? Op::kInt : Op::kMismatch;
      case TypeKind::kBigint:
        return is_int || is_long ? Op::kLong : Op::kMismatch;
      case TypeKind::kFloat:
        if (is_int || is_long) return Op::kIntToFloat;
        return writer.kind == Kind::kFloat ? Op::kFloat : Op::kMismatch;
      case TypeKind::kDouble:
        if (is_int || is_long) return Op::kLongToDouble;
        if (writer.kind == Kind::kFloat) return Op::kFloatToDouble;
        return writer.kind == Kind::kDouble ? Op::kDouble : Op::kMismatch;
      case TypeKind::kChar:
      case TypeKind::kVarchar:
        if (writer.kind == Kind::kEnum) return Op::kEnumText;
        if (writer.kind == Kind::kFixed && writer.logical == Logical::kUuid) return Op::kUuidText;
        return writer.kind == Kind::kString || writer.kind == Kind::kBytes ? Op::kText
                                                                           : Op::kMismatch;
      case TypeKind::kBinary:
      case TypeKind::kVarbinary:
        if (writer.kind == Kind::kFixed) return Op::kFixedBytes;
        return writer.kind == Kind::kString || writer.kind == Kind::kBytes ? Op::kBytes
                                                                           : Op::kMismatch;
      default:
        return Op::kMismatch;
    }
  }

  Status ResolveElement(const Type& writer, const SqlType& element, Op op, ReadStep* step) {
    SLUICE_ASSIGN_OR_RETURN(ReadStep child, Resolve(*writer.element, element));
    if (child.op == Op::kMismatch) {
      step->mismatch = child.mismatch;
      return {};
    }
    step->op = op;
    step->children.push_back(std::move(child));
    return {};
  }

  Status ResolveRow(const Type& writer, const SqlType& type, ReadStep* step) {
    std::vector<Column> columns;
    std::vector<int> target_of;
    for (const RowField& field : type.fields()) {
      target_of.push_back(static_cast<int>(columns.size()));
      columns.push_back({field.name, field.type});
    }
    return ResolveFields(writer, columns, target_of, step);
  }

  static void ResolveTime(const Type& writer, const SqlType& type, ReadStep* step) {
    const bool millis = writer.kind == Kind::kInt && writer.logical != Logical::kDate;
    const bool micros = writer.logical == Logical::kTimeMicros;
    if (!millis && !micros) return;
    step->op = Op::kTime;
    step->divisor = micros ? 1000 : 1;
    step->cut = PowerOfTen(3 - std::min(type.precision(), 3));
  }

  static void ResolveTimestamp(const Type& writer, const SqlType& type, ReadStep* step) {
    const bool fits = writer.kind == Kind::kLong &&
                      (writer.logical == Logical::kNone || IsTimestamp(writer.logical));
    if (!fits) return;
    const int64_t from = UnitsPerSecond(writer.logical, type);
    const int64_t to = TimestampUnitsPerSecond(type.precision());
    const int unit_digits = to == 1000 ? 3 : to == 1'000'000 ? 6 : 9;
    step->multiplier = to > from ? to / from : 1;
    step->divisor = from > to ? from / to : 1;
    step->cut = PowerOfTen(unit_digits - type.precision());
    // A writer of whole units never has digits to cut.
    if (step->cut <= step->multiplier) step->cut = 1;
    const bool same = step->multiplier == 1 && step->divisor == 1 && step->cut == 1;
    step->op = same ? Op::kLong : Op::kTimestamp;
  }

  int steps_ = 0;
};

Status Unreadable(const std::string& why) {
  return Status::DataError("The Avro schema does not fit the table: " + why + ".");
}

}  // namespace

Result<ReadPlan> MakeReadPlan(const Type& writer, const ReadSchema& schema) {
  std::vector<int> target_of(static_cast<size_t>(schema.physical.column_count()), -1);
  for (size_t i = 0; i < schema.projection.size(); ++i) {
    target_of[static_cast<size_t>(schema.projection[i])] = static_cast<int>(i);
  }
  const auto& columns = schema.physical.columns();
  Planner planner;
  ReadPlan plan;
  plan.min_record_bytes = writer.min_bytes;
  if (writer.kind == Kind::kRecord) {
    SLUICE_RETURN_NOT_OK(planner.ResolveFields(writer, columns, target_of, &plan.record));
    if (plan.record.op == Op::kMismatch) return Unreadable(plan.record.mismatch);
    plan.missing_columns = std::move(plan.record.missing);
    plan.record.missing.clear();
    return plan;
  }
  if (writer.kind != Kind::kUnion) {
    return Unreadable("it is of type " + TypeText(writer) + ", and rows are read from records");
  }
  // Flink writes its rows as a union of null and the record.
  plan.record.op = Op::kUnion;
  plan.record.writer = &writer;
  std::string first_mismatch;
  bool readable = false;
  for (const Type* branch : writer.branches) {
    ReadStep step;
    step.writer = branch;
    if (branch->kind == Kind::kRecord) {
      SLUICE_RETURN_NOT_OK(planner.ResolveFields(*branch, columns, target_of, &step));
    } else {
      step.mismatch = "a value of type " + TypeText(*branch) + " stands for a row";
    }
    readable = readable || step.op == Op::kRecord;
    if (step.op == Op::kMismatch && branch->kind == Kind::kRecord && first_mismatch.empty()) {
      first_mismatch = step.mismatch;
    }
    plan.record.children.push_back(std::move(step));
  }
  if (readable) return plan;
  return Unreadable(first_mismatch.empty() ? "it holds no record, but " + TypeText(writer)
                                           : first_mismatch);
}

}  // namespace sluice::formats::avro
