// The recursive descent itself. One method a rule of the grammar, spread over parse_*.cc by area.
//
// A method is called with its first token next and leaves behind its last. Nothing backtracks: a
// few rules look ahead instead.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "sql/syntax/ast.h"
#include "sql/syntax/parser.h"
#include "sql/syntax/token_stream.h"

namespace sluice::sql {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), tokens_(text) {}

  ScriptParse Script();
  Result<ParsedStatement> Single();
  Result<ExprPtr> OnlyExpression();
  Result<QueryPtr> OnlyQuery();
  Result<TypePtr> OnlyType();
  Result<NamePath> OnlyPath();

 private:
  // Binding strength, loosest first; a larger number binds tighter.
  enum Precedence {
    kOrLevel = 1,
    kAndLevel,
    kNotLevel,
    kIsLevel,
    kComparisonLevel,
    kAdditiveLevel,
    kMultiplicativeLevel,
    kUnaryLevel,
  };

  /// Counts how deep the parser is inside itself, and how high the tree below has grown (a chain a
  /// + b + … grows upwards without any recursion). Both are bounded so that no text can exhaust a
  /// stack, here or in those who walk the tree.
  class Nesting {
   public:
    /// `counted`: one more level of nesting as a reader sees it; otherwise only the height is kept
    /// apart.
    explicit Nesting(Parser* parser, bool counted = true);
    ~Nesting();
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Status Check() const;

   private:
    Parser* parser_;
    int outer_height_;
    bool counted_;
  };
  /// Notes one more link of a left-deep chain.
  Status GrowChain(int links = 1);

  template <typename T>
  static std::unique_ptr<T> New() {
    return std::make_unique<T>();
  }
  /// Sets the range from token `first` to the last one taken.
  template <typename T>
  std::unique_ptr<T> Done(std::unique_ptr<T> node, size_t first) {
    node->range = tokens_.Span(first);
    return node;
  }

  // parser.cc: names, strings, lists.
  Result<Identifier> ParseName();
  bool AtName();
  Result<NamePath> ParsePath();
  Result<std::string> ParseString();
  Result<int64_t> ParseInteger(std::string_view what);
  Result<std::vector<Identifier>> ParseNameList();
  Result<std::vector<OptionPair>> ParseOptions();
  Result<std::vector<std::string>> ParseKeyList();
  Result<std::optional<std::string>> ParseOptionalComment();
  Result<bool> ParseIfExists();
  Result<bool> ParseIfNotExists();
  Status EndOfStatement();
  Status ParseOne(ScriptParse* script, bool* went_wrong);

  // parse_type.cc
  Result<TypePtr> ParseType(bool allow_nullability);
  Result<TypePtr> ParseBaseType();
  Status ParseTypeArguments(TypeSyntax* type, int most);
  Status ParseTypeChildren(TypeSyntax* type, int count);
  Status ParseRowFields(TypeSyntax* type);
  Status ParseTimeZone(TypeSyntax* type);
  Status ParseClassArguments(TypeSyntax* type);
  Status ParseNullability(TypeSyntax* type);

  // parse_literal.cc
  Result<ExprPtr> ParseLiteralToken();
  Result<std::string> ParseStringParts();
  Result<ExprPtr> ParseTimeLiteral();
  bool AtTimeLiteral();
  Result<ExprPtr> ParseInterval();
  Result<IntervalQualifier> ParseIntervalQualifier();
  bool AtIntervalUnit();
  Result<TimeUnit> ParseTimeUnit();
  std::optional<TimeUnit> PeekTimeUnit(size_t ahead = 0);

  // parse_expression.cc
  Result<ExprPtr> ParseExpr() { return ParseBinary(kOrLevel); }
  Result<ExprPtr> ParseBinary(int least);
  Result<ExprPtr> ParseChain(ExprPtr first_term, BinaryOp op, int level, size_t first);
  Result<ExprPtr> ParseOperator(ExprPtr left, BinaryOp op, int level, size_t first);
  std::optional<std::pair<BinaryOp, int>> PeekOperator();
  bool AtPredicate(int least);
  Result<ExprPtr> ParsePredicate(ExprPtr left, size_t first);
  Result<ExprPtr> ParseIs(ExprPtr left, size_t first);
  Result<ExprPtr> ParseIn(ExprPtr left, bool negated, size_t first);
  Result<ExprPtr> ParseLike(ExprPtr left, LikeKind kind, bool negated, size_t first);
  Result<ExprPtr> ParseQuantified(ExprPtr left, BinaryOp op, size_t first);
  Status RefuseOperator();
  Result<ExprPtr> ParsePrefix();
  Result<ExprPtr> ParsePostfix();
  Result<ExprPtr> ParsePrimary();
  Result<ExprPtr> ParseWord();
  Result<ExprPtr> ParseParenthesized();
  Result<ExprPtr> ParseCase();
  Result<ExprPtr> ParseCast();
  Result<ExprPtr> ParseConstructor();
  Result<ExprPtr> ParseNameOrCall();
  Status ParseExprList(std::vector<ExprPtr>* list);
  Result<ExprPtr> ParseSubquery();
  /// True when the '(' (or word) `ahead` tokens on begins a query rather than an expression or a
  /// join.
  bool AtQuery(size_t ahead = 0, int depth = 0);

  // parse_call.cc
  Result<ExprPtr> ParseCall(NamePath name, size_t first);
  Status ParseArguments(CallExpr* call);
  Result<ExprPtr> ParseArgument();
  Result<ExprPtr> ParseArgumentValue();
  Result<ExprPtr> ParseTableArgument();
  Status ParseTableOrdering(TableArgumentExpr* argument);
  Status ParseCallTail(CallExpr* call);
  Status ParseNullTreatment(CallExpr* call);
  Result<bool> ParseSpecialForm(CallExpr* call);
  Status ParseExtract(CallExpr* call);
  Status ParseFloor(CallExpr* call);
  Status ParsePosition(CallExpr* call);
  Status ParseSubstring(CallExpr* call);
  Status ParseTrim(CallExpr* call);
  Status ParseOverlay(CallExpr* call);
  Status ParseTimestampUnit(CallExpr* call);
  Result<ExprPtr> ParseUnitSymbol();
  Status AddArgument(CallExpr* call, int least = kOrLevel);

  // parse_json.cc
  Status ParseJsonCall(CallExpr* call, std::string_view function);
  Status ParseJsonPathCall(CallExpr* call, std::string_view function);
  Status ParseJsonBehavior(JsonClauses* clauses, std::string_view function);
  Status ParseJsonWrapper(JsonClauses* clauses);
  Status ParseJsonEntry(CallExpr* call);
  Status ParseJsonNulls(JsonClauses* clauses);

  // parse_query.cc
  Result<QueryPtr> ParseQuery();
  Status ParseWith(Query* query);
  Result<BodyPtr> ParseBody();
  Result<BodyPtr> ParseIntersect();
  Result<BodyPtr> ParseTerm();
  Result<BodyPtr> ParseSelect();
  Status ParseSelectItem(SelectBody* select);
  Status ParseClauses(SelectBody* select);
  Result<BodyPtr> ParseValues();
  Status ParseLimits(Query* query);
  Result<std::vector<OrderItem>> ParseOrderBy();
  Result<OrderItem> ParseOrderItem();
  Result<GroupItem> ParseGroupItem();
  Result<WindowSpec> ParseWindowSpec();
  Status ParseFrame(WindowSpec* window);
  Result<FrameBound> ParseFrameBound();
  Result<std::vector<Hint>> ParseHints();
  Status ParseHintArguments(Hint* hint);

  // parse_from.cc
  Result<TableRefPtr> ParseFrom();
  Result<TableRefPtr> ParseJoined();
  Result<TableRefPtr> ParseTablePrimary();
  Result<TableRefPtr> ParseNamedTable(size_t first);
  Result<TableRefPtr> ParseTableCall(bool lateral, size_t first);
  Result<TableRefPtr> ParseUnnest(bool lateral, size_t first);
  Result<TableRefPtr> ParseDerived(bool lateral, size_t first);
  Result<std::optional<JoinKind>> ParseJoinKind(bool* natural);
  Status ParseAlias(TableRef* table);
  Status RefuseTableOperator();

  // parse_table.cc
  Result<StatementPtr> ParseCreateTable(CreateMode mode, bool temporary);
  Status ParseTableBody(CreateTable* create);
  Result<TableElement> ParseTableElement();
  Result<ColumnDefinition> ParseColumn();
  Status ParseColumnRest(ColumnDefinition* column);
  Result<WatermarkDefinition> ParseWatermark();
  Result<std::optional<KeyConstraint>> ParseKey(bool at_column);
  Result<Distribution> ParseDistribution();
  Result<LikeClause> ParseLikeClause();
  Result<LikeOption> ParseLikeOption();
  Result<PartitionSpec> ParsePartitionSpec();
  Result<StatementPtr> ParseAlterTable();
  Status ParseAlterAction(AlterTable* alter);
  Status ParseAlterRename(AlterTable* alter);
  Status ParseAlterAdd(AlterTable* alter);
  Status ParseAlterModify(AlterTable* alter);
  Status ParseAlterDrop(AlterTable* alter);
  Status ParseAlterElements(AlterTable* alter);
  Result<TableElement> ParseAlterElement();

  // parse_statement.cc
  Result<StatementPtr> ParseAnyStatement();
  Result<StatementPtr> ParseCreate();
  Result<StatementPtr> ParseCreateView(bool temporary, bool or_replace);
  Result<StatementPtr> ParseCreateCatalog();
  Result<StatementPtr> ParseCreateDatabase();
  Result<StatementPtr> ParseAlter();
  Result<StatementPtr> ParseAlterView();
  Result<StatementPtr> ParseAlterCatalog();
  Result<StatementPtr> ParseAlterDatabase();
  Result<StatementPtr> ParseDrop();
  Result<StatementPtr> ParseInsert();
  Result<StatementPtr> ParseExecute();
  Result<StatementPtr> ParseStatementSetBody();
  Result<StatementPtr> ParseBegin();
  Result<StatementPtr> ParseUnsupportedStart();

  // parse_utility.cc
  Result<StatementPtr> ParseUse();
  Result<StatementPtr> ParseSet();
  Result<StatementPtr> ParseReset();
  Result<StatementPtr> ParseShow();
  Status ParseShowWhat(ShowStatement* show);
  Status ParseShowFilter(ShowStatement* show, bool with_object);
  Status ParseShowCreate(ShowStatement* show);
  Result<StatementPtr> ParseDescribe();
  Result<StatementPtr> ParseExplain();
  Result<StatementPtr> ParseStopJob();
  Result<StatementPtr> ParseCompactTable();
  Result<StatementPtr> ParseCleanTable();
  Result<StatementPtr> ParseUnsupported(std::string feature);

  std::string_view text_;
  TokenStream tokens_;
  int depth_ = 0;
  int height_ = 0;
  bool in_statement_set_ = false;
  std::vector<std::string> notes_;
};

}  // namespace sluice::sql
