#include "sql/syntax/sql_writer.h"

namespace sluice::sql {
namespace {

std::string_view BehaviorWords(JsonBehavior behavior) {
  switch (behavior) {
    case JsonBehavior::kNone:
      return "";
    case JsonBehavior::kNull:
      return "NULL";
    case JsonBehavior::kError:
      return "ERROR";
    case JsonBehavior::kDefault:
      return "DEFAULT ";
    case JsonBehavior::kTrue:
      return "TRUE";
    case JsonBehavior::kFalse:
      return "FALSE";
    case JsonBehavior::kUnknown:
      return "UNKNOWN";
    case JsonBehavior::kEmptyArray:
      return "EMPTY ARRAY";
    case JsonBehavior::kEmptyObject:
      return "EMPTY OBJECT";
  }
  return "";
}

}  // namespace

void SqlWriter::WriteCall(const CallExpr& call) {
  if (call.name.parts.size() == 1 && !call.name.parts[0].quoted) {
    Put(call.UpperName());
  } else {
    Write(call.name);
  }
  if (call.form == CallForm::kNoParentheses) return;
  Put("(");
  WriteCallArguments(call);
  if (call.nulls != NullTreatment::kNone && !call.star && !call.arguments.empty()) {
    Put(call.nulls == NullTreatment::kRespectNulls ? " RESPECT NULLS" : " IGNORE NULLS");
  }
  Put(")");
  if (call.nulls != NullTreatment::kNone && (call.star || call.arguments.empty())) {
    Put(call.nulls == NullTreatment::kRespectNulls ? " RESPECT NULLS" : " IGNORE NULLS");
  }
  if (call.filter != nullptr) {
    Put(" FILTER (WHERE ");
    Write(*call.filter);
    Put(")");
  }
  if (call.over == nullptr) return;
  Put(" OVER ");
  const WindowSpec& over = *call.over;
  const bool only_name = over.base_name && over.partition_by.empty() && over.order_by.empty() &&
                         over.frame == WindowSpec::Frame::kNone;
  if (only_name) {
    Write(*over.base_name);
  } else {
    Write(over);
  }
}

void SqlWriter::WriteCallArguments(const CallExpr& call) {
  switch (call.form) {
    case CallForm::kExtract:
      return WriteSpecialArguments(call, " FROM ", "", "");
    case CallForm::kFloorTo:
      return WriteSpecialArguments(call, " TO ", "", "");
    case CallForm::kSubstring:
      return WriteSpecialArguments(call, " FROM ", " FOR ", "");
    case CallForm::kTrim:
      return WriteSpecialArguments(call, " ", " FROM ", "");
    case CallForm::kOverlay:
      return WriteSpecialArguments(call, " PLACING ", " FROM ", " FOR ");
    case CallForm::kPosition:
      WriteAtLeast(*call.arguments[0], 6);  // Above IN.
      Put(" IN ");
      Write(*call.arguments[1]);
      if (call.arguments.size() > 2) {
        Put(" FROM ");
        Write(*call.arguments[2]);
      }
      return;
    case CallForm::kJson:
      return WriteJsonArguments(call);
    case CallForm::kPlain:
    case CallForm::kNoParentheses:
    case CallForm::kTimestampUnit:
      break;
  }
  if (call.star) return Put("*");
  PutIf(call.distinct, "DISTINCT ");
  PutIf(call.all, "ALL ");
  PutExprs(call.arguments);
}

void SqlWriter::WriteSpecialArguments(const CallExpr& call, std::string_view first,
                                      std::string_view second, std::string_view third) {
  const std::string_view separators[] = {first, second, third};
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (i > 0) Put(i <= 3 ? separators[i - 1] : ", ");
    Write(*call.arguments[i]);
  }
}

