// table.exec.sink.type-length-enforcer: values longer than their CHAR, VARCHAR, BINARY or VARBINARY
// column.
#pragma once

#include <memory>
#include <vector>

#include "runtime/operator.h"
#include "types/schema.h"

namespace sluice::runtime {

/// Thread: the task's. State: none.
class TypeLengthEnforcer final : public Operator {
 public:
  /// TRIM_PAD cuts what is too long and fills CHAR and BINARY up; otherwise a value that does not
  /// fit is an error.
  TypeLengthEnforcer(const Schema& schema, bool trim_and_pad);

  /// True when a column of `schema` has a length to be kept: without one the operator can be left
  /// out.
  static bool HasWork(const Schema& schema);

  Status Process(Batch batch, Output& out) override;

 private:
  Result<std::shared_ptr<arrow::Array>> Enforce(const Column& column,
                                                const std::shared_ptr<arrow::Array>& values) const;

  const Schema schema_;
  const bool trim_and_pad_;
};

}  // namespace sluice::runtime
