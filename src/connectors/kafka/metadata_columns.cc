#include "connectors/kafka/metadata_columns.h"

#include <map>

#include <arrow/builder.h>

#include "connectors/kafka/record_decoder.h"
#include "types/arrow_status.h"

namespace sluice::connectors::kafka {
namespace {

/// The messages of the rows, in row order.
class RowMessages {
 public:
  RowMessages(std::span<const rd_kafka_message_t* const> messages,
              std::span<const int32_t> record_of_row, int64_t row_count)
      : messages_(messages), record_of_row_(record_of_row), row_count_(row_count) {}

  int64_t row_count() const { return row_count_; }
  const rd_kafka_message_t* of(int64_t row) const {
    const auto index = static_cast<size_t>(row);
    return messages_[record_of_row_.empty() ? index : static_cast<size_t>(record_of_row_[index])];
  }

 private:
  std::span<const rd_kafka_message_t* const> messages_;
  std::span<const int32_t> record_of_row_;
  int64_t row_count_;
};

template <typename Builder, typename AppendRow>
Result<std::shared_ptr<arrow::Array>> Build(Builder& builder, const RowMessages& rows,
                                            AppendRow append) {
  SLUICE_RETURN_ARROW(builder.Reserve(rows.row_count()));
  for (int64_t row = 0; row < rows.row_count(); ++row)
    SLUICE_RETURN_ARROW(append(builder, rows.of(row)));
  std::shared_ptr<arrow::Array> array;
  SLUICE_RETURN_ARROW(builder.Finish(&array));
  return array;
}

int64_t TimestampOf(const rd_kafka_message_t* message, rd_kafka_timestamp_type_t* type) {
  return rd_kafka_message_timestamp(message, type);
}

std::string_view TimestampTypeText(rd_kafka_timestamp_type_t type) {
  switch (type) {
    case RD_KAFKA_TIMESTAMP_CREATE_TIME:
      return "CreateTime";
    case RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME:
      return "LogAppendTime";
    case RD_KAFKA_TIMESTAMP_NOT_AVAILABLE:
      break;
  }
  return "NoTimestampType";
}

struct Header {
  std::string_view name;
  std::optional<std::string_view> value;
};

std::vector<Header> HeadersOf(const rd_kafka_message_t* message) {
  std::vector<Header> headers;
  rd_kafka_headers_t* raw = nullptr;
  if (rd_kafka_message_headers(message, &raw) != RD_KAFKA_RESP_ERR_NO_ERROR) return headers;
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  for (size_t i = 0;
       rd_kafka_header_get_all(raw, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) {
    Header header{.name = name};
    if (value != nullptr) header.value = std::string_view(static_cast<const char*>(value), size);
    headers.push_back(header);
  }
  return headers;
}

/// Headers of one name collapse to the last of them.
std::vector<Header> WithoutRepeats(const std::vector<Header>& headers) {
  std::vector<Header> kept;
  std::map<std::string_view, size_t> places;
  for (const Header& header : headers) {
    const auto [place, added] = places.try_emplace(header.name, kept.size());
    if (added) {
      kept.push_back(header);
    } else {
      kept[place->second] = header;
    }
  }
  return kept;
}

arrow::Status AppendHeader(const Header& header, arrow::StringBuilder* names,
                           arrow::BinaryBuilder* values) {
  ARROW_RETURN_NOT_OK(names->Append(header.name));
  return header.value ? values->Append(*header.value) : values->AppendNull();
}

Result<std::shared_ptr<arrow::Array>> HeadersArray(const SqlType& type, const RowMessages& rows,
                                                   arrow::MemoryPool* pool) {
  const auto names = std::make_shared<arrow::StringBuilder>(pool);
  const auto values = std::make_shared<arrow::BinaryBuilder>(pool);
  arrow::MapBuilder builder(pool, names, values, type.ToArrow());
  return Build(builder, rows, [&](arrow::MapBuilder& map, const rd_kafka_message_t* message) {
    ARROW_RETURN_NOT_OK(map.Append());
    for (const Header& header : WithoutRepeats(HeadersOf(message))) {
      ARROW_RETURN_NOT_OK(AppendHeader(header, names.get(), values.get()));
    }
    return arrow::Status::OK();
  });
}

Result<std::shared_ptr<arrow::Array>> HeaderListArray(const SqlType& type, const RowMessages& rows,
                                                      arrow::MemoryPool* pool) {
  const auto names = std::make_shared<arrow::StringBuilder>(pool);
  const auto values = std::make_shared<arrow::BinaryBuilder>(pool);
  const auto entries = std::make_shared<arrow::StructBuilder>(
      type.element().ToArrow(), pool,
      std::vector<std::shared_ptr<arrow::ArrayBuilder>>{names, values});
  arrow::ListBuilder builder(pool, entries, type.ToArrow());
  return Build(builder, rows, [&](arrow::ListBuilder& list, const rd_kafka_message_t* message) {
    ARROW_RETURN_NOT_OK(list.Append());
    for (const Header& header : HeadersOf(message)) {
      ARROW_RETURN_NOT_OK(entries->Append());
      ARROW_RETURN_NOT_OK(AppendHeader(header, names.get(), values.get()));
    }
    return arrow::Status::OK();
  });
}

}  // namespace

std::vector<MetadataColumn> KafkaMetadataColumns(bool writable_topic) {
  const SqlType header_list = SqlType::Array(
      SqlType::Row({{"key", SqlType::String().NotNull()}, {"value", SqlType::Bytes()}}).NotNull());
  return {
      {.key = "topic", .type = SqlType::String().NotNull(), .writable = writable_topic},
      {.key = "partition", .type = SqlType::Int().NotNull()},
      {.key = "headers",
       .type = SqlType::Map(SqlType::String().NotNull(), SqlType::Bytes()).NotNull(),
       .writable = true},
      {.key = "header-list", .type = header_list.NotNull(), .writable = true},
      {.key = "leader-epoch", .type = SqlType::Int()},
      {.key = "offset", .type = SqlType::Bigint().NotNull()},
      {.key = "timestamp", .type = SqlType::TimestampLtz(3).NotNull(), .writable = true},
      {.key = "timestamp-type", .type = SqlType::String().NotNull()},
  };
}

Result<std::shared_ptr<arrow::Array>> MetadataArray(
    std::string_view key, const PartitionId& partition,
    std::span<const rd_kafka_message_t* const> messages, std::span<const int32_t> record_of_row,
    int64_t row_count, arrow::MemoryPool* pool) {
  const RowMessages rows(messages, record_of_row, row_count);
  SqlType type;
  for (const MetadataColumn& column : KafkaMetadataColumns(true)) {
    if (column.key == key) type = column.type;
  }
  if (key == "topic") {
    arrow::StringBuilder builder(pool);
    return Build(builder, rows,
                 [&](auto& b, const rd_kafka_message_t*) { return b.Append(partition.topic); });
  }
  if (key == "partition") {
    arrow::Int32Builder builder(pool);
    return Build(builder, rows,
                 [&](auto& b, const rd_kafka_message_t*) { return b.Append(partition.partition); });
  }
  if (key == "offset") {
    arrow::Int64Builder builder(pool);
    return Build(builder, rows,
                 [](auto& b, const rd_kafka_message_t* m) { return b.Append(m->offset); });
  }
  if (key == "leader-epoch") {
    // This release of the library keeps the epoch to itself: unknown.
    arrow::Int32Builder builder(pool);
    return Build(builder, rows, [](auto& b, const rd_kafka_message_t*) { return b.AppendNull(); });
  }
  if (key == "timestamp") {
    arrow::TimestampBuilder builder(type.ToArrow(), pool);
    return Build(builder, rows, [](auto& b, const rd_kafka_message_t* m) {
      rd_kafka_timestamp_type_t kind;
      return b.Append(TimestampOf(m, &kind));
    });
  }
  if (key == "timestamp-type") {
    arrow::StringBuilder builder(pool);
    return Build(builder, rows, [](auto& b, const rd_kafka_message_t* m) {
      rd_kafka_timestamp_type_t kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
      TimestampOf(m, &kind);
      return b.Append(TimestampTypeText(kind));
    });
  }
  if (key == "headers") return HeadersArray(type, rows, pool);
  if (key == "header-list") return HeaderListArray(type, rows, pool);
  return Status::Validation("Kafka tables have no metadata column '" + std::string(key) + "'.");
}

}  // namespace sluice::connectors::kafka
