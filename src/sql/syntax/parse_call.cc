// Calls: ordinary ones with all that may follow them, and those with a syntax of their own.
#include <algorithm>

#include "sql/syntax/parser_impl.h"

namespace sluice::sql {

Result<ExprPtr> Parser::ParseCall(NamePath name, size_t first) {
  auto call = New<CallExpr>();
  call->name = std::move(name);
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  bool special = false;
  if (!call->name.parts.back().quoted) {
    SLUICE_ASSIGN_OR_RETURN(special, ParseSpecialForm(call.get()));
  }
  if (!special) SLUICE_RETURN_NOT_OK(ParseArguments(call.get()));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  SLUICE_RETURN_NOT_OK(ParseCallTail(call.get()));
  return Done(std::move(call), first);
}

Status Parser::ParseArguments(CallExpr* call) {
  if (tokens_.At(")")) return {};
  if (tokens_.PeekIs(0, "*")) {
    tokens_.Take();
    call->star = true;
    return {};
  }
  call->distinct = tokens_.Accept("DISTINCT");
  if (!call->distinct) call->all = tokens_.Accept("ALL");
  do {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr argument, ParseArgument());
    call->arguments.push_back(std::move(argument));
  } while (tokens_.Accept(","));
  SLUICE_RETURN_NOT_OK(ParseNullTreatment(call));
  for (std::string_view word : {"ORDER", "SEPARATOR"}) {
    if (tokens_.PeekIs(0, word)) {
      return tokens_.Unsupported(std::string(word) + " inside a call", tokens_.Peek().range);
    }
  }
  return {};
}

Status Parser::ParseNullTreatment(CallExpr* call) {
  if (tokens_.AcceptAll({"RESPECT", "NULLS"})) {
    call->nulls = NullTreatment::kRespectNulls;
  } else if (tokens_.AcceptAll({"IGNORE", "NULLS"})) {
    call->nulls = NullTreatment::kIgnoreNulls;
  }
  return {};
}

Result<ExprPtr> Parser::ParseArgument() {
  const size_t first = tokens_.index();
  const bool named = tokens_.PeekIs(1, "=>");
  if (!named) return ParseArgumentValue();
  auto argument = New<NamedArgumentExpr>();
  SLUICE_ASSIGN_OR_RETURN(argument->name, ParseName());
  SLUICE_RETURN_NOT_OK(tokens_.Expect("=>"));
  SLUICE_ASSIGN_OR_RETURN(argument->value, ParseArgumentValue());
  return Done(std::move(argument), first);
}

Result<ExprPtr> Parser::ParseArgumentValue() {
  const size_t first = tokens_.index();
  if (tokens_.PeekIs(0, "TABLE")) return ParseTableArgument();
  if (tokens_.PeekIs(0, "DESCRIPTOR") && tokens_.PeekIs(1, "(")) {
    tokens_.Take();
    auto descriptor = New<DescriptorExpr>();
    SLUICE_ASSIGN_OR_RETURN(descriptor->columns, ParseNameList());
    return Done(std::move(descriptor), first);
  }
  if (tokens_.PeekIs(0, "DEFAULT")) {
    return tokens_.Unsupported("DEFAULT as an argument", tokens_.Peek().range);
  }
  SLUICE_ASSIGN_OR_RETURN(ExprPtr value, ParseExpr());
  if (value->kind == ExprKind::kSubquery &&
      (tokens_.PeekIs(0, "PARTITION") || tokens_.PeekIs(0, "ORDER"))) {
    auto argument = New<TableArgumentExpr>();
    argument->query = std::move(value->As<SubqueryExpr>().query);
    SLUICE_RETURN_NOT_OK(ParseTableOrdering(argument.get()));
    return Done(std::move(argument), first);
  }
  return value;
}

// TABLE t, TABLE (query), each with PARTITION BY and ORDER BY.
Result<ExprPtr> Parser::ParseTableArgument() {
  const size_t first = tokens_.index();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("TABLE"));
  auto argument = New<TableArgumentExpr>();
  if (AtQuery()) {
    tokens_.Take();
    SLUICE_ASSIGN_OR_RETURN(argument->query, ParseQuery());
    SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  } else if (tokens_.Accept("(")) {
    SLUICE_ASSIGN_OR_RETURN(argument->table, ParsePath());
    SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  } else {
    SLUICE_ASSIGN_OR_RETURN(argument->table, ParsePath());
  }
  SLUICE_RETURN_NOT_OK(ParseTableOrdering(argument.get()));
  return Done(std::move(argument), first);
}

