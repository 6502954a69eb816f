// State of operators in a checkpoint: named fields per operator and subtask, addressed by operator
// id and field name, never by position in the plan. The file form (versioned, checksummed) is in
// checkpoint/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace sluice::runtime {

/// Fields of one subtask of one operator, as written by Snapshot. Values are opaque bytes.
using StateFields = std::map<std::string, std::string, std::less<>>;

/// Names of fields that PutBlob wrote begin so.
constexpr std::string_view kBlobPrefix = "blob:";

class StateWriter {
 public:
  void PutI64(std::string_view name, int64_t value);
  void PutBytes(std::string_view name, std::string bytes);
  void PutStrings(std::string_view name, const std::vector<std::string>& values);
  /// Bytes that stay the same over many checkpoints: a checkpoint on disk keeps them in a file of
  /// their own and shares it with the checkpoint before, rather than write them again.
  void PutBlob(std::string_view name, std::string bytes);
  StateFields Take() && { return std::move(fields_); }

 private:
  StateFields fields_;
};

/// Reads fields back. A missing field is kCorrupt naming operator and field; use Has for fields of
/// later versions.
class StateReader {
 public:
  StateReader(std::string operator_id, const StateFields& fields)
      : operator_id_(std::move(operator_id)), fields_(&fields) {}
  bool Has(std::string_view name) const { return fields_->find(name) != fields_->end(); }
  Result<int64_t> GetI64(std::string_view name) const;
  Result<std::string> GetBytes(std::string_view name) const;
  Result<std::vector<std::string>> GetStrings(std::string_view name) const;
  Result<std::string> GetBlob(std::string_view name) const;

 private:
  std::string operator_id_;
  const StateFields* fields_;
};

/// What the checkpoint holds for one operator: one reader per old subtask (their number may differ
/// from today's).
struct RestoredState {
  int64_t checkpoint_id = 0;
  /// Everything that this state was to publish is published, and may have been moved since.
  bool published = false;
  std::vector<StateReader> subtasks;
};

}  // namespace sluice::runtime
