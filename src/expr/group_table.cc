#include "expr/group_table.h"

#include <string_view>

#include <arrow/array/concatenate.h>

#include "expr/key_bytes.h"
#include "expr/sort.h"
#include "types/arrow_status.h"

namespace sluice::expr {
namespace {

constexpr int32_t kEmpty = -1;

}  // namespace

struct GroupTable::Rep {
  Schema schema;
  std::shared_ptr<arrow::Schema> arrow_schema;
  arrow::MemoryPool* pool;
  std::vector<int> all_columns;
  // Key bytes of all groups, one behind the other, and where each begins.
  std::string bytes;
  std::vector<size_t> begin = {0};
  std::vector<uint64_t> hashes;
  std::vector<int32_t> slots;
  // Key rows in the order of their groups, one batch a call that made groups; joined when they are
  // asked for.
  std::vector<std::shared_ptr<arrow::RecordBatch>> key_rows;

  std::string_view KeyOf(int32_t id) const {
    const size_t at = begin[static_cast<size_t>(id)];
    return std::string_view(bytes).substr(at, begin[static_cast<size_t>(id) + 1] - at);
  }

  int64_t group_count() const { return static_cast<int64_t>(hashes.size()); }

  /// Slot of the key: its id is there, or kEmpty where it would go.
  size_t SlotOf(std::string_view key, uint64_t hash) const {
    size_t slot = hash & (slots.size() - 1);
    while (slots[slot] != kEmpty &&
           (hashes[static_cast<size_t>(slots[slot])] != hash || KeyOf(slots[slot]) != key)) {
      slot = (slot + 1) & (slots.size() - 1);
    }
    return slot;
  }

  void Grow() {
    slots.assign(slots.size() * 2, kEmpty);
    for (size_t id = 0; id < hashes.size(); ++id) {
      size_t slot = hashes[id] & (slots.size() - 1);
      while (slots[slot] != kEmpty) slot = (slot + 1) & (slots.size() - 1);
      slots[slot] = static_cast<int32_t>(id);
    }
  }

  int32_t Insert(std::string_view key, uint64_t hash, size_t slot) {
    const int32_t id = static_cast<int32_t>(hashes.size());
    bytes.append(key);
    begin.push_back(bytes.size());
    hashes.push_back(hash);
    slots[slot] = id;
    if (hashes.size() * 2 > slots.size()) Grow();
    return id;
  }

  Status JoinKeyRows() {
    if (key_rows.size() <= 1) return {};
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::RecordBatch> joined,
                            FromArrow(arrow::ConcatenateRecordBatches(key_rows, pool)));
    key_rows.assign(1, std::move(joined));
    return {};
  }
};

GroupTable::GroupTable(Schema keys, arrow::MemoryPool* pool) : rep_(std::make_unique<Rep>()) {
  rep_->arrow_schema = keys.ToArrow();
  rep_->pool = pool;
  for (int i = 0; i < keys.column_count(); ++i) rep_->all_columns.push_back(i);
  rep_->schema = std::move(keys);
  rep_->slots.assign(256, kEmpty);
}

GroupTable::~GroupTable() = default;
GroupTable::GroupTable(GroupTable&&) noexcept = default;
GroupTable& GroupTable::operator=(GroupTable&&) noexcept = default;

Result<std::vector<int32_t>> GroupTable::GroupIds(const arrow::RecordBatch& keys) {
  Rep& rep = *rep_;
  std::vector<int32_t> ids(static_cast<size_t>(keys.num_rows()), 0);
  if (rep.all_columns.empty()) {
    if (rep.hashes.empty() && keys.num_rows() > 0) rep.Insert("", 0, 0);
    return ids;
  }
  SLUICE_ASSIGN_OR_RETURN(const KeyBytes bytes, KeyBytes::Make(keys, rep.all_columns));
  std::vector<int64_t> new_rows;
  for (int64_t row = 0; row < keys.num_rows(); ++row) {
    const std::string_view key = bytes.key(row);
    if (row > 0 && key == bytes.key(row - 1)) {
      ids[static_cast<size_t>(row)] = ids[static_cast<size_t>(row) - 1];
      continue;
    }
    const uint64_t hash = StableHash(key);
    const size_t slot = rep.SlotOf(key, hash);
    int32_t id = rep.slots[slot];
    if (id == kEmpty) {
      id = rep.Insert(key, hash, slot);
      new_rows.push_back(row);
    }
    ids[static_cast<size_t>(row)] = id;
  }
  if (!new_rows.empty()) {
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::RecordBatch> rows,
                            TakeRows(keys, new_rows, rep.pool));
    rep.key_rows.push_back(
        arrow::RecordBatch::Make(rep.arrow_schema, rows->num_rows(), rows->columns()));
    if (rep.key_rows.size() >= 1024) SLUICE_RETURN_NOT_OK(rep.JoinKeyRows());
  }
  return ids;
}

Result<std::vector<int32_t>> GroupTable::FindGroupIds(const arrow::RecordBatch& keys) const {
  const Rep& rep = *rep_;
  std::vector<int32_t> ids(static_cast<size_t>(keys.num_rows()), rep.hashes.empty() ? kEmpty : 0);
  if (rep.all_columns.empty()) return ids;
  SLUICE_ASSIGN_OR_RETURN(const KeyBytes bytes, KeyBytes::Make(keys, rep.all_columns));
  for (int64_t row = 0; row < keys.num_rows(); ++row) {
    const std::string_view key = bytes.key(row);
    ids[static_cast<size_t>(row)] = rep.slots[rep.SlotOf(key, StableHash(key))];
  }
  return ids;
}

int64_t GroupTable::group_count() const { return rep_->group_count(); }

Result<std::shared_ptr<arrow::RecordBatch>> GroupTable::Keys(int64_t begin, int64_t end) const {
  if (rep_->all_columns.empty()) {
    return arrow::RecordBatch::Make(rep_->arrow_schema, end - begin, arrow::ArrayVector{});
  }
  SLUICE_RETURN_NOT_OK(rep_->JoinKeyRows());
  if (rep_->key_rows.empty()) {
    SLUICE_ASSIGN_OR_RETURN(
        std::shared_ptr<arrow::RecordBatch> none,
        FromArrow(arrow::RecordBatch::MakeEmpty(rep_->arrow_schema, rep_->pool)));
    return none;
  }
  return rep_->key_rows[0]->Slice(begin, end - begin);
}

int64_t GroupTable::memory_bytes() const {
  // Keys are held twice: as bytes for look-up and as rows for output.
  return static_cast<int64_t>(
      2 * rep_->bytes.capacity() + rep_->hashes.capacity() * sizeof(uint64_t) +
      rep_->begin.capacity() * sizeof(size_t) + rep_->slots.capacity() * sizeof(int32_t));
}

}  // namespace sluice::expr
