// debezium-json: {"before":…,"after":…,"source":{…},"op":"c","ts_ms":…}, alone or as the payload
// beside its schema (formats.md §7.1).
#include "formats/changelog/dialect.h"

namespace sluice::formats::changelog {
namespace {

enum Member { kBefore, kAfter, kOp, kSource, kTsMs };

std::span<const OptionSpec> Options() {
  static const OptionSpec kSpecs[] = {
      {"schema-include", OptionType::kBoolean, "false",
       "Messages are {\"schema\":…,\"payload\":…}, as Kafka Connect writes them with "
       "value.converter.schemas.enable."},
      {"decimal.handling.mode",
       OptionType::kEnum,
       "string",
       "How the connector writes decimals: string and double as texts or numbers, precise as the "
       "bytes of the unscaled number in Base64, with the scale of the column. Where messages have "
       "their schema, that tells.",
       {"string", "double", "precise"}},
      {"skipped-operations", OptionType::kString, "",
       "Messages that give no row instead of being bad records: t (truncate), m (message), or both "
       "separated by a comma. They are counted."},
  };
  return kSpecs;
}

std::span<const MetadataSpec> Metadata() {
  static const MetadataSpec kSpecs[] = {
      {"schema", SqlType::String(), -1, "", MetadataForm::kValue},
      {"ingestion-timestamp", SqlType::TimestampLtz(3), kTsMs, "", MetadataForm::kMillis},
      {"source.timestamp", SqlType::TimestampLtz(3), kSource, "ts_ms", MetadataForm::kMillis},
      {"source.database", SqlType::String(), kSource, "db", MetadataForm::kValue},
      {"source.schema", SqlType::String(), kSource, "schema", MetadataForm::kValue},
      {"source.table", SqlType::String(), kSource, "table", MetadataForm::kValue},
      {"source.properties", SqlType::Map(SqlType::String(), SqlType::String()), kSource, "",
       MetadataForm::kValue},
  };
  return kSpecs;
}

Status Validate(const ChangelogOptions& options, Direction direction) {
  if (direction == Direction::kWrite && options.schema_include) {
    return Status::Validation(
        "Debezium JSON serialization doesn't support 'debezium-json.schema-include' option been "
        "set to true.");
  }
  return {};
}

bool RejectNullBefore(Message& message, std::string_view change) {
  return message.Reject(
      "The \"before\" field of " + std::string(change) +
      " message is null, if you are using Debezium Postgres Connector, please check the Postgres "
      "table has been set REPLICA IDENTITY to FULL level.");
}

bool RejectNullAfter(Message& message, std::string_view op) {
  return message.Reject("The \"after\" field of a message with \"op\" \"" + std::string(op) +
                        "\" is null.");
}

bool Read(Message& message) {
  const std::optional<std::string> op = message.Text(kOp);
  if (!op) {
    return message.Reject("It has no \"op\". " +
                          (message.options().schema_include
                               ? std::string("The \"payload\" must hold it.")
                               : "Set '" + message.options().json.prefix +
                                     "schema-include' = 'true' if messages are {\"schema\":…,"
                                     "\"payload\":…}."));
  }
  if (*op == "c" || *op == "r") {
    if (!message.has_value(kAfter)) return RejectNullAfter(message, *op);
    return message.Add(RowKind::kInsert, message.position(kAfter));
  }
  if (*op == "u") {
    if (!message.has_value(kBefore)) return RejectNullBefore(message, "UPDATE");
    if (!message.has_value(kAfter)) return RejectNullAfter(message, *op);
    return message.Add(RowKind::kUpdateBefore, message.position(kBefore)) &&
           message.Add(RowKind::kUpdateAfter, message.position(kAfter));
  }
  if (*op == "d") {
    if (!message.has_value(kBefore)) return RejectNullBefore(message, "DELETE");
    return message.Add(RowKind::kDelete, message.position(kBefore));
  }
  const std::string& skipped = message.options().skipped_operations;
  if (op->size() == 1 && skipped.find((*op)[0]) != std::string::npos) return message.Ignore();
  return message.RejectUnknown("op", *op);
}

}  // namespace

const Dialect& DebeziumDialect() {
  static const Dialect kDialect{
      .name = "debezium-json",
      .label = "Debezium JSON",
      .options = Options(),
      .members = {"before", "after", "op", "source", "ts_ms"},
      .metadata = Metadata(),
      .validate = &Validate,
      .epoch_times = true,
      .read = &Read,
      .insertion = {R"({"before":null,"after":)", R"(,"op":"c"})"},
      .removal = {R"({"before":)", R"(,"after":null,"op":"d"})"},
      .slim_insertion = {R"({"after":)", R"(,"op":"c"})"},
      .slim_removal = {R"({"before":)", R"(,"op":"d"})"},
  };
  return kDialect;
}

}  // namespace sluice::formats::changelog
