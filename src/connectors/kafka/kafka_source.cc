#include "connectors/kafka/kafka_source.h"

#include <algorithm>

#include "common/log.h"
#include "connectors/kafka/kafka_reader.h"

namespace sluice::connectors::kafka {
namespace {

using runtime::Barrier;
using runtime::StateReader;
using runtime::StateWriter;

/// A start waits this long for the brokers unless properties.default.api.timeout.ms says otherwise.
constexpr int64_t kStartTimeoutMs = 30'000;
constexpr std::string_view kKnownField = "known_partitions";

Status CheckVersion(const StateReader& state) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t version, state.GetI64(kVersionField));
  if (version == kStateVersion) return {};
  return Status::Corrupt("The checkpoint's state of a kafka source has version " +
                         std::to_string(version) + ", this program reads version " +
                         std::to_string(kStateVersion) +
                         ". Continue with the program that wrote it, or start over with --fresh.");
}

/// State: the coordinator's part lists the partitions ever seen; positions are the readers'.
class KafkaSource final : public runtime::Source {
 public:
  explicit KafkaSource(ScanSetup setup)
      : setup_(std::make_shared<const ScanSetup>(std::move(setup))) {}

  bool bounded() const override { return table().is_bounded(); }

  Status Open(const runtime::SourceContext& context,
              const runtime::RestoredSourceState* restored) override {
    Status status = Begin(context, restored);
    return status.ok()
               ? status
               : std::move(status).WithContext("Cannot begin to read table " + table().identifier +
                                               " (topic " + table().TopicsText() + "):");
  }

  int reader_count() const override { return core_ ? core_->reader_count : 1; }

  Result<std::unique_ptr<runtime::SourceReader>> MakeReader(int subtask) override {
    return MakeKafkaReader(core_, subtask);
  }

  void FreezeSplits() override {
    if (core_ && core_->board) core_->board->Freeze();
  }
  void ThawSplits() override {
    if (core_ && core_->board) core_->board->Thaw();
  }

  Status Snapshot(const Barrier& barrier, StateWriter& state) override {
    (void)barrier;
    std::vector<std::string> known;
    for (const PartitionId& id : core_->board->Known()) {
      known.push_back(id.topic + "," + std::to_string(id.partition));
    }
    state.PutI64(kVersionField, kStateVersion);
    state.PutStrings(kKnownField, known);
    return {};
  }

 private:
  const KafkaTable& table() const { return setup_->table; }

  Status Begin(const runtime::SourceContext& context,
               const runtime::RestoredSourceState* restored) {
    for (const std::string& warning : table().warnings) Log(LogLevel::kWarning, warning);
    if (!setup_->native_refusal.empty()) {
      Log(LogLevel::kInfo, "Table " + table().identifier +
                               " is fetched by librdkafka, since the native fetch does not know "
                               "the Kafka client setting " +
                               setup_->native_refusal + ".");
    }
    SLUICE_RETURN_NOT_OK(Connect(context));
    if (table().bad_records.active()) {
      SLUICE_ASSIGN_OR_RETURN(core_->quarantine,
                              Quarantine::Open(table().bad_records, table().identifier, restored));
    }
    SLUICE_ASSIGN_OR_RETURN(const std::vector<PartitionId> partitions,
                            core_->cluster->ListPartitions(table().topics, table().topic_pattern));
    SLUICE_RETURN_NOT_OK(CheckFound(partitions));
    std::vector<KafkaSplit> splits;
    if (restored != nullptr && !restored->readers.empty()) {
      SLUICE_ASSIGN_OR_RETURN(splits, Restore(*restored, partitions));
    } else {
      SLUICE_ASSIGN_OR_RETURN(splits, FirstSplits(partitions));
    }
    const int wanted =
        std::min(table().scan_parallelism.value_or(context.parallelism), context.parallelism);
    core_->reader_count = std::clamp(static_cast<int>(splits.size()), 1, std::max(1, wanted));
    core_->board = std::make_shared<SplitBoard>(std::move(splits), core_->reader_count);
    return {};
  }

