#include "expr/key_index.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <arrow/api.h>

#include "expr/key_bytes.h"

namespace sluice::expr {

namespace {

// Open addressing over hashes and ids side by side: one cache line a look-up, mostly.
class HashIds {
 public:
  HashIds() : slots_(256) {}

  template <typename Equal>
  int32_t FindOrAdd(uint64_t hash, Equal equal) {
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot].id >= 0) {
      if (slots_[slot].hash == hash && equal(slots_[slot].id)) return slots_[slot].id;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = {hash, count_};
    if (static_cast<size_t>(++count_) * 2 > slots_.size()) Grow();
    return count_ - 1;
  }
  int32_t count() const { return count_; }
  int64_t memory_bytes() const { return static_cast<int64_t>(slots_.capacity() * sizeof(Slot)); }

 private:
  struct Slot {
    uint64_t hash = 0;
    int32_t id = -1;
  };
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& entry : old) {
      if (entry.id < 0) continue;
      size_t slot = entry.hash & (slots_.size() - 1);
      while (slots_[slot].id >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = entry;
    }
  }

  std::vector<Slot> slots_;
  int32_t count_ = 0;
};

// Ids of words.
class WordIds {
 public:
  int32_t IdOf(uint64_t word) {
    const int32_t id = ids_.FindOrAdd(
        HashWord(word), [&](int32_t other) { return words_[static_cast<size_t>(other)] == word; });
    if (static_cast<size_t>(id) == words_.size()) words_.push_back(word);
    return id;
  }
  int64_t memory_bytes() const {
    return ids_.memory_bytes() + static_cast<int64_t>(words_.capacity() * sizeof(uint64_t));
  }

 private:
  HashIds ids_;
  std::vector<uint64_t> words_;
};

// Ids of texts.
class TextIds {
 public:
  int32_t IdOf(std::string_view text) {
    const int32_t id =
        ids_.FindOrAdd(HashBytes(text), [&](int32_t other) { return TextOf(other) == text; });
    if (static_cast<size_t>(id) + 1 == begins_.size()) {
      arena_.append(text);
      begins_.push_back(arena_.size());
    }
    return id;
  }
  int64_t memory_bytes() const {
    return ids_.memory_bytes() +
           static_cast<int64_t>(arena_.capacity() + begins_.capacity() * sizeof(size_t));
  }

 private:
  std::string_view TextOf(int32_t id) const {
    const size_t begin = begins_[static_cast<size_t>(id)];
    return std::string_view(arena_).substr(begin, begins_[static_cast<size_t>(id) + 1] - begin);
  }

  HashIds ids_;
  std::string arena_;
  std::vector<size_t> begins_{0};
};

// The ids of one column's values; 0 is NULL.
struct ColumnIds {
  WordIds words;
  TextIds texts;

  template <typename T>
  void Words(const arrow::Array& values, std::vector<int32_t>* ids) {
    const T* const raw = values.data()->GetValues<T>(1);
    Each(values, ids, [&](int64_t row) {
      if constexpr (std::is_floating_point_v<T>) {
        return words.IdOf(FloatKey(raw[row]));
      } else {
        return words.IdOf(static_cast<uint64_t>(static_cast<int64_t>(raw[row])));
      }
    });
  }

  template <typename IdOf>
  static void Each(const arrow::Array& values, std::vector<int32_t>* ids, IdOf id_of) {
    const bool has_nulls = values.null_count() > 0;
    for (int64_t row = 0; row < values.length(); ++row) {
      const bool null = has_nulls && values.IsNull(row);
      (*ids)[static_cast<size_t>(row)] = null ? 0 : id_of(row) + 1;
    }
  }