// A list in parentheses, or one expression; bare names may go on after a comma, as no argument is a
// bare name.
Status Parser::ParseTableOrdering(TableArgumentExpr* argument) {
  auto at_bare_name = [this] {
    return tokens_.PeekIs(0, ",") && tokens_.Peek(1).IsName() &&
           (tokens_.PeekIs(2, ",") || tokens_.PeekIs(2, ")") || tokens_.PeekIs(2, "ORDER"));
  };
  if (tokens_.Accept("PARTITION")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("BY"));
    if (tokens_.Accept("(")) {
      SLUICE_RETURN_NOT_OK(ParseExprList(&argument->partition_by));
      SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
    } else {
      for (bool more = true; more;) {
        SLUICE_ASSIGN_OR_RETURN(ExprPtr key, ParseExpr());
        argument->partition_by.push_back(std::move(key));
        more = at_bare_name() && tokens_.Accept(",");
      }
    }
  }
  if (tokens_.Accept("ORDER")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("BY"));
    const bool parentheses = tokens_.Accept("(");
    do {
      SLUICE_ASSIGN_OR_RETURN(OrderItem item, ParseOrderItem());
      argument->order_by.push_back(std::move(item));
    } while (parentheses && tokens_.Accept(","));
    if (parentheses) SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  }
  return {};
}

Status Parser::ParseCallTail(CallExpr* call) {
  if (call->nulls == NullTreatment::kNone) SLUICE_RETURN_NOT_OK(ParseNullTreatment(call));
  if (tokens_.PeekIs(0, "WITHIN")) {
    return tokens_.Unsupported("WITHIN " + tokens_.Peek(1).value, tokens_.Peek().range);
  }
  if (tokens_.Accept("FILTER")) {
    SLUICE_RETURN_NOT_OK(tokens_.ExpectAll({"(", "WHERE"}));
    SLUICE_ASSIGN_OR_RETURN(call->filter, ParseExpr());
    SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  }
  if (!tokens_.Accept("OVER")) return {};
  call->over = std::make_unique<WindowSpec>();
  if (tokens_.At("(")) {
    SLUICE_ASSIGN_OR_RETURN(*call->over, ParseWindowSpec());
    return {};
  }
  SLUICE_ASSIGN_OR_RETURN(call->over->base_name, ParseName());
  call->over->range = call->over->base_name->range;
  return {};
}

// Behind the '(': true when the function has a syntax of its own and its arguments were read.
Result<bool> Parser::ParseSpecialForm(CallExpr* call) {
  const std::string name = call->UpperName();
  Status status;
  if (name == "EXTRACT") {
    status = ParseExtract(call);
  } else if (name == "FLOOR" || name == "CEIL" || name == "CEILING") {
    status = ParseFloor(call);
  } else if (name == "POSITION") {
    status = ParsePosition(call);
  } else if (name == "SUBSTRING") {
    status = ParseSubstring(call);
  } else if (name == "TRIM") {
    status = ParseTrim(call);
  } else if (name == "OVERLAY") {
    status = ParseOverlay(call);
  } else if (name == "TIMESTAMPADD" || name == "TIMESTAMPDIFF") {
    status = ParseTimestampUnit(call);
  } else if (name == "JSON_VALUE" || name == "JSON_QUERY" || name == "JSON_EXISTS" ||
             name == "JSON_OBJECT" || name == "JSON_ARRAY" || name == "JSON_OBJECTAGG" ||
             name == "JSON_ARRAYAGG") {
    status = ParseJsonCall(call, name);
  } else {
    return false;
  }
  SLUICE_RETURN_NOT_OK(status);
  return true;
}

Status Parser::AddArgument(CallExpr* call, int least) {
  SLUICE_ASSIGN_OR_RETURN(ExprPtr argument, ParseBinary(least));
  call->arguments.push_back(std::move(argument));
  return {};
}

