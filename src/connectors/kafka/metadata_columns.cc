#include "connectors/kafka/metadata_columns.h"

#include <algorithm>
#include <map>

#include <arrow/builder.h>

#include "connectors/kafka/record_decoder.h"
#include "types/arrow_status.h"

namespace sluice::connectors::kafka {
namespace {

/// The messages of the rows, in row order.
class RowMessages {
 public:
  RowMessages(const Messages& messages, std::span<const int32_t> record_of_row, int64_t row_count)
      : messages_(messages), record_of_row_(record_of_row), row_count_(row_count) {}

  int64_t row_count() const { return row_count_; }
  int64_t offset(int64_t row) const { return messages_.offsets[IndexOf(row)]; }
  const MessageDetails& details(int64_t row) const { return messages_.details[IndexOf(row)]; }
  std::span<const MessageHeader> headers(int64_t row) const {
    const MessageDetails& of = details(row);
    return std::span(messages_.headers).subspan(of.first_header, of.header_count);
  }

 private:
  size_t IndexOf(int64_t row) const {
    const auto index = static_cast<size_t>(row);
    return record_of_row_.empty() ? index : static_cast<size_t>(record_of_row_[index]);
  }

  const Messages& messages_;
  std::span<const int32_t> record_of_row_;
  int64_t row_count_;
};

/// Calls `append(builder, row)` for each row.
template <typename Builder, typename AppendRow>
Result<std::shared_ptr<arrow::Array>> Build(Builder& builder, const RowMessages& rows,
                                            AppendRow append) {
  SLUICE_RETURN_ARROW(builder.Reserve(rows.row_count()));
  for (int64_t row = 0; row < rows.row_count(); ++row) SLUICE_RETURN_ARROW(append(builder, row));
  std::shared_ptr<arrow::Array> array;
  SLUICE_RETURN_ARROW(builder.Finish(&array));
  return array;
}

std::string_view TimestampTypeText(TimestampType type) {
  switch (type) {
    case TimestampType::kCreateTime:
      return "CreateTime";
    case TimestampType::kLogAppendTime:
      return "LogAppendTime";
    case TimestampType::kNone:
      break;
  }
  return "NoTimestampType";
}

/// Headers of one name collapse to the last of them.
std::vector<MessageHeader> WithoutRepeats(std::span<const MessageHeader> headers) {
  std::vector<MessageHeader> kept;
  std::map<std::string_view, size_t> places;
  for (const MessageHeader& header : headers) {
    const auto [place, added] = places.try_emplace(header.name, kept.size());
    if (added) {
      kept.push_back(header);
    } else {
      kept[place->second] = header;
    }
  }
  return kept;
}

arrow::Status AppendHeader(const MessageHeader& header, arrow::StringBuilder* names,
                           arrow::BinaryBuilder* values) {
  ARROW_RETURN_NOT_OK(names->Append(header.name));
  return header.value ? values->Append(*header.value) : values->AppendNull();
}

Result<std::shared_ptr<arrow::Array>> HeadersArray(const SqlType& type, const RowMessages& rows,
                                                   arrow::MemoryPool* pool) {
  const auto names = std::make_shared<arrow::StringBuilder>(pool);
  const auto values = std::make_shared<arrow::BinaryBuilder>(pool);
  arrow::MapBuilder builder(pool, names, values, type.ToArrow());
  return Build(builder, rows, [&](arrow::MapBuilder& map, int64_t row) {
    ARROW_RETURN_NOT_OK(map.Append());
    for (const MessageHeader& header : WithoutRepeats(rows.headers(row))) {
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
  return Build(builder, rows, [&](arrow::ListBuilder& list, int64_t row) {
    ARROW_RETURN_NOT_OK(list.Append());
    for (const MessageHeader& header : rows.headers(row)) {
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

bool NeedsDetails(std::string_view key) {
  constexpr std::string_view kOthers[] = {"topic", "partition", "offset"};
  return std::find(std::begin(kOthers), std::end(kOthers), key) == std::end(kOthers) &&
         !key.starts_with("value.");
}

Result<std::shared_ptr<arrow::Array>> MetadataArray(std::string_view key,
                                                    const PartitionId& partition,
                                                    const Messages& messages,
                                                    std::span<const int32_t> record_of_row,
                                                    int64_t row_count, arrow::MemoryPool* pool) {
  const RowMessages rows(messages, record_of_row, row_count);
  SqlType type;
  for (const MetadataColumn& column : KafkaMetadataColumns(true)) {
    if (column.key == key) type = column.type;
  }
  if (key == "topic") {
    arrow::StringBuilder builder(pool);
    return Build(builder, rows, [&](auto& b, int64_t) { return b.Append(partition.topic); });
  }
  if (key == "partition") {
    arrow::Int32Builder builder(pool);
    return Build(builder, rows, [&](auto& b, int64_t) { return b.Append(partition.partition); });
  }
  if (key == "offset") {
    arrow::Int64Builder builder(pool);
    return Build(builder, rows, [&](auto& b, int64_t row) { return b.Append(rows.offset(row)); });
  }
  if (key == "leader-epoch") {
    arrow::Int32Builder builder(pool);
    return Build(builder, rows, [&](auto& b, int64_t row) {
      const int32_t epoch = rows.details(row).leader_epoch;
      return epoch < 0 ? b.AppendNull() : b.Append(epoch);
    });
  }
  if (key == "timestamp") {
    arrow::TimestampBuilder builder(type.ToArrow(), pool);
    return Build(builder, rows,
                 [&](auto& b, int64_t row) { return b.Append(rows.details(row).timestamp_ms); });
  }
  if (key == "timestamp-type") {
    arrow::StringBuilder builder(pool);
    return Build(builder, rows, [&](auto& b, int64_t row) {
      return b.Append(TimestampTypeText(rows.details(row).timestamp_type));
    });
  }
  if (key == "headers") return HeadersArray(type, rows, pool);
  if (key == "header-list") return HeaderListArray(type, rows, pool);
  return Status::Validation("Kafka tables have no metadata column '" + std::string(key) + "'.");
}

}  // namespace sluice::connectors::kafka
