#include "connectors/kafka/record_encoder.h"

#include <arrow/array/array_binary.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/record_batch.h>

#include "types/map_keys.h"

namespace sluice::connectors::kafka {
namespace {

template <typename ArrayType>
const ArrayType& As(const arrow::Array& array) {
  return static_cast<const ArrayType&>(array);
}

std::optional<std::string_view> Bytes(const arrow::Array& array, int64_t row) {
  if (array.IsNull(row)) return std::nullopt;
  return As<arrow::BinaryArray>(array).GetView(row);
}

}  // namespace

std::optional<std::string_view> EncodedBatch::Texts::of(int64_t row) const {
  if (nulls && nulls->IsNull(row)) return std::nullopt;
  const auto index = static_cast<size_t>(row);
  const size_t begin = index == 0 ? 0 : ends[index - 1];
  return std::string_view(bytes).substr(begin, ends[index] - begin);
}

std::optional<std::string_view> EncodedBatch::topic(int64_t row) const {
  return topics_ ? Bytes(*topics_, row) : std::nullopt;
}

std::optional<int64_t> EncodedBatch::timestamp_ms(int64_t row) const {
  if (!timestamps_ || timestamps_->IsNull(row)) return std::nullopt;
  return As<arrow::TimestampArray>(*timestamps_).Value(row);
}

std::vector<MessageHeader> EncodedBatch::headers(int64_t row) const {
  std::vector<MessageHeader> headers;
  if (headers_ && headers_->IsValid(row)) {
    const auto& maps = As<arrow::MapArray>(*headers_);
    for (int64_t i = maps.value_offset(row); i < maps.value_offset(row) + maps.value_length(row);
         ++i) {
      const std::optional<std::string_view> value = Bytes(*maps.items(), i);
      if (value && !IsNullMapKey(maps, i))
        headers.push_back({Bytes(*maps.keys(), i).value_or(""), value});
    }
  }
  if (header_list_ && header_list_->IsValid(row)) {
    const auto& lists = As<arrow::ListArray>(*header_list_);
    const auto& entries = As<arrow::StructArray>(*lists.values());
    for (int64_t i = lists.value_offset(row); i < lists.value_offset(row) + lists.value_length(row);
         ++i) {
      if (entries.IsNull(i)) continue;
      headers.push_back({Bytes(*entries.field(0), i).value_or(""), Bytes(*entries.field(1), i)});
    }
  }
  return headers;
}

Result<std::unique_ptr<RecordEncoder>> RecordEncoder::Make(const KafkaTable& table,
                                                           std::vector<std::string> metadata_keys,
                                                           const TimeZone& session_zone) {
  std::unique_ptr<RecordEncoder> encoder(new RecordEncoder(table));
  encoder->metadata_keys_ = std::move(metadata_keys);
  const formats::FormatContext context{.session_zone = session_zone};
  SLUICE_ASSIGN_OR_RETURN(encoder->value_,
                          table.value.format->make_encoder(table.value.options, table.value.schema,
                                                           formats::Framing::kMessage, context));
  if (table.key) {
    SLUICE_ASSIGN_OR_RETURN(encoder->key_,
                            table.key->format->make_encoder(table.key->options, table.key->schema,
                                                            formats::Framing::kMessage, context));
  }
  return encoder;
}

Status RecordEncoder::EncodePart(const FormatUse& part, formats::RowEncoder& encoder,
                                 const Batch& batch, EncodedBatch::Texts* texts) {
  arrow::ArrayVector columns;
  for (const int column : part.table_columns) columns.push_back(batch.column(column));
  if (part.format->name == "raw" && columns.size() == 1) texts->nulls = columns.front();
  const Batch rows(
      arrow::RecordBatch::Make(part.schema.ToArrow(), batch.row_count(), std::move(columns)),
      batch.row_kinds());
  SLUICE_RETURN_NOT_OK(encoder.Encode(rows, &texts->bytes, &texts->ends));
  if (static_cast<int64_t>(texts->ends.size()) != batch.row_count()) {
    return Status::Internal("Format " + std::string(part.format->name) + " wrote " +
                            std::to_string(texts->ends.size()) + " messages for " +
                            std::to_string(batch.row_count()) + " rows.");
  }
  return {};
}

Result<EncodedBatch> RecordEncoder::Encode(const Batch& batch) {
  EncodedBatch encoded;
  encoded.row_count_ = batch.row_count();
  SLUICE_RETURN_NOT_OK(EncodePart(table_.value, *value_, batch, &encoded.values_));
  if (key_) {
    encoded.keys_.emplace();
    // The key of a row is an insert, whatever the row is.
    SLUICE_RETURN_NOT_OK(EncodePart(*table_.key, *key_, Batch(batch.rows()), &*encoded.keys_));
  }
  int column = table_.physical.column_count();
  for (const std::string& key : metadata_keys_) {
    const std::shared_ptr<arrow::Array> array = batch.column(column++);
    if (key == "topic") encoded.topics_ = array;
    if (key == "timestamp") encoded.timestamps_ = array;
    if (key == "headers") encoded.headers_ = array;
    if (key == "header-list") encoded.header_list_ = array;
  }
  return encoded;
}

}  // namespace sluice::connectors::kafka
