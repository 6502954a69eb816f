#include "connectors/kafka/record_decoder.h"

#include <algorithm>

#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>

#include "common/text.h"
#include "connectors/kafka/metadata_columns.h"
#include "types/arrow_status.h"

namespace sluice::connectors::kafka {
namespace {

constexpr std::string_view kValuePrefix = "value.";

/// Which part of a message a column comes from, and which column of that part's batch it is, or
/// which metadata of the message.
struct ColumnOrigin {
  enum class From { kValue, kKey, kMessage } from = From::kValue;
  int index = 0;
  std::string key;
};

/// A key or a value with its decoder.
struct Part {
  std::unique_ptr<formats::RowDecoder> decoder;
  std::vector<int> projection;   // Into FormatUse::schema.
  std::vector<Column> metadata;  // Of the format.

  int Want(int format_column) {
    projection.push_back(format_column);
    return static_cast<int>(projection.size()) - 1;
  }
};

int PlaceOf(const std::vector<int>& table_columns, int column) {
  for (size_t i = 0; i < table_columns.size(); ++i) {
    if (table_columns[i] == column) return static_cast<int>(i);
  }
  return -1;
}

/// Rows of the value and of the key that make one row each.
struct JoinedRows {
  std::vector<int32_t> record_of_row;
  std::vector<int32_t> value_rows;
  std::vector<int32_t> key_rows;
};

int32_t RecordOf(const formats::DecodedRows& decoded, int64_t row) {
  return decoded.record_of_row.empty() ? static_cast<int32_t>(row)
                                       : decoded.record_of_row[static_cast<size_t>(row)];
}

/// Every row of a record's key with every row of its value; a record without either gives none.
JoinedRows Join(const formats::DecodedRows& value, const formats::DecodedRows& key) {
  JoinedRows joined;
  const int64_t key_count = key.rows.row_count();
  int64_t key_begin = 0;
  for (int64_t row = 0; row < value.rows.row_count(); ++row) {
    const int32_t record = RecordOf(value, row);
    while (key_begin < key_count && RecordOf(key, key_begin) < record) ++key_begin;
    for (int64_t k = key_begin; k < key_count && RecordOf(key, k) == record; ++k) {
      joined.record_of_row.push_back(record);
      joined.value_rows.push_back(static_cast<int32_t>(row));
      joined.key_rows.push_back(static_cast<int32_t>(k));
    }
  }
  return joined;
}

Result<std::shared_ptr<arrow::Array>> IndexArray(const std::vector<int32_t>& indices) {
  arrow::Int32Builder builder;
  SLUICE_RETURN_ARROW(builder.AppendValues(indices));
  std::shared_ptr<arrow::Array> array;
  SLUICE_RETURN_ARROW(builder.Finish(&array));
  return array;
}

}  // namespace

struct RecordDecoder::Rep {
  const KafkaTable* table = nullptr;
  ScanColumns columns;
  arrow::MemoryPool* pool = nullptr;
  Part value;
  std::optional<Part> key;
  std::vector<ColumnOrigin> origins;  // One for each column wanted.
  std::shared_ptr<arrow::Schema> schema;

  Status MakeParts(const TimeZone& session_zone) {
    if (table->key) key.emplace();
    std::vector<Column> output;
    for (const int column : columns.physical) {
      output.push_back(table->physical.column(column));
      // A column in both parts is the value's.
      if (const int place = PlaceOf(table->value.table_columns, column); place >= 0) {
        origins.push_back(
            {.from = ColumnOrigin::From::kValue, .index = value.Want(place), .key = {}});
      } else {
        origins.push_back({.from = ColumnOrigin::From::kKey,
                           .index = key->Want(PlaceOf(table->key->table_columns, column)),
                           .key = {}});
      }
    }
    AddMetadata(&output);
    schema = Schema(std::move(output)).ToArrow();
    formats::FormatContext context{.session_zone = session_zone, .pool = pool};
    context.keep_bad_records = table->bad_records.puts_aside();
    SLUICE_ASSIGN_OR_RETURN(
        value.decoder,
        table->value.format->make_decoder(
            table->value.options, {table->value.schema, value.projection, Schema(value.metadata)},
            context));
    if (key) {
      SLUICE_ASSIGN_OR_RETURN(
          key->decoder, table->key->format->make_decoder(
                            table->key->options, {table->key->schema, key->projection}, context));
    }
    return {};
  }

