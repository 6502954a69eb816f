// Joins in the job graph: what is hashed, and where rows must come together.
#include <algorithm>
#include <optional>

#include "expr/builder.h"
#include "expr/nodes.h"
#include "runtime/operators/hash_join.h"
#include "runtime/operators/replicate_rows.h"
#include "sql/physical/job_builder.h"

namespace sluice::sql {

using runtime::Exchange;
using runtime::JoinSpec;
using runtime::OperatorSpec;

namespace {

struct KeyPair {
  expr::ExprPtr left;
  expr::ExprPtr right;  // By the right input's own positions.
};

/// `a` and `b` with one Arrow type, or nullopt: hashing needs equal bytes for equal values.
std::optional<KeyPair> OfOneType(expr::ExprPtr left, expr::ExprPtr right) {
  if (!left->type().ToArrow()->Equals(*right->type().ToArrow())) {
    const std::vector<SqlType> types = {left->type(), right->type()};
    const Result<SqlType> common = CommonType(types);
    if (!common.ok()) return std::nullopt;
    for (expr::ExprPtr* side : {&left, &right}) {
      Result<expr::ExprPtr> cast =
          expr::MakeImplicitCast(*side, common->WithNullable((*side)->type().nullable()));
      if (!cast.ok()) return std::nullopt;
      *side = *std::move(cast);
    }
    if (!left->type().ToArrow()->Equals(*right->type().ToArrow())) return std::nullopt;
  }
  return KeyPair{std::move(left), std::move(right)};
}

/// The two sides of `a = b` with one over each input.
std::optional<KeyPair> AsKeyPair(const expr::ExprPtr& conjunct, int left_width, int right_width) {
  const expr::CallExpr* equal = expr::AsCall(*conjunct, "=");
  if (equal == nullptr || !equal->deterministic()) return std::nullopt;
  expr::ExprPtr left = equal->arguments()[0];
  expr::ExprPtr right = equal->arguments()[1];
  const auto over_left = [&](const expr::Expr& e) {
    const std::vector<int> used = expr::UsedColumns(e);
    return !used.empty() && used.back() < left_width;
  };
  const auto over_right = [&](const expr::Expr& e) {
    const std::vector<int> used = expr::UsedColumns(e);
    return !used.empty() && used.front() >= left_width;
  };
  if (over_right(*left) && over_left(*right)) std::swap(left, right);
  if (!over_left(*left) || !over_right(*right)) return std::nullopt;
  std::vector<int> mapping(static_cast<size_t>(left_width + right_width), -1);
  for (int i = 0; i < right_width; ++i) mapping[static_cast<size_t>(left_width + i)] = i;
  return OfOneType(std::move(left), expr::RemapColumns(right, mapping));
}

runtime::JoinKind KindOf(JoinType type) {
  switch (type) {
    case JoinType::kInner:
      return runtime::JoinKind::kInner;
    case JoinType::kLeft:
      return runtime::JoinKind::kLeft;
    case JoinType::kRight:
      return runtime::JoinKind::kRight;
    case JoinType::kFull:
      return runtime::JoinKind::kFull;
    case JoinType::kSingle:
      return runtime::JoinKind::kSingle;
    case JoinType::kMark:
      return runtime::JoinKind::kMark;
  }
  return runtime::JoinKind::kInner;
}

/// True when something below is read by others too: they may wait for this join, and it for them.
bool ReadsSharedPlan(const PlanNode& plan) {
  return std::any_of(plan.inputs.begin(), plan.inputs.end(), [](const PlanPtr& input) {
    return input.use_count() > 1 || ReadsSharedPlan(*input);
  });
}

Status SetConditions(const JoinNode& join, JoinSpec* spec) {
  std::vector<expr::ExprPtr> residual;
  if (join.condition) {
    for (const expr::ExprPtr& conjunct : expr::SplitConjuncts(join.condition)) {
      if (auto pair = AsKeyPair(conjunct, spec->left_width, spec->right_width)) {
        spec->left_keys.push_back(std::move(pair->left));
        spec->right_keys.push_back(std::move(pair->right));
      } else {
        residual.push_back(conjunct);
      }
    }
  }
  if (!residual.empty()) {
    SLUICE_ASSIGN_OR_RETURN(spec->residual, expr::MakeAnd(std::move(residual)));
  }
  if (join.membership.empty()) return {};
  for (const expr::ExprPtr& equality : join.membership) {
    if (auto pair = AsKeyPair(equality, spec->left_width, spec->right_width)) {
      spec->left_members.push_back(std::move(pair->left));
      spec->right_members.push_back(std::move(pair->right));
    }
  }
  if (spec->left_members.size() != join.membership.size()) {
    spec->left_members.clear();
    spec->right_members.clear();
  }
  SLUICE_ASSIGN_OR_RETURN(spec->membership,
                          expr::MakeAnd(std::vector<expr::ExprPtr>(join.membership)));
  return {};
}

}  // namespace

Result<JobBuilder::Stream> JobBuilder::BuildJoin(JoinNode& join) {
  JoinSpec spec;
  spec.kind = KindOf(join.type);
  spec.left = join.inputs[0]->schema;
  spec.right = join.inputs[1]->schema;
  spec.left_width = spec.left.column_count();
  spec.right_width = spec.right.column_count();
  spec.output = join.schema;
  spec.eval = {context_.eval.session_zone, context_.eval.fixed_now_ms};
  spec.left_changes = !KindsOf(*join.inputs[0], context_.connector.streaming).insert_only();
  spec.read_both = ReadsSharedPlan(join);
  SLUICE_RETURN_NOT_OK(SetConditions(join, &spec));
  SLUICE_ASSIGN_OR_RETURN(Stream left, Build(join.inputs[0]));
  SLUICE_ASSIGN_OR_RETURN(Stream right, Build(join.inputs[1]));
  left = WithKeyColumns(left, &spec.left_keys, &spec.left);
  right = WithKeyColumns(right, &spec.right_keys, &spec.right);

  const bool keyed = !spec.left_keys.empty();
  const bool right_rows_alone = join.type == JoinType::kRight || join.type == JoinType::kFull;
  spec.right_everywhere = !keyed && !right_rows_alone;
  const int parallelism = keyed              ? std::max(ParallelismOf(left), ParallelismOf(right))
                          : right_rows_alone ? 1
                                             : ParallelismOf(left);
  OperatorSpec operator_spec;
  operator_spec.id = NextId("join");
  operator_spec.name = "Join";
  operator_spec.make = [spec](int) -> Result<std::unique_ptr<runtime::Operator>> {
    return std::unique_ptr<runtime::Operator>(std::make_unique<runtime::HashJoinOperator>(spec));
  };
  const int vertex = AddVertex("Join", parallelism);
  graph_.vertices[static_cast<size_t>(vertex)].chain.push_back(std::move(operator_spec));
  if (keyed) {
    Connect(left.vertex, vertex, Exchange::kHash, ColumnIndices(spec.left_keys), 0);
    Connect(right.vertex, vertex, Exchange::kHash, ColumnIndices(spec.right_keys), 1);
  } else {
    Connect(left.vertex, vertex, right_rows_alone ? Exchange::kGather : Exchange::kForward, {}, 0);
    Connect(right.vertex, vertex, right_rows_alone ? Exchange::kGather : Exchange::kBroadcast, {},
            1);
  }
  return Stream{vertex, true};
}

Result<JobBuilder::Stream> JobBuilder::BuildReplicate(PlanNode& node) {
  SLUICE_ASSIGN_OR_RETURN(const Stream stream, Build(node.inputs[0]));
  OperatorSpec spec;
  spec.id = NextId("replicate");
  spec.name = "Replicate";
  spec.make = [output = node.schema](int) -> Result<std::unique_ptr<runtime::Operator>> {
    return std::unique_ptr<runtime::Operator>(
        std::make_unique<runtime::ReplicateRowsOperator>(output));
  };
  return Append(stream, std::move(spec));
}

}  // namespace sluice::sql
