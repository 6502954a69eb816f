#include "expr/key_split.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include <arrow/api.h>

#include "expr/key_bytes.h"
#include "expr/sort.h"
#include "types/arrow_status.h"

namespace sluice::expr {

namespace {

/// Ids of the values of one column, counted from 0 in order of appearance.
struct ColumnIds {
  std::vector<int32_t> id_of_row;
  int32_t count = 0;
};

/// A hash table of keys seen so far. `Equal(key, id)` compares with the key of an id.
class IdTable {
 public:
  /// For the keys of about `rows` rows: one in eight is another one before the table has to grow.
  explicit IdTable(size_t rows)
      : slots_(std::bit_ceil(std::clamp<size_t>(rows / 4, 64, 4096)), -1), hashes_(slots_.size()) {}

  template <typename Equal>
  int32_t FindOrAdd(uint64_t hash, Equal equal) {
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] >= 0) {
      if (hashes_[slot] == hash && equal(slots_[slot])) return slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = count_;
    hashes_[slot] = hash;
    if (static_cast<size_t>(++count_) * 2 > slots_.size()) Grow();
    return count_ - 1;
  }
  int32_t count() const { return count_; }

 private:
  void Grow() {
    std::vector<int32_t> slots(slots_.size() * 2, -1);
    std::vector<uint64_t> hashes(slots.size());
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i] < 0) continue;
      size_t slot = hashes_[i] & (slots.size() - 1);
      while (slots[slot] >= 0) slot = (slot + 1) & (slots.size() - 1);
      slots[slot] = slots_[i];
      hashes[slot] = hashes_[i];
    }
    slots_ = std::move(slots);
    hashes_ = std::move(hashes);
  }

  std::vector<int32_t> slots_;
  std::vector<uint64_t> hashes_;
  int32_t count_ = 0;
};

/// `key(row)` gives a value with ==, `hash(value)` its hash. Neighbours are often equal: they are
/// not looked up.
template <typename Key, typename Hash>
ColumnIds Identify(const arrow::Array& values, Key key, Hash hash) {
  const int64_t rows = values.length();
  ColumnIds ids;
  ids.id_of_row.resize(static_cast<size_t>(rows));
  std::vector<decltype(key(0))> keys;
  IdTable table(static_cast<size_t>(rows));
  const bool has_nulls = values.null_count() > 0;
  int32_t null_id = -1;
  int32_t extra = 0;  // 1 once NULL has taken an id: ids of the table above it are shifted.
  int32_t last_id = -1;
  decltype(key(0)) last{};
  for (int64_t row = 0; row < rows; ++row) {
    int32_t& id = ids.id_of_row[static_cast<size_t>(row)];
    if (has_nulls && values.IsNull(row)) {
      if (null_id < 0) {
        null_id = table.count();
        extra = 1;
      }
      id = null_id;
      continue;
    }
    const auto value = key(row);
    if (last_id >= 0 && value == last) {
      id = last_id;
      continue;
    }
    const int32_t found = table.FindOrAdd(
        hash(value), [&](int32_t other) { return keys[static_cast<size_t>(other)] == value; });
    if (static_cast<size_t>(found) == keys.size()) keys.push_back(value);
    id = extra == 1 && found >= null_id ? found + 1 : found;
    last = value;
    last_id = id;
  }
  ids.count = table.count() + extra;
  return ids;
}

template <typename T>
ColumnIds IdentifyWords(const arrow::Array& values) {
  const T* raw = values.data()->GetValues<T>(1);
  return Identify(
      values,
      [raw](int64_t row) -> uint64_t {
        if constexpr (std::is_floating_point_v<T>) {
          return FloatKey(raw[row]);
        } else {
          return static_cast<uint64_t>(static_cast<int64_t>(raw[row]));
        }
      },
      [](uint64_t word) { return HashWord(word); });
}

/// The length of all texts where it is the same for all; 0 otherwise, or where there are NULLs.
int32_t CommonLength(const arrow::BinaryArray& texts) {
  if (texts.null_count() > 0 || texts.length() == 0) return 0;
  const int32_t* const offsets = texts.raw_value_offsets();
  const int32_t length = offsets[1] - offsets[0];
  bool same = true;
  for (int64_t row = 0; row < texts.length(); ++row) {
    same &= offsets[row + 1] - offsets[row] == length;
  }
  return same ? length : 0;
}