  Status Connect(const runtime::SourceContext& context) {
    core_ = std::make_shared<SourceCore>();
    core_->setup = setup_;
    ClientConfig config = setup_->config;
    // Nobody joins the group, so this is only how long a commit waits for a coordinator that is
    // away, and a client that is destroyed with it: 45 s otherwise.
    if (config.group_id) config.settings["session.timeout.ms"] = "2000";
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<KafkaClient> client,
                            KafkaClient::Make(config, ClientRole::kConsumer));
    const bool timeout_given = table().properties.contains("default.api.timeout.ms");
    const auto waiting = [metrics = context.metrics,
                          who = core_->WaitingName()](const std::string& what) {
      if (metrics != nullptr) metrics->SetWaiting(who, what.empty() ? what : who + ": " + what);
    };
    core_->cluster = std::make_shared<Cluster>(
        client, context.clock, timeout_given ? config.api_timeout_ms : kStartTimeoutMs, waiting,
        context.ending);
    if (config.group_id && config.commit_on_checkpoint && context.metrics != nullptr) {
      core_->committer = std::make_shared<OffsetCommitter>(client, *config.group_id,
                                                           context.metrics, context.ending);
    }
    return {};
  }

  Status CheckFound(const std::vector<PartitionId>& partitions) const {
    if (!partitions.empty() || !table().topic_pattern) return {};
    const std::string what = "No topic at " + setup_->config.bootstrap_servers +
                             " matches option 'topic-pattern' = '" + *table().topic_pattern + "'";
    if (table().discovery_interval_ms > 0) {
      Log(LogLevel::kWarning,
          what + " yet; topics that appear later are read from their beginning.");
      return {};
    }
    return Status::NotFound(
        what +
        ". Correct the pattern, or set 'scan.topic-partition-discovery.interval' to wait "
        "for topics.");
  }

  Result<std::vector<KafkaSplit>> FirstSplits(const std::vector<PartitionId>& partitions) {
    std::vector<std::string> warnings;
    SLUICE_ASSIGN_OR_RETURN(
        std::vector<KafkaSplit> splits,
        ResolveSplits(table(), setup_->config, partitions, *core_->cluster, &warnings));
    SLUICE_RETURN_NOT_OK(AdjustToLog(table(), setup_->config, *core_->cluster, &splits, &warnings));
    for (const std::string& warning : warnings) Log(LogLevel::kWarning, warning);
    return splits;
  }

  Result<std::vector<KafkaSplit>> Restore(const runtime::RestoredSourceState& restored,
                                          const std::vector<PartitionId>& partitions) {
    std::map<PartitionId, KafkaSplit> found;
    for (const StateReader& reader : restored.readers) {
      SLUICE_RETURN_NOT_OK(CheckVersion(reader));
      SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                              reader.GetStrings(kSplitsField));
      for (const std::string& text : texts) {
        SLUICE_ASSIGN_OR_RETURN(KafkaSplit split, KafkaSplit::FromState(text));
        const PartitionId id = split.id;
        found.insert_or_assign(id, std::move(split));
      }
    }
    std::vector<KafkaSplit> splits;
    for (const PartitionId& id : partitions) {
      const auto known = found.find(id);
      if (known != found.end()) {
        splits.push_back(std::move(known->second));
        found.erase(known);
      } else if (!bounded()) {
        // Appeared while the job was down.
        splits.push_back({.id = id, .next = RD_KAFKA_OFFSET_BEGINNING});
      }
    }
    for (const auto& [id, split] : found) {
      Log(LogLevel::kWarning, "Partition " + id.ToText() + " is in the checkpoint at offset " +
                                  std::to_string(split.next) +
                                  " but not among the topics of table " + table().identifier +
                                  " any more: it is left out.");
    }
    SLUICE_RETURN_NOT_OK(RestoreStops(partitions, &splits));
    SLUICE_RETURN_NOT_OK(CheckPositions(splits, *core_->cluster));
    return splits;
  }

  /// The options may have changed since: bounded or not is what they say now.
  Status RestoreStops(const std::vector<PartitionId>& partitions, std::vector<KafkaSplit>* splits) {
    if (!bounded()) {
      for (KafkaSplit& split : *splits) split.stop = kNoStop;
      return {};
    }
    const bool missing = std::any_of(splits->begin(), splits->end(),
                                     [](const KafkaSplit& split) { return split.stop == kNoStop; });
    if (!missing) return {};
    SLUICE_ASSIGN_OR_RETURN(const std::vector<KafkaSplit> fresh, FirstSplits(partitions));
    for (KafkaSplit& split : *splits) {
      for (const KafkaSplit& other : fresh) {
        if (other.id == split.id && split.stop == kNoStop) split.stop = other.stop;
      }
    }
    return {};
  }

  const std::shared_ptr<const ScanSetup> setup_;
  std::shared_ptr<SourceCore> core_;
};

}  // namespace

std::shared_ptr<runtime::Source> MakeKafkaSource(ScanSetup setup) {
  return std::make_shared<KafkaSource>(std::move(setup));
}

}  // namespace sluice::connectors::kafka
