// IN and EXISTS over a join table: TRUE, FALSE or NULL for each left row.
#pragma once

#include <memory>
#include <vector>

#include "runtime/operators/hash_join.h"

namespace sluice::runtime {

// A row's mark is TRUE when some right row of its group fulfils everything; else NULL when for some
// right row that fulfils the residual an equality of IN is unknown; else FALSE.
class JoinMarks {
 public:
  /// `spec` and `table` must outlive the marks.
  static Result<std::unique_ptr<JoinMarks>> Make(const JoinSpec& spec, const JoinTable& table,
                                                 const expr::EvalContext& eval);
  /// BOOLEAN, one a row of `rows`; `groups` are theirs in the table.
  Result<std::shared_ptr<arrow::Array>> Of(const arrow::RecordBatch& rows,
                                           const std::vector<int32_t>& groups,
                                           const expr::EvalContext& eval) const;
  int64_t memory_bytes() const;

 private:
  enum class Mark : int8_t { kFalse, kUnknown, kTrue };

  JoinMarks(const JoinSpec& spec, const JoinTable& table) : spec_(spec), table_(table) {}
  bool ByPairsOnly() const;
  Status MarkMembers(const arrow::RecordBatch& rows, const std::vector<int32_t>& groups,
                     const expr::EvalContext& eval, std::vector<Mark>* marks,
                     std::vector<int64_t>* undecided) const;
  Status MarkPairs(const arrow::RecordBatch& rows, const std::vector<int32_t>& groups,
                   const std::vector<int64_t>& undecided, const expr::EvalContext& eval,
                   std::vector<Mark>* marks) const;

  const JoinSpec& spec_;
  const JoinTable& table_;
  std::unique_ptr<expr::GroupTable> members_;  // Group and member values of right rows, no NULLs.
  std::vector<bool> group_has_null_;           // Some member value of the group is NULL.
};

}  // namespace sluice::runtime