template <typename Word>
Word Load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Dates, hours, codes: of texts that are equally long a few bytes that overlap tell everything, and
// words are compared and hashed faster than bytes.
ColumnIds IdentifyShortTexts(const arrow::BinaryArray& texts, int32_t length) {
  const char* const bytes = reinterpret_cast<const char*>(texts.raw_data());
  const char* const begin = bytes == nullptr ? nullptr : bytes + texts.value_offset(0);
  const auto at = [begin, length](int64_t row) { return begin + row * length; };
  const auto hash_word = [](uint64_t word) { return HashWord(word); };
  if (length < 4) {
    return Identify(
        texts,
        [&](int64_t row) {
          const char* const text = at(row);
          return uint64_t{static_cast<uint8_t>(text[0])} |
                 uint64_t{static_cast<uint8_t>(text[length / 2])} << 8 |
                 uint64_t{static_cast<uint8_t>(text[length - 1])} << 16;
        },
        hash_word);
  }
  if (length < 8) {
    return Identify(
        texts,
        [&](int64_t row) {
          const char* const text = at(row);
          return uint64_t{Load<uint32_t>(text)} | uint64_t{Load<uint32_t>(text + length - 4)} << 32;
        },
        hash_word);
  }
  return Identify(
      texts,
      [&](int64_t row) {
        const char* const text = at(row);
        return std::pair(Load<uint64_t>(text), Load<uint64_t>(text + length - 8));
      },
      [](const auto& words) { return CombineHash(HashWord(words.first), words.second); });
}

ColumnIds IdentifyTexts(const arrow::BinaryArray& texts) {
  const int32_t length = CommonLength(texts);
  if (length > 0 && length <= 16) return IdentifyShortTexts(texts, length);
  return Identify(
      texts, [&texts](int64_t row) { return texts.GetView(row); },
      [](std::string_view text) { return HashBytes(text); });
}

/// Values of other types by way of their bytes.
ColumnIds IdentifyBytes(const arrow::Array& values) {
  std::string arena;
  std::vector<size_t> ends{0};
  for (int64_t row = 0; row < values.length(); ++row) {
    AppendKeyBytes(values, row, &arena);
    ends.push_back(arena.size());
  }
  ColumnIds ids;
  ids.id_of_row.reserve(ends.size());
  std::vector<std::string_view> keys;
  IdTable table(static_cast<size_t>(values.length()));
  for (size_t row = 0; row + 1 < ends.size(); ++row) {
    const std::string_view key =
        std::string_view(arena).substr(ends[row], ends[row + 1] - ends[row]);
    const int32_t id = table.FindOrAdd(
        HashBytes(key), [&](int32_t other) { return keys[static_cast<size_t>(other)] == key; });
    if (static_cast<size_t>(id) == keys.size()) keys.push_back(key);
    ids.id_of_row.push_back(id);
  }
  ids.count = table.count();
  return ids;
}

ColumnIds IdentifyColumn(const arrow::Array& values) {
  switch (values.type_id()) {
    case arrow::Type::INT8:
      return IdentifyWords<int8_t>(values);
    case arrow::Type::INT16:
      return IdentifyWords<int16_t>(values);
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
    case arrow::Type::INTERVAL_MONTHS:
      return IdentifyWords<int32_t>(values);
    case arrow::Type::INT64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return IdentifyWords<int64_t>(values);
    case arrow::Type::FLOAT:
      return IdentifyWords<float>(values);
    case arrow::Type::DOUBLE:
      return IdentifyWords<double>(values);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return IdentifyTexts(static_cast<const arrow::BinaryArray&>(values));
    default:
      return IdentifyBytes(values);
  }
}

/// Ids of pairs (a, b) in order of appearance.
ColumnIds Combine(const ColumnIds& a, const ColumnIds& b) {
  if (a.count <= 1) return b;
  if (b.count <= 1) return a;
  ColumnIds ids;
  const size_t rows = a.id_of_row.size();
  ids.id_of_row.resize(rows);
  const uint64_t pairs = static_cast<uint64_t>(a.count) * static_cast<uint64_t>(b.count);
  if (pairs <= rows * 8 + 1024) {
    // Few possible pairs: a table of all of them.
    std::vector<int32_t> known(pairs, -1);
    for (size_t row = 0; row < rows; ++row) {
      int32_t& id = known[static_cast<size_t>(a.id_of_row[row]) * static_cast<size_t>(b.count) +
                          static_cast<size_t>(b.id_of_row[row])];
      if (id < 0) id = ids.count++;
      ids.id_of_row[row] = id;
    }
    return ids;
  }
  IdTable table(rows);
  std::vector<uint64_t> keys;
  for (size_t row = 0; row < rows; ++row) {
    const uint64_t key =
        static_cast<uint64_t>(a.id_of_row[row]) << 32 | static_cast<uint32_t>(b.id_of_row[row]);
    const int32_t id = table.FindOrAdd(
        HashWord(key), [&](int32_t other) { return keys[static_cast<size_t>(other)] == key; });
    if (static_cast<size_t>(id) == keys.size()) keys.push_back(key);
    ids.id_of_row[row] = id;
  }
  ids.count = table.count();
  return ids;
}

