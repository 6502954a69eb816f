#include "formats/parquet/nested_levels.h"

#include <arrow/api.h>
#include <arrow/compute/api.h>

#include "types/arrow_status.h"

namespace sluice::formats::parquet_format {

namespace {

// The way from a column to one of its leaves.
struct Step {
  enum class Kind { kLeaf, kField, kElement, kMapKey, kMapValue };
  Kind kind = Kind::kLeaf;
  int field = 0;  // kField.
  bool nullable = true;
  std::shared_ptr<arrow::Array> values;  // Of this level.
};

// Walks the rows of one path. Recursion is as deep as the type is nested.
class PathShredder {
 public:
  PathShredder(std::vector<Step> steps, LeafValues* leaf) : steps_(std::move(steps)), leaf_(leaf) {
    int definition = 0;
    for (const Step& step : steps_) {
      if (step.nullable) ++definition;
      if (step.kind != Step::Kind::kLeaf && step.kind != Step::Kind::kField) {
        repeated_ancestor_ = ++definition;
      }
    }
  }

  void Run(int64_t row_count) {
    for (int64_t row = 0; row < row_count; ++row) Visit(0, row, 0, 0, 0);
    leaf_->level_count = static_cast<int64_t>(leaf_->definition_levels.size());
  }
  const std::vector<int64_t>& slots() const { return slots_; }

 private:
  void Put(int definition, int repetition, int64_t slot) {
    leaf_->definition_levels.push_back(static_cast<int16_t>(definition));
    leaf_->repetition_levels.push_back(static_cast<int16_t>(repetition));
    if (definition >= repeated_ancestor_) slots_.push_back(slot);
  }

  /// `depth`: repetition level of the innermost list above.
  void Visit(size_t at, int64_t row, int definition, int repetition, int depth) {
    const Step& step = steps_[at];
    if (step.nullable) {
      if (step.values->IsNull(row)) return Put(definition, repetition, -1);
      ++definition;
    }
    if (step.kind == Step::Kind::kLeaf) return Put(definition, repetition, row);
    if (step.kind == Step::Kind::kField) {
      // Children are taken whole, not sliced.
      return Visit(at + 1, row + step.values->offset(), definition, repetition, depth);
    }
    // Maps are lists of entries; a NULL key cannot be, Arrow has none.
    const auto& list = static_cast<const arrow::ListArray&>(*step.values);
    const int64_t begin = list.value_offset(row);
    const int64_t end = list.value_offset(row + 1);
    if (begin == end) return Put(definition, repetition, -1);
    for (int64_t i = begin; i < end; ++i) {
      Visit(at + 1, i, definition + 1, i == begin ? repetition : depth + 1, depth + 1);
    }
  }

  const std::vector<Step> steps_;
  LeafValues* const leaf_;
  std::vector<int64_t> slots_;
  int repeated_ancestor_ = 0;  // Definition level of the innermost list above the leaf.
};

// The values at `slots`, NULL for -1.
Result<std::shared_ptr<arrow::Array>> TakeSlots(const std::shared_ptr<arrow::Array>& values,
                                                const std::vector<int64_t>& slots,
                                                arrow::MemoryPool* pool) {
  bool in_order = true;
  for (size_t i = 0; i < slots.size() && in_order; ++i)
    in_order = slots[i] == slots[0] + static_cast<int64_t>(i);
  if (in_order && (slots.empty() || slots[0] >= 0)) {
    return values->Slice(slots.empty() ? 0 : slots[0], static_cast<int64_t>(slots.size()));
  }
  arrow::Int64Builder indices(pool);
  SLUICE_RETURN_ARROW(indices.Reserve(static_cast<int64_t>(slots.size())));
  for (const int64_t slot : slots)
    slot < 0 ? indices.UnsafeAppendNull() : indices.UnsafeAppend(slot);
  SLUICE_ASSIGN_ARROW(const std::shared_ptr<arrow::Array> index_array, indices.Finish());
  arrow::compute::ExecContext context(pool);
  context.set_use_threads(false);
  return FromArrow(arrow::compute::Take(*values, *index_array,
                                        arrow::compute::TakeOptions::NoBoundsCheck(), &context));
}

class ColumnShredder {
 public:
  ColumnShredder(int64_t row_count, arrow::MemoryPool* pool, std::vector<LeafValues>* leaves)
      : row_count_(row_count), pool_(pool), leaves_(leaves) {}

  Status Descend(const SqlType& type, const std::shared_ptr<arrow::Array>& values) {
    path_.push_back({Step::Kind::kLeaf, 0, type.nullable(), values});
    const Status status = DescendInto(type, *values);
    path_.pop_back();
    return status;
  }