  void Identify(const arrow::Array& values, std::vector<int32_t>* ids) {
    switch (values.type_id()) {
      case arrow::Type::INT8:
        return Words<int8_t>(values, ids);
      case arrow::Type::INT16:
        return Words<int16_t>(values, ids);
      case arrow::Type::INT32:
      case arrow::Type::DATE32:
      case arrow::Type::TIME32:
      case arrow::Type::INTERVAL_MONTHS:
        return Words<int32_t>(values, ids);
      case arrow::Type::INT64:
      case arrow::Type::TIMESTAMP:
      case arrow::Type::DURATION:
        return Words<int64_t>(values, ids);
      case arrow::Type::FLOAT:
        return Words<float>(values, ids);
      case arrow::Type::DOUBLE:
        return Words<double>(values, ids);
      case arrow::Type::STRING:
      case arrow::Type::BINARY: {
        const auto& array = static_cast<const arrow::BinaryArray&>(values);
        return Each(values, ids, [&](int64_t row) { return texts.IdOf(array.GetView(row)); });
      }
      default: {
        std::string bytes;
        return Each(values, ids, [&](int64_t row) {
          bytes.clear();
          AppendKeyBytes(values, row, &bytes);
          return texts.IdOf(bytes);
        });
      }
    }
  }
};

}  // namespace

struct KeyIndex::Rep {
  std::vector<ColumnIds> columns;
  std::vector<WordIds> pairs;  // [i]: ids of (all columns before i + 1, column i + 1).
  std::vector<int32_t> dense;  // By id of the last of them: the same without gaps, -1: not seen.
  int32_t count = 0;
};

KeyIndex::KeyIndex() : rep_(std::make_unique<Rep>()) {}
KeyIndex::~KeyIndex() = default;
KeyIndex::KeyIndex(KeyIndex&&) noexcept = default;
KeyIndex& KeyIndex::operator=(KeyIndex&&) noexcept = default;

Result<KeyIndex::Ids> KeyIndex::Identify(const arrow::RecordBatch& rows,
                                         const std::vector<int>& key_columns) {
  Ids result;
  const auto row_count = static_cast<size_t>(rows.num_rows());
  result.id_of_row.assign(row_count, 0);
  rep_->columns.resize(key_columns.size());
  if (!key_columns.empty()) rep_->pairs.resize(key_columns.size() - 1);
  std::vector<int32_t> next(row_count);
  for (size_t key = 0; key < key_columns.size(); ++key) {
    const int column = key_columns[key];
    if (column < 0 || column >= rows.num_columns()) {
      return Status::Internal("key column " + std::to_string(column) + " of " +
                              std::to_string(rows.num_columns()));
    }
    rep_->columns[key].Identify(*rows.column(column), key == 0 ? &result.id_of_row : &next);
    if (key == 0) continue;
    WordIds& pairs = rep_->pairs[key - 1];
    for (size_t row = 0; row < row_count; ++row) {
      result.id_of_row[row] = pairs.IdOf(static_cast<uint64_t>(result.id_of_row[row]) << 32 |
                                         static_cast<uint32_t>(next[row]));
    }
  }
  // NULL has an id of its own whether it came or not: numbered again, there are no gaps.
  for (size_t row = 0; row < row_count; ++row) {
    const auto id = static_cast<size_t>(result.id_of_row[row]);
    if (id >= rep_->dense.size()) rep_->dense.resize(std::max(id + 1, id * 2), -1);
    int32_t& dense = rep_->dense[id];
    if (dense < 0) {
      dense = rep_->count++;
      result.new_rows.push_back(static_cast<int64_t>(row));
    }
    result.id_of_row[row] = dense;
  }
  return result;
}

int32_t KeyIndex::key_count() const { return rep_->count; }

int64_t KeyIndex::memory_bytes() const {
  auto bytes = static_cast<int64_t>(rep_->dense.capacity() * sizeof(int32_t));
  for (const ColumnIds& column : rep_->columns) {
    bytes += column.words.memory_bytes() + column.texts.memory_bytes();
  }
  for (const WordIds& pairs : rep_->pairs) bytes += pairs.memory_bytes();
  return bytes;
}

}  // namespace sluice::expr