Status CheckColumns(const arrow::RecordBatch& rows, const std::vector<int>& columns) {
  for (const int column : columns) {
    if (column < 0 || column >= rows.num_columns()) {
      return Status::Internal("key column " + std::to_string(column) + " of " +
                              std::to_string(rows.num_columns()));
    }
  }
  return {};
}

/// Rows in the order of their ids (stable), and where each id begins.
struct Order {
  std::vector<int32_t> rows;
  std::vector<int64_t> begin;  // One more than ids.
  bool identity = true;
};

Order CountingSort(const std::vector<int32_t>& id_of_row, size_t id_count) {
  Order order;
  order.begin.assign(id_count + 1, 0);
  for (const int32_t id : id_of_row) ++order.begin[static_cast<size_t>(id) + 1];
  std::partial_sum(order.begin.begin(), order.begin.end(), order.begin.begin());
  std::vector<int64_t> next(order.begin.begin(), order.begin.end() - 1);
  order.rows.resize(id_of_row.size());
  for (size_t row = 0; row < id_of_row.size(); ++row) {
    const auto place = static_cast<size_t>(next[static_cast<size_t>(id_of_row[row])]++);
    order.rows[place] = static_cast<int32_t>(row);
    order.identity = order.identity && place == row;
  }
  return order;
}

Result<Batch> Reorder(const Batch& batch, const Order& order, arrow::MemoryPool* pool) {
  if (order.identity) return batch;
  return TakeRows32(batch, order.rows, pool);
}

}  // namespace

Result<KeyIds> IdentifyKeys(const arrow::RecordBatch& rows, const std::vector<int>& key_columns) {
  SLUICE_RETURN_NOT_OK(CheckColumns(rows, key_columns));
  ColumnIds ids;
  ids.id_of_row.assign(static_cast<size_t>(rows.num_rows()), 0);
  ids.count = rows.num_rows() > 0 ? 1 : 0;
  for (const int column : key_columns) {
    ids = Combine(ids, IdentifyColumn(*rows.column(column)));
  }
  KeyIds keys;
  keys.first_row.assign(static_cast<size_t>(ids.count), -1);
  int32_t seen = 0;
  for (size_t row = 0; row < ids.id_of_row.size() && seen < ids.count; ++row) {
    int64_t& first = keys.first_row[static_cast<size_t>(ids.id_of_row[row])];
    if (first < 0) {
      first = static_cast<int64_t>(row);
      ++seen;
    }
  }
  keys.id_of_row = std::move(ids.id_of_row);
  return keys;
}

Result<KeySplit> SplitByKey(const Batch& batch, const std::vector<int>& key_columns,
                            const std::vector<int>& output_columns, arrow::MemoryPool* pool) {
  KeySplit split;
  if (batch.row_count() == 0) return split;
  SLUICE_RETURN_NOT_OK(CheckColumns(*batch.rows(), output_columns));
  SLUICE_ASSIGN_OR_RETURN(const KeyIds keys, IdentifyKeys(*batch.rows(), key_columns));
  SLUICE_ASSIGN_ARROW(auto selected, batch.rows()->SelectColumns(output_columns));
  split.rows = Batch(std::move(selected), batch.row_kinds());
  if (keys.first_row.size() == 1) {
    split.ranges.push_back({.key_row = 0, .begin = 0, .row_count = batch.row_count()});
    return split;
  }
  const Order order = CountingSort(keys.id_of_row, keys.first_row.size());
  SLUICE_ASSIGN_OR_RETURN(split.rows, Reorder(split.rows, order, pool));
  split.ranges.reserve(keys.first_row.size());
  for (size_t id = 0; id < keys.first_row.size(); ++id) {
    split.ranges.push_back({.key_row = keys.first_row[id],
                            .begin = order.begin[id],
                            .row_count = order.begin[id + 1] - order.begin[id]});
  }
  return split;
}