void SqlWriter::WriteJsonArguments(const CallExpr& call) {
  const std::string name = call.UpperName();
  const JsonClauses& json = *call.json;
  if (name.starts_with("JSON_OBJECT")) {
    for (size_t i = 0; i + 1 < call.arguments.size(); i += 2) {
      PutIf(i > 0, ", ");
      Put("KEY ");
      Write(*call.arguments[i]);
      Put(" VALUE ");
      Write(*call.arguments[i + 1]);
    }
  } else {
    PutExprs(call.arguments);
  }
  const std::string_view space = call.arguments.empty() ? "" : " ";
  if (json.returning != nullptr) {
    Put(" RETURNING ");
    Write(*json.returning);
  }
  if (json.wrapper == JsonWrapper::kWithout) Put(" WITHOUT ARRAY WRAPPER");
  if (json.wrapper == JsonWrapper::kConditional) Put(" WITH CONDITIONAL ARRAY WRAPPER");
  if (json.wrapper == JsonWrapper::kUnconditional) Put(" WITH UNCONDITIONAL ARRAY WRAPPER");
  WriteJsonBehavior(json.on_empty, json.empty_default.get(), " ON EMPTY");
  WriteJsonBehavior(json.on_error, json.error_default.get(), " ON ERROR");
  if (json.nulls == JsonNulls::kNone) return;
  Put(space);
  Put(json.nulls == JsonNulls::kNullOnNull ? "NULL ON NULL" : "ABSENT ON NULL");
}

void SqlWriter::WriteJsonBehavior(JsonBehavior behavior, const Expr* value, std::string_view on) {
  if (behavior == JsonBehavior::kNone) return;
  Put(" ");
  Put(BehaviorWords(behavior));
  if (value != nullptr) Write(*value);
  Put(on);
}

void SqlWriter::WriteTableArgument(const TableArgumentExpr& argument) {
  Put("TABLE ");
  if (argument.query != nullptr) {
    Put("(");
    Write(*argument.query);
    Put(")");
  } else {
    Write(argument.table);
  }
  if (!argument.partition_by.empty()) {
    Put(" PARTITION BY (");
    PutExprs(argument.partition_by);
    Put(")");
  }
  if (!argument.order_by.empty()) {
    Put(" ORDER BY (");
    PutOrder(argument.order_by);
    Put(")");
  }
}

void SqlWriter::Write(const WindowSpec& window) {
  Put("(");
  std::string_view space;
  auto separate = [&] {
    Put(space);
    space = " ";
  };
  if (window.base_name) {
    separate();
    Write(*window.base_name);
  }
  if (!window.partition_by.empty()) {
    separate();
    Put("PARTITION BY ");
    PutExprs(window.partition_by);
  }
  if (!window.order_by.empty()) {
    separate();
    Put("ORDER BY ");
    PutOrder(window.order_by);
  }
  if (window.frame != WindowSpec::Frame::kNone) {
    separate();
    Put(window.frame == WindowSpec::Frame::kRows ? "ROWS " : "RANGE ");
    PutIf(window.end.has_value(), "BETWEEN ");
    WriteBound(window.start);
    if (window.end) {
      Put(" AND ");
      WriteBound(*window.end);
    }
  }
  Put(")");
}

void SqlWriter::WriteBound(const FrameBound& bound) {
  if (bound.offset != nullptr) {
    WriteAtLeast(*bound.offset, 6);
    Put(" ");
  }
  switch (bound.kind) {
    case FrameBoundKind::kUnboundedPreceding:
      return Put("UNBOUNDED PRECEDING");
    case FrameBoundKind::kPreceding:
      return Put("PRECEDING");
    case FrameBoundKind::kCurrentRow:
      return Put("CURRENT ROW");
    case FrameBoundKind::kFollowing:
      return Put("FOLLOWING");
    case FrameBoundKind::kUnboundedFollowing:
      return Put("UNBOUNDED FOLLOWING");
  }
}

std::string ToSql(const Expr& expr) {
  SqlWriter writer;
  writer.Write(expr);
  return writer.Finish();
}

std::string ToSql(const TypeSyntax& type) {
  SqlWriter writer;
  writer.Write(type);
  return writer.Finish();
}

std::string ToSql(const WindowSpec& window) {
  SqlWriter writer;
  writer.Write(window);
  return writer.Finish();
}

std::string ToSql(const IntervalQualifier& qualifier) {
  SqlWriter writer;
  writer.Write(qualifier);
  return writer.Finish();
}

std::string ToSql(const NamePath& path) {
  SqlWriter writer;
  writer.Write(path);
  return writer.Finish();
}

}  // namespace sluice::sql