  /// Those of the format stand behind the physical columns in its batch.
  void AddMetadata(std::vector<Column>* output) {
    for (const std::string& name : columns.metadata) {
      for (const MetadataColumn& column : KafkaMetadataColumns(true)) {
        if (column.key != name) continue;
        output->push_back({column.key, column.type});
        origins.push_back({.from = ColumnOrigin::From::kMessage, .index = 0, .key = name});
      }
      for (const MetadataColumn& column : FormatMetadataColumns(table->value.format)) {
        if (column.key != name) continue;
        output->push_back({column.key, column.type});
        const size_t index = value.projection.size() + value.metadata.size();
        origins.push_back(
            {.from = ColumnOrigin::From::kValue, .index = static_cast<int>(index), .key = {}});
        value.metadata.push_back({name.substr(kValuePrefix.size()), column.type});
      }
    }
  }

  Result<formats::DecodedRows> DecodePart(Part& part, bool is_key, const PartitionId& partition,
                                          const Messages& messages, DecodedMessages* out) {
    const std::vector<std::string_view>& texts = is_key ? messages.keys : messages.values;
    if (!is_key) {
      out->null_messages += std::count_if(
          texts.begin(), texts.end(), [](std::string_view text) { return text.data() == nullptr; });
    }
    SLUICE_ASSIGN_OR_RETURN(formats::DecodedRows decoded, part.decoder->DecodeMessages(texts));
    out->bad_records += decoded.bad_count;
    out->ignored_records += decoded.ignored_count;
    // Of many, a few lines in the log are enough.
    constexpr size_t kDescribed = 1'000;
    for (const formats::BadRecord& bad : decoded.bad) {
      if (out->bad_texts.size() >= kDescribed) break;
      std::string text = Describe(bad, is_key, partition, messages);
      if (decoded.failed) return Status::DataError(std::move(text));
      out->bad_texts.push_back(std::move(text));
    }
    if (table->bad_records.puts_aside() && !decoded.bad.empty())
      SLUICE_RETURN_NOT_OK(TakeOutBad(messages, texts, &decoded, out));
    return decoded;
  }

  Status TakeOutBad(const Messages& messages, std::span<const std::string_view> texts,
                    formats::DecodedRows* decoded, DecodedMessages* out) const {
    SLUICE_ASSIGN_OR_RETURN(std::vector<QuarantinedRecord> taken,
                            TakeOutBadRecords(
                                decoded, table->bad_records.keep_rows_with_nulled_fields,
                                [texts](const formats::BadRecord& bad) {
                                  return texts[static_cast<size_t>(bad.record)];
                                },
                                [&messages](const formats::BadRecord& bad) {
                                  return messages.offsets[static_cast<size_t>(bad.record)];
                                }));
    std::move(taken.begin(), taken.end(), std::back_inserter(out->taken_out));
    return {};
  }

  std::string Describe(const formats::BadRecord& bad, bool is_key, const PartitionId& partition,
                       const Messages& messages) const {
    const auto index = static_cast<size_t>(bad.record);
    const std::string offset =
        index < messages.count() ? std::to_string(messages.offsets[index]) : "?";
    const std::vector<std::string_view>& texts = is_key ? messages.keys : messages.values;
    const std::string_view bytes = index < texts.size() ? texts[index] : std::string_view();
    std::string text = std::string("Cannot decode the ") + (is_key ? "key" : "value") +
                       " of record " + partition.ToText() + "@" + offset + " for table " +
                       table->identifier;
    if (!bad.column.empty()) text += ", column `" + bad.column + "`";
    text += ": " + bad.reason;
    if (text.back() != '.') text += '.';
    return text + " The record begins with: " + Printable(bytes, 100);
  }

