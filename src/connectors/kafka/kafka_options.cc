#include "connectors/kafka/kafka_options.h"

#include <algorithm>
#include <set>

#include "common/nearest_name.h"
#include "common/text.h"
#include "connectors/kafka/topic_pattern.h"
#include "formats/all_formats.h"

namespace sluice::connectors::kafka {
namespace {

const std::vector<std::string_view> kStartupModes = {
    "earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets"};
const std::vector<std::string_view> kBoundedModes = {"unbounded", "latest-offset", "group-offsets",
                                                     "timestamp", "specific-offsets"};

const OptionSpec kOptions[] = {
    {.key = "topic",
     .type = OptionType::kList,
     .doc = "Topics to read or write, separated by ';'."},
    {.key = "topic-pattern",
     .type = OptionType::kString,
     .doc = "Regular expression that whole topic names match."},
    {.key = "properties.bootstrap.servers",
     .type = OptionType::kString,
     .doc = "Brokers to begin with, separated by ','.",
     .required = true},
    {.key = "properties.group.id",
     .type = OptionType::kString,
     .doc = "Group whose offsets are read and committed."},
    {.key = "properties.*",
     .type = OptionType::kString,
     .doc = "Settings of the client, named as for Java; 'properties.rdkafka.*' reaches librdkafka "
            "as it is."},
    {.key = "format",
     .type = OptionType::kString,
     .doc = "Format of values; short for 'value.format'."},
    {.key = "value.format", .type = OptionType::kString, .doc = "Format of values."},
    {.key = "key.format", .type = OptionType::kString, .doc = "Format of keys."},
    {.key = "key.fields",
     .type = OptionType::kList,
     .doc = "Columns that make the key, separated by ';'."},
    {.key = "key.fields-prefix",
     .type = OptionType::kString,
     .doc = "Prefix of the key columns' names that the key itself does not have."},
    {.key = "value.fields-include",
     .type = OptionType::kEnum,
     .default_text = "ALL",
     .doc = "Whether the value holds the key columns too.",
     .allowed = {"ALL", "EXCEPT_KEY"}},
    {.key = "scan.startup.mode",
     .type = OptionType::kEnum,
     .default_text = "group-offsets",
     .doc = "Where reading begins without a checkpoint.",
     .allowed = kStartupModes},
    {.key = "scan.startup.specific-offsets",
     .type = OptionType::kString,
     .doc = "Offsets to begin at: partition:0,offset:42;partition:1,offset:300."},
    {.key = "scan.startup.timestamp-millis",
     .type = OptionType::kLong,
     .doc = "Time of the first records to read, in ms since 1970."},
    {.key = "scan.bounded.mode",
     .type = OptionType::kEnum,
     .default_text = "unbounded",
     .doc = "Where reading ends.",
     .allowed = kBoundedModes},
    {.key = "scan.bounded.specific-offsets",
     .type = OptionType::kString,
     .doc = "Offsets to end before."},
    {.key = "scan.bounded.timestamp-millis",
     .type = OptionType::kLong,
     .doc = "Time to end before, in ms since 1970."},
    {.key = "scan.topic-partition-discovery.interval",
     .type = OptionType::kDuration,
     .default_text = "5 min",
     .doc = "How often new partitions are looked for; 0 = never."},
    {.key = "scan.fetch.implementation",
     .type = OptionType::kEnum,
     .default_text = "auto",
     .doc =
         "Who fetches records: 'native' (fastest), 'librdkafka' (every setting it has), or 'auto': "
         "native unless 'properties.*' ask for something that only librdkafka has.",
     .allowed = {"auto", "native", "librdkafka"}},
    {.key = "scan.parallelism",
     .type = OptionType::kInt,
     .doc = "Subtasks of the source; the job's when absent."},
    {.key = "sink.partitioner",
     .type = OptionType::kString,
     .default_text = "default",
     .doc = "default (by key), fixed (one partition a subtask) or round-robin."},
    {.key = "sink.delivery-guarantee",
     .type = OptionType::kEnum,
     .default_text = "at-least-once",
     .doc = "What a restart may do to rows written.",
     .allowed = {"exactly-once", "at-least-once", "none"}},
    {.key = "sink.semantic",
     .type = OptionType::kEnum,
     .doc = "Old name of sink.delivery-guarantee.",
     .allowed = {"exactly-once", "at-least-once", "none"}},
    {.key = "sink.transactional-id-prefix",
     .type = OptionType::kString,
     .doc = "Prefix of transactions' names."},
    {.key = "sink.transaction-naming-strategy",
     .type = OptionType::kEnum,
     .default_text = "INCREMENTING",
     .doc = "How transactions are named.",
     .allowed = {"INCREMENTING", "POOLING"}},
    {.key = "sink.parallelism",
     .type = OptionType::kInt,
     .doc = "Subtasks of the sink; that of its input when absent."},
};

Status Invalid(std::string message) { return Status::InvalidArgument(std::move(message)); }

class TablePlanner {
 public:
  TablePlanner(const TableInfo& table, const ConnectorContext& context, Use use)
      : info_(table), use_(use), file_systems_(*context.file_systems) {
    const std::span<const OptionSpec> generic = GenericTableOptions();
    specs_.assign(std::begin(kOptions), std::end(kOptions));
    specs_.insert(specs_.end(), generic.begin(), generic.end());
    const std::span<const OptionSpec> bad_records = BadRecordOptionSpecs();
    specs_.insert(specs_.end(), bad_records.begin(), bad_records.end());
    plan_.identifier = table.identifier;
    plan_.physical = table.physical;
  }