 private:
  Status DescendInto(const SqlType& type, const arrow::Array& values) {
    const size_t at = path_.size() - 1;
    switch (type.kind()) {
      case TypeKind::kRow:
        path_[at].kind = Step::Kind::kField;
        for (size_t i = 0; i < type.fields().size(); ++i) {
          path_[at].field = static_cast<int>(i);
          SLUICE_RETURN_NOT_OK(
              Descend(type.fields()[i].type, arrow::MakeArray(values.data()->child_data[i])));
        }
        return {};
      case TypeKind::kArray:
        path_[at].kind = Step::Kind::kElement;
        return Descend(type.element(), static_cast<const arrow::ListArray&>(values).values());
      case TypeKind::kMap:
      case TypeKind::kMultiset: {
        const auto& map = static_cast<const arrow::MapArray&>(values);
        path_[at].kind = Step::Kind::kMapKey;
        SLUICE_RETURN_NOT_OK(Descend(type.key().NotNull(), map.keys()));
        path_[at].kind = Step::Kind::kMapValue;
        const SqlType value =
            type.kind() == TypeKind::kMap ? type.value() : SqlType::Int().NotNull();
        return Descend(value, map.items());
      }
      default:
        return Leaf(type);
    }
  }

  Status Leaf(const SqlType& type) {
    LeafValues leaf;
    leaf.nullable = type.nullable();
    PathShredder shredder(path_, &leaf);
    shredder.Run(row_count_);
    SLUICE_ASSIGN_OR_RETURN(leaf.values, TakeSlots(path_.back().values, shredder.slots(), pool_));
    if (!type.nullable()) SLUICE_RETURN_NOT_OK(DropNullsOfParents(shredder.slots(), &leaf));
    const bool repeated = std::any_of(path_.begin(), path_.end(), [](const Step& step) {
      return step.kind != Step::Kind::kLeaf && step.kind != Step::Kind::kField;
    });
    if (!repeated) leaf.repetition_levels.clear();
    const bool required = !repeated && std::none_of(path_.begin(), path_.end(),
                                                    [](const Step& s) { return s.nullable; });
    if (required) leaf.definition_levels.clear();
    leaves_->push_back(std::move(leaf));
    return {};
  }

  /// Where a row above is NULL a required leaf has a slot without a value. The levels tell so;
  /// Parquet's writer looks at the bitmap alone and would refuse the column.
  Status DropNullsOfParents(const std::vector<int64_t>& slots, LeafValues* leaf) const {
    if (leaf->values->null_count() == 0) return {};
    for (size_t i = 0; i < slots.size(); ++i) {
      if (slots[i] >= 0 && leaf->values->IsNull(static_cast<int64_t>(i)))
        return Status::DataError("A field that is declared NOT NULL is NULL");
    }
    auto data = leaf->values->data()->Copy();
    data->buffers[0] = nullptr;
    data->null_count = 0;
    leaf->values = arrow::MakeArray(data);
    return {};
  }

  const int64_t row_count_;
  arrow::MemoryPool* const pool_;
  std::vector<LeafValues>* const leaves_;
  std::vector<Step> path_;
};

// A column that is no nested type: its levels are its validity.
LeafValues FlatLeaf(const SqlType& type, const std::shared_ptr<arrow::Array>& values) {
  LeafValues leaf;
  leaf.values = values;
  leaf.level_count = values->length();
  leaf.nullable = type.nullable();
  if (!type.nullable()) return leaf;
  leaf.definition_levels.assign(static_cast<size_t>(values->length()), 1);
  if (values->null_count() > 0) {
    for (int64_t i = 0; i < values->length(); ++i) {
      leaf.definition_levels[static_cast<size_t>(i)] = values->IsValid(i) ? 1 : 0;
    }
  }
  return leaf;
}

}  // namespace

Status AppendLeaves(const Column& column, const std::shared_ptr<arrow::Array>& values,
                    arrow::MemoryPool* pool, std::vector<LeafValues>* leaves) {
  if (!column.type.is_nested()) {
    leaves->push_back(FlatLeaf(column.type, values));
    return {};
  }
  return ColumnShredder(values->length(), pool, leaves)
      .Descend(column.type, values)
      .WithContext("Cannot write column '" + column.name + "'.");
}

int LeafCount(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kArray:
      return LeafCount(type.element());
    case TypeKind::kMultiset:
      return LeafCount(type.element()) + 1;
    case TypeKind::kMap:
      return LeafCount(type.key()) + LeafCount(type.value());
    case TypeKind::kRow: {
      int count = 0;
      for (const RowField& field : type.fields()) count += LeafCount(field.type);
      return count;
    }
    default:
      return 1;
  }
}

}  // namespace sluice::formats::parquet_format
