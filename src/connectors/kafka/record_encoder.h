// Turns rows into messages: key and value through their formats, topic, headers and time from
// metadata columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kafka/kafka_options.h"
#include "types/batch.h"

namespace sluice::connectors::kafka {

struct MessageHeader {
  std::string_view name;
  std::optional<std::string_view> value;
};

/// The messages of one batch. Views point into it and into the batch's arrays.
class EncodedBatch {
 public:
  int64_t row_count() const { return row_count_; }
  std::optional<std::string_view> key(int64_t row) const {
    return keys_ ? keys_->of(row) : std::nullopt;
  }
  std::optional<std::string_view> value(int64_t row) const { return values_.of(row); }
  /// Nullopt: the table's only topic.
  std::optional<std::string_view> topic(int64_t row) const;
  std::optional<int64_t> timestamp_ms(int64_t row) const;
  bool has_headers() const { return headers_ != nullptr || header_list_ != nullptr; }
  std::vector<MessageHeader> headers(int64_t row) const;
  bool plain() const { return topics_ == nullptr && timestamps_ == nullptr && !has_headers(); }

 private:
  friend class RecordEncoder;
  struct Texts {
    std::string bytes;
    std::vector<size_t> ends;
    std::shared_ptr<arrow::Array> nulls;  // Set for raw: a NULL is a null message part.
    std::optional<std::string_view> of(int64_t row) const;
  };
  int64_t row_count_ = 0;
  Texts values_;
  std::optional<Texts> keys_;
  std::shared_ptr<arrow::Array> topics_;
  std::shared_ptr<arrow::Array> timestamps_;
  std::shared_ptr<arrow::Array> headers_;
  std::shared_ptr<arrow::Array> header_list_;
};

/// Not thread-safe.
class RecordEncoder {
 public:
  /// Rows hold the table's physical columns, then those of `metadata_keys`. `table` must outlive
  /// the encoder.
  static Result<std::unique_ptr<RecordEncoder>> Make(const KafkaTable& table,
                                                     std::vector<std::string> metadata_keys,
                                                     const TimeZone& session_zone);
  Result<EncodedBatch> Encode(const Batch& batch);

 private:
  explicit RecordEncoder(const KafkaTable& table) : table_(table) {}
  Status EncodePart(const FormatUse& part, formats::RowEncoder& encoder, const Batch& batch,
                    EncodedBatch::Texts* texts);

  const KafkaTable& table_;
  std::vector<std::string> metadata_keys_;
  std::unique_ptr<formats::RowEncoder> value_;
  std::unique_ptr<formats::RowEncoder> key_;
};

}  // namespace sluice::connectors::kafka