  Result<KafkaTable> Run() {
    SLUICE_RETURN_NOT_OK(FindFormats());
    SLUICE_RETURN_NOT_OK(CheckKeys());
    SLUICE_RETURN_NOT_OK(ReadTopics());
    SLUICE_RETURN_NOT_OK(ReadProperties());
    if (use_ != Use::kWrite) SLUICE_RETURN_NOT_OK(ReadScan());
    if (use_ != Use::kRead) SLUICE_RETURN_NOT_OK(ReadSink());
    SLUICE_RETURN_NOT_OK(ResolveFields());
    SLUICE_RETURN_NOT_OK(CheckPrimaryKey());
    SLUICE_RETURN_NOT_OK(CheckFormats());
    return std::move(plan_);
  }

 private:
  OptionReader reader() const { return OptionReader(info_.options, specs_); }
  bool Has(std::string_view key) const { return info_.options.find(key) != info_.options.end(); }
  std::string Text(std::string_view key) const { return reader().Text(key).value_or(""); }

  // ---- Formats ----

  Status FindFormats() {
    const std::string_view key = Has("value.format") ? "value.format" : "format";
    if (!Has(key)) {
      return Invalid(std::string("Could not find required ") +
                     (use_ == Use::kWrite ? "sink" : "scan") + " format 'value.format'.");
    }
    if (Has("value.format") && Has("format")) {
      return Invalid("Options 'format' and 'value.format' mean the same. Give one of them.");
    }
    SLUICE_ASSIGN_OR_RETURN(plan_.value, FindFormat(key));
    if (Has("key.format")) {
      SLUICE_ASSIGN_OR_RETURN(FormatUse use, FindFormat("key.format"));
      plan_.key = std::move(use);
    }
    return {};
  }

  Result<FormatUse> FindFormat(std::string_view key) {
    FormatUse use;
    SLUICE_ASSIGN_OR_RETURN(use.format, formats::FindFormat(Text(key)));
    if (!use.format->holds_messages()) {
      return Invalid("Format '" + Text(key) + "' of option '" + std::string(key) +
                     "' is for files and cannot hold single messages.");
    }
    // "format" -> "json.", "value.format" -> "value.json.".
    const std::string prefix(key.substr(0, key.size() - std::string_view("format").size()));
    use.options =
        formats::ExtractFormatOptions(info_.options, prefix + std::string(use.format->name) + ".");
    SLUICE_RETURN_NOT_OK(formats::ValidateFormatOptions(*use.format, use.options));
    return use;
  }