  /// All but those of the message, which stay null.
  Result<arrow::ArrayVector> PartColumns(const formats::DecodedRows& value_rows,
                                         const formats::DecodedRows* key_rows,
                                         const JoinedRows* joined) const {
    std::shared_ptr<arrow::Array> take_value;
    std::shared_ptr<arrow::Array> take_key;
    if (joined != nullptr) {
      SLUICE_ASSIGN_OR_RETURN(take_value, IndexArray(joined->value_rows));
      SLUICE_ASSIGN_OR_RETURN(take_key, IndexArray(joined->key_rows));
    }
    arrow::compute::ExecContext context(pool);
    arrow::ArrayVector arrays;
    for (const ColumnOrigin& origin : origins) {
      if (origin.from == ColumnOrigin::From::kMessage) {
        arrays.push_back(nullptr);
        continue;
      }
      const bool from_key = origin.from == ColumnOrigin::From::kKey;
      std::shared_ptr<arrow::Array> array =
          (from_key ? key_rows->rows : value_rows.rows).column(origin.index);
      if (joined != nullptr) {
        SLUICE_ASSIGN_ARROW(
            array, arrow::compute::Take(*array, from_key ? *take_key : *take_value,
                                        arrow::compute::TakeOptions::NoBoundsCheck(), &context));
      }
      arrays.push_back(std::move(array));
    }
    return arrays;
  }
};

std::vector<MetadataColumn> FormatMetadataColumns(const formats::Format* format) {
  std::vector<MetadataColumn> columns;
  if (format == nullptr || format->metadata == nullptr) return columns;
  const Schema offered = format->metadata();
  for (const Column& column : offered.columns())
    columns.push_back({.key = std::string(kValuePrefix) + column.name, .type = column.type});
  return columns;
}

RecordDecoder::RecordDecoder(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
RecordDecoder::~RecordDecoder() = default;

MessageParts RecordDecoder::wanted_parts() const {
  const auto& keys = rep_->columns.metadata;
  return {.keys = rep_->key.has_value(),
          .details = std::any_of(keys.begin(), keys.end(), &NeedsDetails)};
}

Result<std::unique_ptr<RecordDecoder>> RecordDecoder::Make(const KafkaTable& table,
                                                           const ScanColumns& columns,
                                                           const TimeZone& session_zone,
                                                           arrow::MemoryPool* pool) {
  auto rep = std::make_unique<Rep>();
  rep->table = &table;
  rep->columns = columns;
  rep->pool = pool;
  SLUICE_RETURN_NOT_OK(rep->MakeParts(session_zone));
  return std::unique_ptr<RecordDecoder>(new RecordDecoder(std::move(rep)));
}

Result<DecodedMessages> RecordDecoder::Decode(const PartitionId& partition,
                                              const Messages& messages) {
  Rep& rep = *rep_;
  DecodedMessages out;
  SLUICE_ASSIGN_OR_RETURN(const formats::DecodedRows value,
                          rep.DecodePart(rep.value, false, partition, messages, &out));
  std::optional<formats::DecodedRows> key;
  std::optional<JoinedRows> joined;
  if (rep.key) {
    SLUICE_ASSIGN_OR_RETURN(key, rep.DecodePart(*rep.key, true, partition, messages, &out));
    const bool plain = value.record_of_row.empty() && key->record_of_row.empty();
    if (!plain) joined = Join(value, *key);
  }
  const int64_t rows =
      joined ? static_cast<int64_t>(joined->value_rows.size()) : value.rows.row_count();
  const std::span<const int32_t> record_of_row =
      joined ? joined->record_of_row : value.record_of_row;
  SLUICE_ASSIGN_OR_RETURN(arrow::ArrayVector arrays, rep.PartColumns(value, key ? &*key : nullptr,
                                                                     joined ? &*joined : nullptr));
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i] != nullptr) continue;
    SLUICE_ASSIGN_OR_RETURN(arrays[i], MetadataArray(rep.origins[i].key, partition, messages,
                                                     record_of_row, rows, rep.pool));
  }
  std::shared_ptr<arrow::Int8Array> kinds = value.rows.row_kinds();
  if (kinds && joined) {
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> indices,
                            IndexArray(joined->value_rows));
    SLUICE_ASSIGN_ARROW(const std::shared_ptr<arrow::Array> taken,
                        arrow::compute::Take(*kinds, *indices));
    kinds = std::static_pointer_cast<arrow::Int8Array>(taken);
  }
  out.rows = Batch(arrow::RecordBatch::Make(rep.schema, rows, std::move(arrays)), std::move(kinds));
  return out;
}

}  // namespace sluice::connectors::kafka
