#include "expr/group_table.h"

#include <algorithm>
#include <bit>

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

/// A slot of open addressing; id -1 is free. With a part of the hash beside the id a look at
/// another key's slot touches nothing else.
struct Slot {
  uint32_t tag = 0;
  int32_t id = -1;
};

uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

// Group ids of keys of one word. Small numbers, which most keys are that were counted up or are
// codes, are places of an array of ids. For others a key and its id lie side by side, so that a row
// costs one miss of the cache, which is asked for ahead.
class WordTable {
 public:
  WordTable() : slots_(256) {}

  int32_t Find(uint64_t word) const {
    if (word < kDirectWords) return word < direct_.size() ? direct_[word] : -1;
    size_t slot = HashWord(word) & (slots_.size() - 1);
    while (slots_[slot].id >= 0 && slots_[slot].word != word)
      slot = (slot + 1) & (slots_.size() - 1);
    return slots_[slot].id;
  }

  void Add(uint64_t word, int32_t id) {
    if (word < kDirectWords) {
      if (word >= direct_.size()) direct_.resize(std::bit_ceil(word + 1), -1);
      direct_[word] = id;
      return;
    }
    if (static_cast<size_t>(++count_) * 2 > slots_.size()) Grow();
    Place(HashWord(word), word, id);
  }

  void Prefetch(uint64_t word) const {
    if (word >= kDirectWords) __builtin_prefetch(&slots_[HashWord(word) & (slots_.size() - 1)]);
  }

  int64_t memory_bytes() const {
    return static_cast<int64_t>(slots_.capacity() * sizeof(WordSlot) +
                                direct_.capacity() * sizeof(int32_t));
  }

 private:
  // 4 MiB of ids at most.
  static constexpr uint64_t kDirectWords = 1 << 20;

  struct WordSlot {
    uint64_t word = 0;
    int32_t id = -1;
  };

  void Place(uint64_t hash, uint64_t word, int32_t id) {
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot].id >= 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {word, id};
  }

  void Grow() {
    std::vector<WordSlot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const WordSlot& slot : old) {
      if (slot.id >= 0) Place(HashWord(slot.word), slot.word, slot.id);
    }
  }

  std::vector<int32_t> direct_;  // By word; -1: no group.
  std::vector<WordSlot> slots_;
  int64_t count_ = 0;  // In slots_.
};

template <typename T>
void CopyWords(const arrow::Array& values, std::vector<uint64_t>* words) {
  const T* const raw = values.data()->GetValues<T>(1);
  words->resize(static_cast<size_t>(values.length()));
  uint64_t* const out = words->data();
  for (int64_t row = 0; row < values.length(); ++row) {
    if constexpr (std::is_floating_point_v<T>) {
      out[row] = FloatKey(raw[row]);
    } else {
      out[row] = static_cast<uint64_t>(static_cast<int64_t>(raw[row]));
    }
  }
}

/// The values of a column whose keys are words (what is at NULLs means nothing); false for others.
bool WordsOf(const arrow::Array& values, std::vector<uint64_t>* words) {
  switch (values.type_id()) {
    case arrow::Type::INT8:
      CopyWords<int8_t>(values, words);
      return true;
    case arrow::Type::INT16:
      CopyWords<int16_t>(values, words);
      return true;
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
    case arrow::Type::INTERVAL_MONTHS:
      CopyWords<int32_t>(values, words);
      return true;
    case arrow::Type::INT64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      CopyWords<int64_t>(values, words);
      return true;
    case arrow::Type::FLOAT:
      CopyWords<float>(values, words);
      return true;
    case arrow::Type::DOUBLE:
      CopyWords<double>(values, words);
      return true;
    default:
      return false;
  }
}

constexpr size_t kPrefetchRows = 16;

}  // namespace

struct GroupTable::Rep {
  Schema keys;
  arrow::MemoryPool* pool;
  std::string arena;
  std::vector<StoredKey> stored;  // By group id.
  std::vector<Slot> slots;
  // Keys of one column of words are in `words` alone; `stored` and `slots` are for the others.
  WordTable words;
  int32_t null_word_id = -1;
  int32_t word_count = 0;
  std::vector<std::shared_ptr<arrow::RecordBatch>>
      chunks;  // The keys as rows, in the order of ids.
  int64_t chunk_bytes = 0;
  // The columns of the last batch when all its rows had one key. Those of a partition are slices of
  // the same arrays, batch after batch: they are known without looking at them.
  std::vector<std::shared_ptr<arrow::ArrayData>> constant;
  int32_t constant_id = -1;

  Rep(Schema schema, arrow::MemoryPool* memory)
      : keys(std::move(schema)), pool(memory), slots(256) {}

  std::vector<int> columns() const {
    std::vector<int> all;
    for (int i = 0; i < keys.column_count(); ++i) all.push_back(i);
    return all;
  }

  /// The slot of `key`, or the free one where it belongs.
  size_t SlotOf(uint64_t hash, std::string_view key) const {
    size_t slot = hash & (slots.size() - 1);
    for (; slots[slot].id >= 0; slot = (slot + 1) & (slots.size() - 1)) {
      if (slots[slot].tag != TagOf(hash)) continue;
      const StoredKey& other = stored[static_cast<size_t>(slots[slot].id)];
      if (other.hash == hash && std::string_view(arena).substr(other.begin, other.size) == key) {
        break;
      }
    }
    return slot;
  }