  /// Every key belongs to the connector, to a format in use, or is unknown.
  Status CheckKeys() {
    OptionMap own;
    for (const auto& [key, value] : info_.options) {
      const bool of_format = key.starts_with(plan_.value.options.prefix) ||
                             (plan_.key && key.starts_with(plan_.key->options.prefix));
      if (!of_format) own.emplace(key, value);
    }
    return ValidateOptions("kafka", own, specs_);
  }

  // ---- Topics and properties ----

  Status ReadTopics() {
    if (Has("topic") && Has("topic-pattern")) {
      return Invalid("Option 'topic' and 'topic-pattern' shouldn't be set together.");
    }
    if (Has("topic-pattern")) {
      plan_.topic_pattern = Text("topic-pattern");
      return TopicPattern::Compile(*plan_.topic_pattern).status();
    }
    for (std::string& topic : SplitListOption(Text("topic"))) {
      const bool repeated =
          std::find(plan_.topics.begin(), plan_.topics.end(), topic) != plan_.topics.end();
      if (!topic.empty() && !repeated) plan_.topics.push_back(std::move(topic));
    }
    if (plan_.topics.empty()) return Invalid("Either 'topic' or 'topic-pattern' must be set.");
    return {};
  }

  Status ReadProperties() {
    static constexpr std::string_view kPrefix = "properties.";
    for (const auto& [key, value] : info_.options) {
      if (key.starts_with(kPrefix)) plan_.properties.emplace(key.substr(kPrefix.size()), value);
    }
    for (const ClientRole role : {ClientRole::kConsumer, ClientRole::kProducer}) {
      if (use_ == Use::kRead && role == ClientRole::kProducer) continue;
      if (use_ == Use::kWrite && role == ClientRole::kConsumer) continue;
      SLUICE_ASSIGN_OR_RETURN(ClientConfig config,
                              TranslateClientProperties(plan_.properties, role));
      for (std::string& warning : config.warnings) {
        if (std::find(plan_.warnings.begin(), plan_.warnings.end(), warning) ==
            plan_.warnings.end()) {
          plan_.warnings.push_back(std::move(warning));
        }
      }
    }
    return {};
  }

  // ---- Scan ----

  Status ReadScan() {
    SLUICE_ASSIGN_OR_RETURN(plan_.startup, ReadOffsets("startup"));
    SLUICE_ASSIGN_OR_RETURN(plan_.bounded, ReadOffsets("bounded"));
    const bool group_needed =
        plan_.startup.mode == OffsetsMode::kGroup || plan_.bounded.mode == OffsetsMode::kGroup;
    if (use_ == Use::kRead && group_needed && !Has("properties.group.id")) {
      const std::string_view side =
          plan_.startup.mode == OffsetsMode::kGroup ? "startup" : "bounded";
      return Invalid(
          "Property group.id is required when using committed offset for offsets initializer. Set "
          "'properties.group.id', or another 'scan." +
          std::string(side) + ".mode' than group-offsets.");
    }
    std::string_view discovery = "scan.topic-partition-discovery.interval";
    SLUICE_ASSIGN_OR_RETURN(plan_.discovery_interval_ms, reader().DurationMillis(discovery));
    if (const auto old = plan_.properties.find("partition.discovery.interval.ms");
        old != plan_.properties.end() && !Has(discovery)) {
      const std::optional<int64_t> ms = ParseInt64(TrimAscii(old->second));
      if (!ms)
        return Invalid("Invalid value for option 'properties.partition.discovery.interval.ms': " +
                       old->second);
      plan_.discovery_interval_ms = std::max<int64_t>(0, *ms);
    }
    if (plan_.is_bounded()) plan_.discovery_interval_ms = 0;
    SLUICE_ASSIGN_OR_RETURN(
        plan_.bad_records,
        ReadBadRecordOptions(info_.options, *plan_.value.format, formats::Encoding::kRow,
                             plan_.value.options, file_systems_));
    SLUICE_ASSIGN_OR_RETURN(plan_.scan_parallelism, ReadParallelism("scan.parallelism"));
    SLUICE_ASSIGN_OR_RETURN(const std::string fetch, reader().Enum("scan.fetch.implementation"));
    plan_.fetch = fetch == "auto"     ? FetchImplementation::kAuto
                  : fetch == "native" ? FetchImplementation::kNative
                                      : FetchImplementation::kLibrdkafka;
    return {};
  }

