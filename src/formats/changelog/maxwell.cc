// maxwell-json: {"database":…,"table":…,"type":"update","ts":…,"data":{…},"old":{…}}
// (formats.md §7.3).
#include "formats/changelog/dialect.h"

namespace sluice::formats::changelog {
namespace {

enum Member { kData, kOld, kType, kDatabase, kTable, kPrimaryKeyColumns, kTs };

std::span<const MetadataSpec> Metadata() {
  static const MetadataSpec kSpecs[] = {
      {"database", SqlType::String(), kDatabase, "", MetadataForm::kValue},
      {"table", SqlType::String(), kTable, "", MetadataForm::kValue},
      {"primary-key-columns", SqlType::Array(SqlType::String()), kPrimaryKeyColumns, "",
       MetadataForm::kValue},
      {"ingestion-timestamp", SqlType::TimestampLtz(3), kTs, "", MetadataForm::kSeconds},
  };
  return kSpecs;
}

bool Read(Message& message) {
  const std::optional<std::string> type = message.Text(kType);
  if (!type) return message.Reject("It has no \"type\".");
  // A table's first contents are rows like others, between a start and a completion.
  if (*type == "bootstrap-start" || *type == "bootstrap-complete") return message.Ignore();
  const bool inserts = *type == "insert" || *type == "bootstrap-insert";
  if (!inserts && *type != "update" && *type != "delete") {
    return message.RejectUnknown("type", *type);
  }
  if (!message.has_value(kData)) {
    return message.Reject("The \"data\" field of a message with \"type\" \"" + *type +
                          "\" is null.");
  }
  const char* data = message.position(kData);
  if (inserts) return message.Add(RowKind::kInsert, data);
  if (*type == "delete") return message.Add(RowKind::kDelete, data);
  if (!message.has_value(kOld)) {
    return message.Reject("The \"old\" field of a message with \"type\" \"update\" is null.");
  }
  return message.AddCompleted(RowKind::kUpdateBefore, message.position(kOld), data) &&
         message.Add(RowKind::kUpdateAfter, data);
}

}  // namespace

const Dialect& MaxwellDialect() {
  static const Dialect kDialect{
      .name = "maxwell-json",
      .label = "Maxwell JSON",
      .options = {},
      .members = {"data", "old", "type", "database", "table", "primary_key_columns", "ts"},
      .metadata = Metadata(),
      .validate = nullptr,
      .epoch_times = false,
      .read = &Read,
      .insertion = {R"({"data":)", R"(,"type":"insert"})"},
      .removal = {R"({"data":)", R"(,"type":"delete"})"},
      .slim_insertion = {R"({"data":)", R"(,"type":"insert"})"},
      .slim_removal = {R"({"data":)", R"(,"type":"delete"})"},
  };
  return kDialect;
}

}  // namespace sluice::formats::changelog