  void Add(size_t slot, uint64_t hash, std::string_view key) {
    slots[slot] = {TagOf(hash), static_cast<int32_t>(stored.size())};
    stored.push_back({hash, arena.size(), static_cast<uint32_t>(key.size())});
    arena.append(key);
    if (stored.size() * 2 <= slots.size()) return;
    slots.assign(slots.size() * 2, Slot());
    for (size_t id = 0; id < stored.size(); ++id) {
      size_t at = stored[id].hash & (slots.size() - 1);
      while (slots[at].id >= 0) at = (at + 1) & (slots.size() - 1);
      slots[at] = {TagOf(stored[id].hash), static_cast<int32_t>(id)};
    }
  }

  /// Ids of the words of a column; unknown ones are -1.
  std::vector<int32_t> FindWords(const arrow::Array& column,
                                 const std::vector<uint64_t>& values) const {
    const bool has_nulls = column.null_count() > 0;
    std::vector<int32_t> ids(values.size());
    for (size_t row = 0; row < values.size(); ++row) {
      if (row + kPrefetchRows < values.size()) words.Prefetch(values[row + kPrefetchRows]);
      const bool null = has_nulls && column.IsNull(static_cast<int64_t>(row));
      ids[row] = null ? null_word_id : words.Find(values[row]);
    }
    return ids;
  }

  /// Gives ids to the rows that have none, and tells the first row of each new one.
  void AddWords(const arrow::Array& column, const std::vector<uint64_t>& values,
                std::vector<int32_t>* ids, std::vector<int64_t>* new_rows) {
    const bool has_nulls = column.null_count() > 0;
    for (size_t row = 0; row < values.size(); ++row) {
      int32_t& id = (*ids)[row];
      if (id >= 0) continue;
      const bool null = has_nulls && column.IsNull(static_cast<int64_t>(row));
      // An earlier row of this batch may have brought the key.
      id = null ? null_word_id : words.Find(values[row]);
      if (id >= 0) continue;
      id = word_count++;
      new_rows->push_back(static_cast<int64_t>(row));
      if (null) {
        null_word_id = id;
      } else {
        words.Add(values[row], id);
      }
    }
  }

  bool IsConstant(const arrow::RecordBatch& rows) const {
    if (constant.empty() || rows.num_rows() > constant[0]->length) return false;
    for (size_t i = 0; i < constant.size(); ++i) {
      const arrow::ArrayData& data = *rows.column_data(static_cast<int>(i));
      if (data.offset != constant[i]->offset || data.buffers != constant[i]->buffers ||
          !data.child_data.empty()) {
        return false;
      }
    }
    return true;
  }

  void RememberConstant(const arrow::RecordBatch& rows, int32_t id) {
    constant.clear();
    for (int i = 0; i < rows.num_columns(); ++i) constant.push_back(rows.column_data(i));
    constant_id = id;
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
  std::vector<uint64_t> words;
  if (keys.num_columns() == 1 && WordsOf(*keys.column(0), &words)) {
    std::vector<int32_t> ids = rep_->FindWords(*keys.column(0), words);
    if (std::find(ids.begin(), ids.end(), -1) == ids.end()) return ids;
    std::vector<int64_t> new_rows;
    rep_->AddWords(*keys.column(0), words, &ids, &new_rows);
    SLUICE_RETURN_NOT_OK(rep_->KeepRows(keys, new_rows));
    return ids;
  }
  if (rep_->IsConstant(keys)) {
    return std::vector<int32_t>(static_cast<size_t>(keys.num_rows()), rep_->constant_id);
  }
  // Within the batch first: its distinct keys are fewer than its rows, and only they are looked up.
  SLUICE_ASSIGN_OR_RETURN(KeyIds local, IdentifyKeys(keys, rep_->columns()));
  std::vector<int32_t> group_of_key;
  std::vector<int64_t> new_rows;
  std::string bytes;
  for (const int64_t row : local.first_row) {
    KeyOfRow(keys, row, &bytes);
    const uint64_t hash = HashBytes(bytes);
    const size_t slot = rep_->SlotOf(hash, bytes);
    if (rep_->slots[slot].id < 0) {
      group_of_key.push_back(static_cast<int32_t>(rep_->stored.size()));
      rep_->Add(slot, hash, bytes);
      new_rows.push_back(row);
    } else {
      group_of_key.push_back(rep_->slots[slot].id);
    }
  }
  SLUICE_RETURN_NOT_OK(rep_->KeepRows(keys, new_rows));
  if (group_of_key.size() == 1) rep_->RememberConstant(keys, group_of_key[0]);
  for (int32_t& id : local.id_of_row) id = group_of_key[static_cast<size_t>(id)];
  return std::move(local.id_of_row);
}

Result<std::vector<int32_t>> GroupTable::FindGroupIds(const arrow::RecordBatch& keys) const {
  std::vector<uint64_t> words;
  if (keys.num_columns() == 1 && WordsOf(*keys.column(0), &words)) {
    return rep_->FindWords(*keys.column(0), words);
  }
  SLUICE_ASSIGN_OR_RETURN(KeyIds local, IdentifyKeys(keys, rep_->columns()));
  std::vector<int32_t> group_of_key;
  std::string bytes;
  for (const int64_t row : local.first_row) {
    KeyOfRow(keys, row, &bytes);
    group_of_key.push_back(rep_->slots[rep_->SlotOf(HashBytes(bytes), bytes)].id);
  }
  for (int32_t& id : local.id_of_row) id = group_of_key[static_cast<size_t>(id)];
  return std::move(local.id_of_row);
}

int64_t GroupTable::group_count() const {
  return static_cast<int64_t>(rep_->stored.size()) + rep_->word_count;
}

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
                              rep_->slots.capacity() * sizeof(Slot)) +
         rep_->words.memory_bytes() + rep_->chunk_bytes;
}

}  // namespace sluice::expr