  Result<std::optional<int>> ReadParallelism(std::string_view key) {
    if (!Has(key)) return std::optional<int>();
    SLUICE_ASSIGN_OR_RETURN(const int64_t parallelism, reader().Integer(key));
    if (parallelism < 1) {
      return Invalid("Invalid value for option '" + std::string(key) +
                     "': " + std::to_string(parallelism) + ". It must be at least 1.");
    }
    return std::optional<int>(static_cast<int>(parallelism));
  }

  /// `side` is "startup" or "bounded".
  Result<OffsetsChoice> ReadOffsets(const std::string& side) {
    const std::string prefix = "scan." + side + ".";
    SLUICE_ASSIGN_OR_RETURN(const std::string mode, reader().Enum(prefix + "mode"));
    OffsetsChoice choice;
    choice.mode = mode == "earliest-offset" ? OffsetsMode::kEarliest
                  : mode == "latest-offset" ? OffsetsMode::kLatest
                  : mode == "group-offsets" ? OffsetsMode::kGroup
                  : mode == "timestamp"     ? OffsetsMode::kTimestamp
                  : mode == "unbounded"     ? OffsetsMode::kUnbounded
                                            : OffsetsMode::kSpecific;
    const auto missing = [&](const std::string& key) {
      return Invalid("'" + key + "' is required in '" + mode + "' " + side + " mode but missing.");
    };
    if (choice.mode == OffsetsMode::kTimestamp) {
      const std::string key = prefix + "timestamp-millis";
      if (!Has(key)) return missing(key);
      SLUICE_ASSIGN_OR_RETURN(choice.timestamp_ms, reader().Integer(key));
      if (choice.timestamp_ms < 0) return Invalid("Option '" + key + "' must not be negative.");
    }
    if (choice.mode == OffsetsMode::kSpecific) {
      const std::string key = prefix + "specific-offsets";
      if (!Has(key)) return missing(key);
      if (plan_.topics.size() != 1) {
        return Invalid("Currently Kafka source only supports specific offset for single topic.");
      }
      SLUICE_ASSIGN_OR_RETURN(choice.specific, ParseSpecificOffsets(key, Text(key)));
    }
    return choice;
  }

  // ---- Sink ----

  Status ReadSink() {
    const std::string partitioner = Text("sink.partitioner");
    if (partitioner == "default") {
      plan_.partitioner = Partitioner::kDefault;
    } else if (partitioner == "fixed") {
      plan_.partitioner = Partitioner::kFixed;
    } else if (partitioner == "round-robin") {
      plan_.partitioner = Partitioner::kRoundRobin;
      if (Has("key.fields")) {
        return Invalid(
            "Currently 'round-robin' partitioner only works when option 'key.fields' is not "
            "specified.");
      }
    } else {
      const std::vector<std::string> known = {"default", "fixed", "round-robin"};
      return Status::Unsupported(
          "Option 'sink.partitioner' = '" + partitioner +
          "': Java classes cannot be loaded. Use 'default', 'fixed' or 'round-robin'." +
          DidYouMean(partitioner, known));
    }
    std::string guarantee = Text("sink.delivery-guarantee");
    if (Has("sink.semantic")) {
      plan_.warnings.emplace_back(
          "Option 'sink.semantic' is the old name of 'sink.delivery-guarantee'.");
      if (!Has("sink.delivery-guarantee")) guarantee = Text("sink.semantic");
    }
    guarantee = ToLowerAscii(guarantee);
    plan_.guarantee = guarantee == "none"           ? DeliveryGuarantee::kNone
                      : guarantee == "exactly-once" ? DeliveryGuarantee::kExactlyOnce
                                                    : DeliveryGuarantee::kAtLeastOnce;
    if (plan_.guarantee == DeliveryGuarantee::kExactlyOnce) {
      if (!Has("sink.transactional-id-prefix")) {
        return Invalid(
            "sink.transactional-id-prefix must be specified when using "
            "DeliveryGuarantee.EXACTLY_ONCE.");
      }
      if (use_ == Use::kWrite) {
        return Status::Unsupported(
            "Transactional writing to Kafka ('sink.delivery-guarantee' = 'exactly-once') comes "
            "with a later version. "
            "Use 'at-least-once': after a failure the rows since the last checkpoint are written "
            "again.");
      }
    }
    SLUICE_ASSIGN_OR_RETURN(plan_.sink_parallelism, ReadParallelism("sink.parallelism"));
    return {};
  }

