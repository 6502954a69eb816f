// Writes syntax trees as SQL into one string; the three parts of unparsing share it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/syntax/ast.h"
#include "sql/syntax/unparse.h"

namespace sluice::sql {

class SqlWriter {
 public:
  /// With `clause_lines` each clause of a query begins a line of its own.
  explicit SqlWriter(bool clause_lines = false) : clause_lines_(clause_lines) {}
  std::string Finish() { return std::move(out_); }

  // unparse_expression.cc
  void Write(const Expr& expr);
  void Write(const TypeSyntax& type);
  void Write(const WindowSpec& window);  // With its parentheses.
  void Write(const IntervalQualifier& qualifier);
  void Write(const NamePath& path);
  void Write(const Identifier& name);

  // unparse_query.cc
  void Write(const Query& query);
  void Write(const QueryBody& body);
  void Write(const TableRef& table);

  // unparse_statement.cc
  void Write(const Statement& statement);

 private:
  void Put(std::string_view text) { out_.append(text); }
  void PutIf(bool condition, std::string_view text) {
    if (condition) out_.append(text);
  }
  /// `text` behind a blank or at the start of a line.
  void PutClause(std::string_view text) {
    out_ += clause_lines_ ? '\n' : ' ';
    out_.append(text);
  }
  template <typename List, typename Each>
  void PutList(const List& list, Each each, std::string_view separator = ", ") {
    bool first = true;
    for (const auto& element : list) {
      if (!first) Put(separator);
      first = false;
      each(element);
    }
  }
  void PutNames(const std::vector<Identifier>& names);  // (`a`, `b`)
  void PutExprs(const std::vector<ExprPtr>& list);
  void PutOrder(const std::vector<OrderItem>& items);
  void PutHints(const std::vector<Hint>& hints);

  /// `expr`, in parentheses when it binds looser than `level`.
  void WriteAtLeast(const Expr& expr, int level);
  void WriteLiteral(const LiteralExpr& literal);
  void WritePrimary(const Expr& expr);
  void WriteQueryPart(const Expr& expr);
  void WriteUnary(const UnaryExpr& unary);
  void WriteBinary(const BinaryExpr& binary);
  void WriteLike(const LikeExpr& like);
  void WriteIs(const IsExpr& is);
  void WriteIn(const Expr& operand, std::string_view word, const std::vector<ExprPtr>& list,
               const Query* query);
  void WriteCase(const CaseExpr& node);
  void WriteCall(const CallExpr& call);
  void WriteCallArguments(const CallExpr& call);
  void WriteSpecialArguments(const CallExpr& call, std::string_view first, std::string_view second,
                             std::string_view third);
  void WriteJsonArguments(const CallExpr& call);
  void WriteJsonBehavior(JsonBehavior behavior, const Expr* value, std::string_view on);
  void WriteTableArgument(const TableArgumentExpr& argument);
  void WritePostfixOperand(const Expr& operand, bool names_too);
  void WriteBound(const FrameBound& bound);

  void WriteSelect(const SelectBody& select);
  void WriteGroup(const GroupItem& item);
  void WriteJoin(const JoinRef& join);
  void WriteAlias(const TableRef& table);

  void WriteCreateTable(const CreateTable& create);
  void WriteElement(const TableElement& element);
  void WriteColumn(const ColumnDefinition& column);
  void WriteKey(const KeyConstraint& key, bool at_column);
  void WriteLikeClause(const LikeClause& like);
  void WriteAlterTable(const AlterTable& alter);
  void WriteElements(const std::vector<TableElement>& elements);
  void WriteCreateView(const CreateView& create);
  void WriteInsert(const InsertStatement& insert);
  void WriteShow(const ShowStatement& show);
  void WriteDescribe(const DescribeStatement& describe);
  void WriteExplain(const ExplainStatement& explain);
  void WriteCatalogStatement(const Statement& statement);
  void WriteSmallStatement(const Statement& statement);
  void PutOptions(const std::vector<OptionPair>& options);
  void PutKeys(const std::vector<std::string>& keys);
  void PutPartition(const PartitionSpec& spec);
  void PutComment(const std::optional<std::string>& comment);

  const bool clause_lines_;
  std::string out_;
};

}  // namespace sluice::sql
