// ogg-json, Oracle GoldenGate: {"table":…,"op_type":"U","op_ts":…,"before":{…},"after":{…}}
// (formats.md §7.4).
#include "formats/changelog/dialect.h"

namespace sluice::formats::changelog {
namespace {

enum Member { kBefore, kAfter, kOpType, kTable, kPrimaryKeys, kCurrentTs, kOpTs };

std::span<const MetadataSpec> Metadata() {
  static const MetadataSpec kSpecs[] = {
      {"table", SqlType::String(), kTable, "", MetadataForm::kValue},
      {"primary-keys", SqlType::Array(SqlType::String()), kPrimaryKeys, "", MetadataForm::kValue},
      {"ingestion-timestamp", SqlType::TimestampLtz(6), kCurrentTs, "", MetadataForm::kTime},
      {"event-timestamp", SqlType::TimestampLtz(6), kOpTs, "", MetadataForm::kTime},
  };
  return kSpecs;
}

bool RejectNullBefore(Message& message, std::string_view change) {
  return message.Reject(
      "The \"before\" field of " + std::string(change) +
      " message is null, if you are using Ogg Postgres Connector, please check the Postgres table "
      "has been set REPLICA IDENTITY to FULL level.");
}

bool RejectNullAfter(Message& message, std::string_view op) {
  return message.Reject("The \"after\" field of a message with \"op_type\" \"" + std::string(op) +
                        "\" is null.");
}

bool Read(Message& message) {
  const std::optional<std::string> op = message.Text(kOpType);
  if (!op) return message.Reject("It has no \"op_type\".");
  if (*op == "I") {
    if (!message.has_value(kAfter)) return RejectNullAfter(message, *op);
    return message.Add(RowKind::kInsert, message.position(kAfter));
  }
  if (*op == "U") {
    if (!message.has_value(kBefore)) return RejectNullBefore(message, "UPDATE");
    if (!message.has_value(kAfter)) return RejectNullAfter(message, *op);
    return message.Add(RowKind::kUpdateBefore, message.position(kBefore)) &&
           message.Add(RowKind::kUpdateAfter, message.position(kAfter));
  }
  if (*op == "D") {
    if (!message.has_value(kBefore)) return RejectNullBefore(message, "DELETE");
    return message.Add(RowKind::kDelete, message.position(kBefore));
  }
  return message.RejectUnknown("op_type", *op);
}

}  // namespace

const Dialect& OggDialect() {
  static const Dialect kDialect{
      .name = "ogg-json",
      .label = "OGG JSON",
      .options = {},
      .members = {"before", "after", "op_type", "table", "primary_keys", "current_ts", "op_ts"},
      .metadata = Metadata(),
      .validate = nullptr,
      .epoch_times = false,
      .read = &Read,
      .insertion = {R"({"before":null,"after":)", R"(,"op_type":"I"})"},
      .removal = {R"({"before":)", R"(,"after":null,"op_type":"D"})"},
      .slim_insertion = {R"({"after":)", R"(,"op_type":"I"})"},
      .slim_removal = {R"({"before":)", R"(,"op_type":"D"})"},
  };
  return kDialect;
}

}  // namespace sluice::formats::changelog
