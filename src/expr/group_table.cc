#include "expr/group_table.h"

#include <arrow/api.h>

#include "expr/key_bytes.h"
#include "expr/key_split.h"
#include "expr/sort.h"
#include "types/arrow_status.h"

namespace sluice::expr {

namespace {

/// Keys as bytes, one after the other.
struct StoredKey {
  uint64_t hash;
  size_t begin;
  uint32_t size;
};

}  // namespace

struct GroupTable::Rep {
  Schema keys;
  arrow::MemoryPool* pool;
  std::string arena;
  std::vector<StoredKey> stored;  // By group id.
  std::vector<int32_t> slots;     // Open addressing; -1 is free.
  std::vector<std::shared_ptr<arrow::RecordBatch>>
      chunks;  // The keys as rows, in the order of ids.
  int64_t chunk_bytes = 0;

  Rep(Schema schema, arrow::MemoryPool* memory)
      : keys(std::move(schema)), pool(memory), slots(256, -1) {}

  std::vector<int> columns() const {
    std::vector<int> all;
    for (int i = 0; i < keys.column_count(); ++i) all.push_back(i);
    return all;
  }

  /// The slot of `key`, or the free one where it belongs.
  size_t SlotOf(uint64_t hash, std::string_view key) const {
    size_t slot = hash & (slots.size() - 1);
    while (slots[slot] >= 0) {
      const StoredKey& other = stored[static_cast<size_t>(slots[slot])];
      if (other.hash == hash && std::string_view(arena).substr(other.begin, other.size) == key) {
        break;
      }
      slot = (slot + 1) & (slots.size() - 1);
    }
    return slot;
  }

  void Add(size_t slot, uint64_t hash, std::string_view key) {
    slots[slot] = static_cast<int32_t>(stored.size());
    stored.push_back({hash, arena.size(), static_cast<uint32_t>(key.size())});
    arena.append(key);
    if (stored.size() * 2 <= slots.size()) return;
    slots.assign(slots.size() * 2, -1);
    for (size_t id = 0; id < stored.size(); ++id) {
      size_t at = stored[id].hash & (slots.size() - 1);
      while (slots[at] >= 0) at = (at + 1) & (slots.size() - 1);
      slots[at] = static_cast<int32_t>(id);
    }
  }

  /// Keeps the rows of new keys, in the order of their ids.
  Status KeepRows(const arrow::RecordBatch& rows, const std::vector<int64_t>& new_rows) {
    if (new_rows.empty()) return {};
    SLUICE_ASSIGN_OR_RETURN(auto chunk, TakeRows(rows, new_rows, pool));
    chunk_bytes += Batch(chunk).byte_size();
    chunks.push_back(std::move(chunk));
    return {};
  }
};

GroupTable::GroupTable(Schema keys, arrow::MemoryPool* pool)
    : rep_(std::make_unique<Rep>(std::move(keys), pool)) {}
GroupTable::~GroupTable() = default;
GroupTable::GroupTable(GroupTable&&) noexcept = default;
GroupTable& GroupTable::operator=(GroupTable&&) noexcept = default;

namespace {

void KeyOfRow(const arrow::RecordBatch& keys, int64_t row, std::string* bytes) {
  bytes->clear();
  for (const std::shared_ptr<arrow::Array>& column : keys.columns()) {
    AppendKeyBytes(*column, row, bytes);
  }
}

}  // namespace

Result<std::vector<int32_t>> GroupTable::GroupIds(const arrow::RecordBatch& keys) {
  // Within the batch first: its distinct keys are fewer than its rows, and only they are looked up.
  SLUICE_ASSIGN_OR_RETURN(KeyIds local, IdentifyKeys(keys, rep_->columns()));
  std::vector<int32_t> group_of_key;
  std::vector<int64_t> new_rows;
  std::string bytes;
  for (const int64_t row : local.first_row) {
    KeyOfRow(keys, row, &bytes);
    const uint64_t hash = HashBytes(bytes);
    const size_t slot = rep_->SlotOf(hash, bytes);
    if (rep_->slots[slot] < 0) {
      group_of_key.push_back(static_cast<int32_t>(rep_->stored.size()));
      rep_->Add(slot, hash, bytes);
      new_rows.push_back(row);
    } else {
      group_of_key.push_back(rep_->slots[slot]);
    }
  }
  SLUICE_RETURN_NOT_OK(rep_->KeepRows(keys, new_rows));
  for (int32_t& id : local.id_of_row) id = group_of_key[static_cast<size_t>(id)];
  return std::move(local.id_of_row);
}

Result<std::vector<int32_t>> GroupTable::FindGroupIds(const arrow::RecordBatch& keys) const {
  SLUICE_ASSIGN_OR_RETURN(KeyIds local, IdentifyKeys(keys, rep_->columns()));
  std::vector<int32_t> group_of_key;
  std::string bytes;
  for (const int64_t row : local.first_row) {
    KeyOfRow(keys, row, &bytes);
    group_of_key.push_back(rep_->slots[rep_->SlotOf(HashBytes(bytes), bytes)]);
  }
  for (int32_t& id : local.id_of_row) id = group_of_key[static_cast<size_t>(id)];
  return std::move(local.id_of_row);
}

int64_t GroupTable::group_count() const { return static_cast<int64_t>(rep_->stored.size()); }

Result<std::shared_ptr<arrow::RecordBatch>> GroupTable::Keys(int64_t begin, int64_t end) const {
  std::vector<std::shared_ptr<arrow::RecordBatch>> parts;
  int64_t first = 0;
  for (const auto& chunk : rep_->chunks) {
    const int64_t from = std::max(begin - first, int64_t{0});
    const int64_t to = std::min(end - first, chunk->num_rows());
    if (from < to) parts.push_back(chunk->Slice(from, to - from));
    first += chunk->num_rows();
  }
  const std::shared_ptr<arrow::Schema> schema = rep_->keys.ToArrow();
  arrow::ArrayVector columns;
  for (int i = 0; i < rep_->keys.column_count(); ++i) {
    arrow::ArrayVector pieces;
    for (const auto& part : parts) pieces.push_back(part->column(i));
    if (pieces.empty()) {
      SLUICE_ASSIGN_ARROW(auto none, arrow::MakeEmptyArray(schema->field(i)->type(), rep_->pool));
      columns.push_back(std::move(none));
    } else {
      SLUICE_ASSIGN_ARROW(auto joined, arrow::Concatenate(pieces, rep_->pool));
      columns.push_back(std::move(joined));
    }
  }
  const int64_t count = std::max(int64_t{0}, std::min(end, group_count()) - begin);
  return arrow::RecordBatch::Make(schema, count, std::move(columns));
}

int64_t GroupTable::memory_bytes() const {
  return static_cast<int64_t>(rep_->arena.capacity() + rep_->stored.capacity() * sizeof(StoredKey) +
                              rep_->slots.capacity() * sizeof(int32_t)) +
         rep_->chunk_bytes;
}

}  // namespace sluice::expr