  // ---- Fields of key and value ----

  Status ResolveFields() {
    const std::vector<std::string> key_fields = SplitListOption(Text("key.fields"));
    const std::string prefix = Text("key.fields-prefix");
    SLUICE_ASSIGN_OR_RETURN(const std::string include, reader().Enum("value.fields-include"));
    const bool except_key = include == "except_key";
    if (!plan_.key && Has("key.fields")) {
      return Invalid(
          "The option 'key.fields' can only be declared if a key format is defined using "
          "'key.format'.");
    }
    if (plan_.key && key_fields.empty()) {
      return Invalid(
          "A key format 'key.format' requires the declaration of one or more of key fields using "
          "'key.fields'.");
    }
    if (!prefix.empty() && !except_key) {
      return Invalid(
          "A key prefix is not allowed when option 'value.fields-include' is set to 'ALL'. Set it "
          "to "
          "'EXCEPT_KEY' instead to avoid field overlaps.");
    }
    std::set<int> key_columns;
    std::vector<Column> columns;
    for (const std::string& field : key_fields) {
      SLUICE_ASSIGN_OR_RETURN(const int index, FindKeyField(field));
      if (!field.starts_with(prefix)) {
        return Invalid("All fields in 'key.fields' must be prefixed with '" + prefix +
                       "' when option 'key.fields-prefix' is set but field '" + field +
                       "' is not prefixed.");
      }
      if (!key_columns.insert(index).second)
        return Invalid("Option 'key.fields' names '" + field + "' twice.");
      plan_.key->table_columns.push_back(index);
      columns.push_back({field.substr(prefix.size()), info_.physical.column(index).type});
    }
    if (plan_.key) plan_.key->schema = Schema(std::move(columns));
    for (int i = 0; i < info_.physical.column_count(); ++i) {
      if (!except_key || !key_columns.contains(i)) plan_.value.table_columns.push_back(i);
    }
    plan_.value.schema = info_.physical.Select(plan_.value.table_columns);
    return {};
  }

  Result<int> FindKeyField(const std::string& field) const {
    const int index = info_.physical.IndexOf(field);
    if (index >= 0) return index;
    std::vector<std::string> names;
    for (const Column& column : info_.physical.columns()) names.push_back(column.name);
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : "\n") + name;
    return Invalid("Could not find the field '" + field +
                   "' in the table schema for usage in the key format. A key field must be a "
                   "regular, physical "
                   "column." +
                   DidYouMean(field, names) +
                   "\nThe following columns can be selected in the 'key.fields' option:\n" + list);
  }

  Status CheckPrimaryKey() const {
    if (info_.primary_key.empty()) return {};
    const formats::Format& format = *plan_.value.format;
    const RowKindSet kinds = use_ == Use::kWrite ? format.write_kinds : format.read_kinds;
    if (!kinds.insert_only()) return {};
    return Invalid("The Kafka table '" + info_.identifier + "' with '" + std::string(format.name) +
                   "' format doesn't support defining PRIMARY KEY constraint on the table, because "
                   "it can't guarantee "
                   "the semantic of primary key.");
  }

