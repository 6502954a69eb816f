// canal-json: {"data":[{…}],"old":[{…}],"type":"UPDATE","database":…,"table":…,…}
// (formats.md §7.2).
#include "expr/regex.h"
#include "formats/changelog/dialect.h"

namespace sluice::formats::changelog {
namespace {

enum Member {
  kData,
  kOld,
  kType,
  kDatabase,
  kTable,
  kSqlType,
  kPkNames,
  kTs,
  kEs,
  kIsDdl,
};

constinit const OptionSpec kOptions[] = {
    {"database.include", OptionType::kString, "",
     "Regular expression: only messages whose database matches it as a whole are read."},
    {"table.include", OptionType::kString, "",
     "Regular expression: only messages whose table matches it as a whole are read."},
};

std::span<const MetadataSpec> Metadata() {
  static const MetadataSpec kSpecs[] = {
      {"database", SqlType::String(), kDatabase, "", MetadataForm::kValue},
      {"table", SqlType::String(), kTable, "", MetadataForm::kValue},
      {"sql-type", SqlType::Map(SqlType::String(), SqlType::Int()), kSqlType, "",
       MetadataForm::kValue},
      {"pk-names", SqlType::Array(SqlType::String()), kPkNames, "", MetadataForm::kValue},
      {"ingestion-timestamp", SqlType::TimestampLtz(3), kTs, "", MetadataForm::kMillis},
      {"event-timestamp", SqlType::TimestampLtz(3), kEs, "", MetadataForm::kMillis},
  };
  return kSpecs;
}

enum class Verdict { kTaken, kLeftOut, kBad };

/// Whether `pattern` (empty: everything) matches the member as a whole.
Verdict Filter(Message& message, Member member, std::string_view name, const std::string& pattern) {
  if (pattern.empty()) return Verdict::kTaken;
  const std::optional<std::string> text = message.Text(member);
  if (!text) {
    message.Reject("It has no \"" + std::string(name) + "\", which '" +
                   message.options().json.prefix + std::string(name) + ".include' looks at.");
    return Verdict::kBad;
  }
  const Result<bool> found = expr::Regex::Get("\\A(?:" + pattern + ")\\z")->Find(*text, 0);
  if (!found.ok()) {
    message.Reject(found.status().message());
    return Verdict::kBad;
  }
  return *found ? Verdict::kTaken : Verdict::kLeftOut;
}

bool ReadUpdates(Message& message, const std::vector<const char*>& data) {
  std::vector<const char*> old;
  if (!message.has_value(kOld) || !message.Elements(kOld, &old)) {
    return message.Reject("The \"old\" field of UPDATE message is no array of rows.");
  }
  if (old.size() != data.size()) {
    return message.Reject("The \"old\" field of UPDATE message has " + std::to_string(old.size()) +
                          " rows, \"data\" has " + std::to_string(data.size()) + ".");
  }
  for (size_t i = 0; i < data.size(); ++i) {
    if (!message.AddCompleted(RowKind::kUpdateBefore, old[i], data[i]) ||
        !message.Add(RowKind::kUpdateAfter, data[i])) {
      return false;
    }
  }
  return true;
}

bool Read(Message& message) {
  for (const Verdict verdict :
       {Filter(message, kDatabase, "database", message.options().database_include),
        Filter(message, kTable, "table", message.options().table_include)}) {
    if (verdict == Verdict::kLeftOut) return message.Ignore();
    if (verdict == Verdict::kBad) return false;
  }
  if (message.Text(kIsDdl) == "true") return message.Ignore();
  const std::optional<std::string> type = message.Text(kType);
  if (!type) return message.Reject("It has no \"type\".");
  if (*type == "CREATE") return message.Ignore();
  if (*type != "INSERT" && *type != "UPDATE" && *type != "DELETE") {
    return message.RejectUnknown("type", *type);
  }
  std::vector<const char*> data;
  if (!message.has_value(kData) || !message.Elements(kData, &data)) {
    return message.Reject("The \"data\" field of " + *type + " message is no array of rows.");
  }
  if (*type == "UPDATE") return ReadUpdates(message, data);
  const RowKind kind = *type == "INSERT" ? RowKind::kInsert : RowKind::kDelete;
  for (const char* row : data) {
    if (!message.Add(kind, row)) return false;
  }
  return true;
}

}  // namespace

const Dialect& CanalDialect() {
  static const Dialect kDialect{
      .name = "canal-json",
      .label = "Canal JSON",
      .options = kOptions,
      .members = {"data", "old", "type", "database", "table", "sqlType", "pkNames", "ts", "es",
                  "isDdl"},
      .metadata = Metadata(),
      .validate = nullptr,
      .epoch_times = false,
      .read = &Read,
      .insertion = {R"({"data":[)", R"(],"type":"INSERT"})"},
      .removal = {R"({"data":[)", R"(],"type":"DELETE"})"},
      .slim_insertion = {R"({"data":[)", R"(],"type":"INSERT"})"},
      .slim_removal = {R"({"data":[)", R"(],"type":"DELETE"})"},
  };
  return kDialect;
}

}  // namespace sluice::formats::changelog