Result<ExprPtr> Parser::ParseUnitSymbol() {
  const size_t first = tokens_.index();
  auto symbol = New<SymbolExpr>();
  SLUICE_ASSIGN_OR_RETURN(symbol->unit, ParseTimeUnit());
  symbol->name = TimeUnitText(*symbol->unit);
  return Done(std::move(symbol), first);
}

Status Parser::ParseExtract(CallExpr* call) {
  call->form = CallForm::kExtract;
  SLUICE_ASSIGN_OR_RETURN(ExprPtr unit, ParseUnitSymbol());
  call->arguments.push_back(std::move(unit));
  SLUICE_RETURN_NOT_OK(tokens_.Expect("FROM"));
  return AddArgument(call);
}

Status Parser::ParseFloor(CallExpr* call) {
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  if (tokens_.Accept("TO")) {
    call->form = CallForm::kFloorTo;
    SLUICE_ASSIGN_OR_RETURN(ExprPtr unit, ParseUnitSymbol());
    call->arguments.push_back(std::move(unit));
  }
  return {};
}

Status Parser::ParsePosition(CallExpr* call) {
  call->form = CallForm::kPosition;
  SLUICE_RETURN_NOT_OK(AddArgument(call, kAdditiveLevel));  // IN is ours, not the operator.
  SLUICE_RETURN_NOT_OK(tokens_.Expect("IN"));
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  return tokens_.Accept("FROM") ? AddArgument(call) : Status::OK();
}

Status Parser::ParseSubstring(CallExpr* call) {
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  if (tokens_.Accept(",")) {
    SLUICE_RETURN_NOT_OK(AddArgument(call));
    return tokens_.Accept(",") ? AddArgument(call) : Status::OK();
  }
  call->form = CallForm::kSubstring;
  SLUICE_RETURN_NOT_OK(tokens_.Expect("FROM"));
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  return tokens_.Accept("FOR") ? AddArgument(call) : Status::OK();
}

Status Parser::ParseTrim(CallExpr* call) {
  call->form = CallForm::kTrim;
  const size_t first = tokens_.index();
  auto side = New<SymbolExpr>();
  side->name = "BOTH";
  auto blank = New<LiteralExpr>();
  blank->literal_kind = LiteralKind::kString;
  blank->text = " ";
  blank->range = tokens_.Peek().range;
  ExprPtr characters = std::move(blank);
  bool from = false;
  for (std::string_view word : {"BOTH", "LEADING", "TRAILING"}) {
    if (!tokens_.Accept(word)) continue;
    side->name = word;
    from = true;
    break;
  }
  ExprPtr text;
  if (!from || !tokens_.PeekIs(0, "FROM")) {
    SLUICE_ASSIGN_OR_RETURN(text, ParseExpr());
  }
  if (tokens_.Accept("FROM")) {
    if (text != nullptr) characters = std::move(text);
    SLUICE_ASSIGN_OR_RETURN(text, ParseExpr());
  } else if (from) {
    return tokens_.Fail();
  }
  call->arguments.push_back(Done(std::move(side), first));
  call->arguments.push_back(std::move(characters));
  call->arguments.push_back(std::move(text));
  return {};
}

Status Parser::ParseOverlay(CallExpr* call) {
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  if (tokens_.Accept(",")) {
    SLUICE_RETURN_NOT_OK(AddArgument(call));
    SLUICE_RETURN_NOT_OK(tokens_.Expect(","));
    SLUICE_RETURN_NOT_OK(AddArgument(call));
    return tokens_.Accept(",") ? AddArgument(call) : Status::OK();
  }
  call->form = CallForm::kOverlay;
  SLUICE_RETURN_NOT_OK(tokens_.Expect("PLACING"));
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  SLUICE_RETURN_NOT_OK(tokens_.Expect("FROM"));
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  return tokens_.Accept("FOR") ? AddArgument(call) : Status::OK();
}

Status Parser::ParseTimestampUnit(CallExpr* call) {
  call->form = CallForm::kTimestampUnit;
  SLUICE_ASSIGN_OR_RETURN(ExprPtr unit, ParseUnitSymbol());
  call->arguments.push_back(std::move(unit));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(","));
  SLUICE_RETURN_NOT_OK(AddArgument(call));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(","));
  return AddArgument(call);
}

}  // namespace sluice::sql