  Status CheckFormats() const {
    if (plan_.key && !plan_.key->format->read_kinds.insert_only()) {
      return Invalid(
          "A key format should only deal with INSERT-only records. But 'key.format' has a "
          "changelog mode of "
          "[INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE].");
    }
    for (const formats::Direction direction :
         {formats::Direction::kRead, formats::Direction::kWrite}) {
      if (use_ == Use::kWrite && direction == formats::Direction::kRead) continue;
      if (use_ != Use::kWrite && direction == formats::Direction::kWrite) continue;
      for (const FormatUse* part : {&plan_.value, plan_.key ? &*plan_.key : nullptr}) {
        if (part == nullptr) continue;
        const formats::Format& format = *part->format;
        if (format.validate != nullptr) {
          SLUICE_RETURN_NOT_OK(format.validate(part->options, part->schema, direction));
        }
        if (format.validate_messages != nullptr) {
          SLUICE_RETURN_NOT_OK(format.validate_messages(part->options, part->schema));
        }
      }
    }
    return {};
  }

  const TableInfo& info_;
  const Use use_;
  fs::FileSystems& file_systems_;
  std::vector<OptionSpec> specs_;
  KafkaTable plan_;
};

/// The process's Kerberos login, for tables without one of their own.
void AddProcessLogin(const OptionMap& configuration, ClientConfig* config) {
  auto& settings = config->settings;
  const auto protocol = settings.find("security.protocol");
  const auto mechanism = settings.find("sasl.mechanisms");
  const bool kerberos = protocol != settings.end() && protocol->second.starts_with("sasl") &&
                        (mechanism == settings.end() || mechanism->second == "GSSAPI");
  const auto contexts = configuration.find("security.kerberos.login.contexts");
  const bool wanted =
      contexts != configuration.end() && contexts->second.find("KafkaClient") != std::string::npos;
  if (!kerberos || !wanted || settings.contains("sasl.kerberos.keytab")) return;
  if (const auto keytab = configuration.find("security.kerberos.login.keytab");
      keytab != configuration.end()) {
    settings.try_emplace("sasl.kerberos.keytab", keytab->second);
  }
  if (const auto user = configuration.find("security.kerberos.login.principal");
      user != configuration.end()) {
    settings.try_emplace("sasl.kerberos.principal", user->second);
  }
}

}  // namespace

std::string KafkaTable::TopicsText() const {
  return topic_pattern ? "pattern " + *topic_pattern : Join(topics, ";");
}

std::span<const OptionSpec> KafkaOptions() { return kOptions; }

Result<KafkaTable> PlanKafkaTable(const TableInfo& table, const ConnectorContext& context,
                                  Use use) {
  return TablePlanner(table, context, use).Run();
}

Result<ClientConfig> MakeClientConfig(const KafkaTable& table, const ConnectorContext& context,
                                      ClientRole role) {
  SLUICE_ASSIGN_OR_RETURN(ClientConfig config, TranslateClientProperties(table.properties, role));
  if (context.configuration != nullptr) AddProcessLogin(*context.configuration, &config);
  return config;
}

Result<std::map<int32_t, int64_t>> ParseSpecificOffsets(std::string_view key,
                                                        std::string_view text) {
  const Status malformed = Invalid(
      "Invalid properties '" + std::string(key) +
      "' should follow the format 'partition:0,offset:42;partition:1,offset:300', but is '" +
      std::string(text) + "'.");
  std::map<int32_t, int64_t> offsets;
  for (const std::string_view entry : Split(text, ';')) {
    if (TrimAscii(entry).empty()) continue;
    const std::vector<std::string_view> parts = Split(entry, ',');
    if (parts.size() != 2) return malformed;
    std::optional<int64_t> partition;
    std::optional<int64_t> offset;
    for (const std::string_view part : parts) {
      const std::vector<std::string_view> pair = Split(part, ':');
      if (pair.size() != 2) return malformed;
      const std::string_view name = TrimAscii(pair[0]);
      if (name == "partition") partition = ParseInt64(TrimAscii(pair[1]));
      if (name == "offset") offset = ParseInt64(TrimAscii(pair[1]));
    }
    if (!partition || !offset || *partition < 0 || *partition > INT32_MAX || *offset < 0)
      return malformed;
    if (!offsets.emplace(static_cast<int32_t>(*partition), *offset).second) return malformed;
  }
  if (offsets.empty()) return malformed;
  return offsets;
}

}  // namespace sluice::connectors::kafka