namespace {

template <typename T>
void HashWords(const arrow::Array& values, std::vector<uint64_t>* hashes) {
  const T* raw = values.data()->GetValues<T>(1);
  const bool has_nulls = values.null_count() > 0;
  for (int64_t row = 0; row < values.length(); ++row) {
    uint64_t word = 0;
    if constexpr (std::is_floating_point_v<T>) {
      word = FloatKey(raw[row]);
    } else {
      word = static_cast<uint64_t>(static_cast<int64_t>(raw[row]));
    }
    const bool null = has_nulls && values.IsNull(row);
    uint64_t& hash = (*hashes)[static_cast<size_t>(row)];
    hash = CombineHash(hash, null ? kNullHash : HashWord(word));
  }
}

template <typename Bytes>
void HashTexts(const arrow::Array& values, std::vector<uint64_t>* hashes, Bytes bytes) {
  for (int64_t row = 0; row < values.length(); ++row) {
    uint64_t& hash = (*hashes)[static_cast<size_t>(row)];
    hash = CombineHash(hash, values.IsNull(row) ? kNullHash : HashBytes(bytes(row)));
  }
}

void HashColumn(const arrow::Array& values, std::vector<uint64_t>* hashes) {
  switch (values.type_id()) {
    case arrow::Type::INT8:
      return HashWords<int8_t>(values, hashes);
    case arrow::Type::INT16:
      return HashWords<int16_t>(values, hashes);
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
    case arrow::Type::INTERVAL_MONTHS:
      return HashWords<int32_t>(values, hashes);
    case arrow::Type::INT64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return HashWords<int64_t>(values, hashes);
    case arrow::Type::FLOAT:
      return HashWords<float>(values, hashes);
    case arrow::Type::DOUBLE:
      return HashWords<double>(values, hashes);
    case arrow::Type::STRING:
    case arrow::Type::BINARY: {
      const auto& texts = static_cast<const arrow::BinaryArray&>(values);
      return HashTexts(values, hashes, [&texts](int64_t row) { return texts.GetView(row); });
    }
    default: {
      std::string scratch;
      return HashTexts(values, hashes, [&](int64_t row) {
        scratch.clear();
        AppendKeyBytes(values, row, &scratch);
        return std::string_view(scratch);
      });
    }
  }
}

}  // namespace

Result<std::vector<uint64_t>> HashKeys(const arrow::RecordBatch& rows,
                                       const std::vector<int>& key_columns) {
  SLUICE_RETURN_NOT_OK(CheckColumns(rows, key_columns));
  std::vector<uint64_t> hashes(static_cast<size_t>(rows.num_rows()), kHashSeed);
  for (const int column : key_columns) HashColumn(*rows.column(column), &hashes);
  return hashes;
}

Result<std::vector<Batch>> SplitByChannel(const Batch& batch,
                                          const std::vector<int32_t>& channel_of_row,
                                          int channel_count, arrow::MemoryPool* pool) {
  if (static_cast<int64_t>(channel_of_row.size()) != batch.row_count() || channel_count < 1) {
    return Status::Internal("a batch and its channels have different lengths");
  }
  for (const int32_t channel : channel_of_row) {
    if (channel < 0 || channel >= channel_count) return Status::Internal("no such channel");
  }
  const Order order = CountingSort(channel_of_row, static_cast<size_t>(channel_count));
  SLUICE_ASSIGN_OR_RETURN(const Batch sorted, Reorder(batch, order, pool));
  std::vector<Batch> parts;
  for (size_t channel = 0; channel < static_cast<size_t>(channel_count); ++channel) {
    parts.push_back(
        sorted.Slice(order.begin[channel], order.begin[channel + 1] - order.begin[channel]));
  }
  return parts;
}

Result<std::vector<int32_t>> RouteByKey(const arrow::RecordBatch& rows,
                                        const std::vector<int>& key_columns, int channel_count) {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<uint64_t> hashes, HashKeys(rows, key_columns));
  std::vector<int32_t> channels;
  channels.reserve(hashes.size());
  for (const uint64_t hash : hashes) {
    // The upper half of the hash scaled to the number of channels.
    channels.push_back(
        static_cast<int32_t>((hash >> 32) * static_cast<uint64_t>(channel_count) >> 32));
  }
  return channels;
}

}  // namespace sluice::expr
