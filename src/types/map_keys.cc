#include "types/map_keys.h"

#include <arrow/api.h>
#include <arrow/util/bit_util.h>

#include "types/arrow_status.h"

namespace sluice {

namespace {

bool HoldsNullKey(const arrow::StringArray& keys) {
  for (int64_t i = 0; i < keys.length(); ++i) {
    if (IsNullMapKey(keys.GetView(i))) return true;
  }
  return false;
}

}  // namespace

bool IsNullMapKey(const arrow::MapArray& maps, int64_t entry) {
  const std::shared_ptr<arrow::Array>& keys = maps.keys();
  return keys->type_id() == arrow::Type::STRING &&
         IsNullMapKey(static_cast<const arrow::StringArray&>(*keys).GetView(entry));
}

Result<std::shared_ptr<arrow::Array>> ToMapKeys(const SqlType& key,
                                                std::shared_ptr<arrow::Array> values,
                                                arrow::MemoryPool* pool) {
  if (values->null_count() == 0) return values;
  if (!key.is_character()) {
    return Status::DataError(
        "A key of a MAP is NULL. Only a MAP with text keys can hold one, not "
        "one with keys of type " +
        key.ToString() + ".");
  }
  const auto& texts = static_cast<const arrow::StringArray&>(*values);
  arrow::StringBuilder keys(pool);
  SLUICE_RETURN_ARROW(keys.Reserve(texts.length()));
  for (int64_t i = 0; i < texts.length(); ++i) {
    SLUICE_RETURN_ARROW(keys.Append(texts.IsNull(i) ? kNullMapKey : texts.GetView(i)));
  }
  std::shared_ptr<arrow::Array> made;
  SLUICE_RETURN_ARROW(keys.Finish(&made));
  return made;
}

std::shared_ptr<arrow::Array> FromMapKeys(const SqlType& key,
                                          const std::shared_ptr<arrow::Array>& values) {
  if (!key.is_character() || values->type_id() != arrow::Type::STRING) return values;
  const auto& keys = static_cast<const arrow::StringArray&>(*values);
  if (!HoldsNullKey(keys)) return values;
  const int64_t bits = keys.offset() + keys.length();
  auto validity = arrow::AllocateEmptyBitmap(bits);
  if (!validity.ok()) throw std::bad_alloc();
  for (int64_t i = 0; i < keys.length(); ++i) {
    if (!IsNullMapKey(keys.GetView(i)))
      arrow::bit_util::SetBit((*validity)->mutable_data(), keys.offset() + i);
  }
  auto data = values->data()->Copy();
  data->buffers[0] = std::move(*validity);
  data->null_count = arrow::kUnknownNullCount;
  return arrow::MakeArray(data);
}

}  // namespace sluice
