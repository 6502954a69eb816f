#include "expr/key_split.h"

#include <arrow/record_batch.h>

#include "expr/key_bytes.h"
#include "expr/sort.h"

namespace sluice::expr {
namespace {

constexpr int32_t kEmpty = -1;

/// Open-addressing table from key bytes to ids; grows with the number of distinct keys, not of
/// rows.
class IdTable {
 public:
  explicit IdTable(const KeyBytes& keys) : keys_(keys), slots_(64, kEmpty) {}

  int32_t IdOf(int64_t row, KeyIds* ids) {
    const std::string_view key = keys_.key(row);
    const uint64_t hash = StableHash(key);
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != kEmpty) {
      const int32_t id = slots_[slot];
      if (hashes_[static_cast<size_t>(id)] == hash &&
          keys_.key(ids->first_row[static_cast<size_t>(id)]) == key)
        return id;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    const int32_t id = static_cast<int32_t>(ids->first_row.size());
    ids->first_row.push_back(row);
    hashes_.push_back(hash);
    slots_[slot] = id;
    if (hashes_.size() * 2 > slots_.size()) Grow();
    return id;
  }

 private:
  void Grow() {
    slots_.assign(slots_.size() * 4, kEmpty);
    for (size_t id = 0; id < hashes_.size(); ++id) {
      size_t slot = hashes_[id] & (slots_.size() - 1);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<int32_t>(id);
    }
  }

  const KeyBytes& keys_;
  std::vector<int32_t> slots_;
  std::vector<uint64_t> hashes_;
};

Batch SelectColumns(const Batch& batch, const std::vector<int>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const int column : columns) {
    fields.push_back(batch.rows()->schema()->field(column));
    arrays.push_back(batch.column(column));
  }
  return Batch(arrow::RecordBatch::Make(arrow::schema(std::move(fields)), batch.row_count(),
                                        std::move(arrays)),
               batch.row_kinds());
}

/// Rows grouped by bucket, each bucket's rows in their old order: counting sort.
struct Grouped {
  std::vector<int64_t> rows;
  std::vector<int64_t> begin;  // One more than buckets.
};

Grouped GroupRows(const std::vector<int32_t>& bucket_of_row, size_t bucket_count) {
  Grouped grouped;
  grouped.begin.assign(bucket_count + 1, 0);
  for (const int32_t bucket : bucket_of_row) ++grouped.begin[static_cast<size_t>(bucket) + 1];
  for (size_t i = 0; i < bucket_count; ++i) grouped.begin[i + 1] += grouped.begin[i];
  grouped.rows.resize(bucket_of_row.size());
  std::vector<int64_t> next(grouped.begin.begin(), grouped.begin.end() - 1);
  for (size_t row = 0; row < bucket_of_row.size(); ++row) {
    grouped.rows[static_cast<size_t>(next[static_cast<size_t>(bucket_of_row[row])]++)] =
        static_cast<int64_t>(row);
  }
  return grouped;
}

}  // namespace

Result<KeyIds> IdentifyKeys(const arrow::RecordBatch& rows, const std::vector<int>& key_columns) {
  KeyIds ids;
  ids.id_of_row.resize(static_cast<size_t>(rows.num_rows()), 0);
  if (rows.num_rows() == 0) return ids;
  if (key_columns.empty()) {
    ids.first_row.push_back(0);
    return ids;
  }
  SLUICE_ASSIGN_OR_RETURN(const KeyBytes keys, KeyBytes::Make(rows, key_columns));
  IdTable table(keys);
  int32_t last_id = table.IdOf(0, &ids);
  for (int64_t row = 1; row < rows.num_rows(); ++row) {
    // Streams are often ordered by their keys: a row like the one before it needs no look-up.
    if (keys.key(row) != keys.key(row - 1)) last_id = table.IdOf(row, &ids);
    ids.id_of_row[static_cast<size_t>(row)] = last_id;
  }
  return ids;
}

Result<std::vector<KeySlice>> SplitByKey(const Batch& batch, const std::vector<int>& key_columns,
                                         const std::vector<int>& output_columns,
                                         arrow::MemoryPool* pool) {
  std::vector<KeySlice> slices;
  if (batch.row_count() == 0) return slices;
  SLUICE_ASSIGN_OR_RETURN(const KeyIds ids, IdentifyKeys(*batch.rows(), key_columns));
  const Batch selected = SelectColumns(batch, output_columns);
  if (ids.first_row.size() == 1) {
    slices.push_back({ids.first_row[0], selected});
    return slices;
  }
  const Grouped grouped = GroupRows(ids.id_of_row, ids.first_row.size());
  SLUICE_ASSIGN_OR_RETURN(const Batch sorted, TakeRows(selected, grouped.rows, pool));
  slices.reserve(ids.first_row.size());
  for (size_t id = 0; id < ids.first_row.size(); ++id) {
    slices.push_back({ids.first_row[id],
                      sorted.Slice(grouped.begin[id], grouped.begin[id + 1] - grouped.begin[id])});
  }
  return slices;
}

Result<std::vector<uint64_t>> HashKeys(const arrow::RecordBatch& rows,
                                       const std::vector<int>& key_columns) {
  SLUICE_ASSIGN_OR_RETURN(const KeyBytes keys, KeyBytes::Make(rows, key_columns));
  std::vector<uint64_t> hashes(static_cast<size_t>(rows.num_rows()));
  for (int64_t row = 0; row < rows.num_rows(); ++row)
    hashes[static_cast<size_t>(row)] = StableHash(keys.key(row));
  return hashes;
}

Result<std::vector<Batch>> SplitByChannel(const Batch& batch,
                                          const std::vector<int32_t>& channel_of_row,
                                          int channel_count, arrow::MemoryPool* pool) {
  const Grouped grouped = GroupRows(channel_of_row, static_cast<size_t>(channel_count));
  std::vector<Batch> parts(static_cast<size_t>(channel_count));
  for (size_t channel = 0; channel < parts.size(); ++channel) {
    if (grouped.begin[channel + 1] - grouped.begin[channel] != batch.row_count()) continue;
    for (Batch& part : parts) part = batch.Slice(0, 0);  // All rows go one way: no copy.
    parts[channel] = batch;
    return parts;
  }
  SLUICE_ASSIGN_OR_RETURN(const Batch sorted, TakeRows(batch, grouped.rows, pool));
  for (size_t channel = 0; channel < parts.size(); ++channel) {
    parts[channel] =
        sorted.Slice(grouped.begin[channel], grouped.begin[channel + 1] - grouped.begin[channel]);
  }
  return parts;
}

Result<std::vector<int32_t>> RouteByKey(const arrow::RecordBatch& rows,
                                        const std::vector<int>& key_columns, int channel_count) {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<uint64_t> hashes, HashKeys(rows, key_columns));
  std::vector<int32_t> channels(hashes.size());
  for (size_t row = 0; row < hashes.size(); ++row) {
    channels[row] = static_cast<int32_t>(
        (static_cast<unsigned __int128>(hashes[row]) * static_cast<uint64_t>(channel_count)) >> 64);
  }
  return channels;
}

}  // namespace sluice::expr
