#include "connectors/kafka/split_offsets.h"

#include "common/text.h"

namespace sluice::connectors::kafka {
namespace {

std::string Names(const std::vector<PartitionId>& partitions) {
  std::string text;
  for (const PartitionId& id : partitions) text += (text.empty() ? "" : ", ") + id.ToText();
  return "[" + text + "]";
}

class SplitResolver {
 public:
  SplitResolver(const KafkaTable& table, const ClientConfig& config,
                const std::vector<PartitionId>& partitions, Cluster& cluster,
                std::vector<std::string>* warnings)
      : table_(table),
        config_(config),
        partitions_(partitions),
        cluster_(cluster),
        warnings_(warnings) {}

  Result<std::vector<KafkaSplit>> Run() {
    // Ends are taken before anything else: rows that arrive meanwhile belong to neither side twice.
    SLUICE_ASSIGN_OR_RETURN(const OffsetMap stops, Stops());
    SLUICE_ASSIGN_OR_RETURN(const OffsetMap starts, Starts());
    std::vector<KafkaSplit> splits;
    for (const PartitionId& id : partitions_) {
      KafkaSplit split{.id = id, .next = starts.at(id)};
      if (const auto stop = stops.find(id); stop != stops.end()) split.stop = stop->second;
      splits.push_back(std::move(split));
    }
    return splits;
  }

 private:
  Result<OffsetMap> Ends() { return cluster_.OffsetsFor(partitions_, RD_KAFKA_OFFSET_END); }
  Result<OffsetMap> Beginnings() {
    return cluster_.OffsetsFor(partitions_, RD_KAFKA_OFFSET_BEGINNING);
  }

  Result<OffsetMap> Starts() {
    switch (table_.startup.mode) {
      case OffsetsMode::kLatest:
        return Ends();
      case OffsetsMode::kTimestamp:
        return FromTime(table_.startup.timestamp_ms);
      case OffsetsMode::kGroup:
        return StartsOfGroup();
      case OffsetsMode::kSpecific:
        return StartsAsGiven();
      case OffsetsMode::kEarliest:
      case OffsetsMode::kUnbounded:
        break;
    }
    return Beginnings();
  }

  /// The end is asked for first: a row that comes between the two questions is found by time or
  /// lies behind that end.
  Result<OffsetMap> FromTime(int64_t timestamp_ms) {
    SLUICE_ASSIGN_OR_RETURN(const OffsetMap ends, Ends());
    SLUICE_ASSIGN_OR_RETURN(OffsetMap offsets, cluster_.OffsetsFor(partitions_, timestamp_ms));
    for (auto& [id, offset] : offsets) {
      if (offset < 0) offset = ends.at(id);
    }
    return offsets;
  }

  Result<OffsetMap> StartsOfGroup() {
    SLUICE_ASSIGN_OR_RETURN(OffsetMap offsets, cluster_.CommittedOffsets(partitions_));
    std::vector<PartitionId> missing;
    for (const PartitionId& id : partitions_) {
      if (!offsets.contains(id)) missing.push_back(id);
    }
    if (missing.empty()) return offsets;
    if (config_.offset_reset == "none") {
      return Status::InvalidArgument(
          "Undefined offset with no reset policy for partitions: " + Names(missing) +
          ". The group '" + config_.group_id.value_or("") +
          "' has no committed offset there. Set 'properties.auto.offset.reset' to "
          "'earliest' or 'latest', or 'scan.startup.mode' to 'earliest-offset' or "
          "'latest-offset'.");
    }
    SLUICE_ASSIGN_OR_RETURN(const OffsetMap reset,
                            config_.offset_reset == "earliest" ? Beginnings() : Ends());
    for (const PartitionId& id : missing) offsets[id] = reset.at(id);
    return offsets;
  }

  Result<OffsetMap> StartsAsGiven() {
    SLUICE_RETURN_NOT_OK(CheckGivenPartitions(table_.startup, "scan.startup.specific-offsets"));
    SLUICE_ASSIGN_OR_RETURN(OffsetMap offsets, Beginnings());
    OffsetMap committed;
    if (config_.group_id) {
      SLUICE_ASSIGN_OR_RETURN(committed, cluster_.CommittedOffsets(partitions_));
    }
    std::vector<PartitionId> unlisted;
    for (auto& [id, offset] : offsets) {
      if (const auto given = table_.startup.specific.find(id.partition);
          given != table_.startup.specific.end()) {
        offset = given->second;
      } else if (const auto found = committed.find(id); found != committed.end()) {
        offset = found->second;
      } else {
        unlisted.push_back(id);
      }
    }
    if (!unlisted.empty()) {
      warnings_->push_back("'scan.startup.specific-offsets' does not name the partitions " +
                           Names(unlisted) + ": they are read from their beginning.");
    }
    return offsets;
  }

  Status CheckGivenPartitions(const OffsetsChoice& choice, std::string_view key) const {
    for (const auto& [partition, offset] : choice.specific) {
      bool known = false;
      for (const PartitionId& id : partitions_) known |= id.partition == partition;
      if (!known) {
        return Status::InvalidArgument("Option '" + std::string(key) + "' names partition " +
                                       std::to_string(partition) + ", but topic '" +
                                       table_.TopicsText() + "' has " +
                                       std::to_string(partitions_.size()) + ".");
      }
    }
    return {};
  }

  Result<OffsetMap> Stops() {
    switch (table_.bounded.mode) {
      case OffsetsMode::kLatest:
        return Ends();
      case OffsetsMode::kTimestamp:
        return FromTime(table_.bounded.timestamp_ms);
      case OffsetsMode::kGroup:
        return StopsOfGroup();
      case OffsetsMode::kSpecific:
        break;
      case OffsetsMode::kEarliest:
      case OffsetsMode::kUnbounded:
        return OffsetMap();
    }
    SLUICE_RETURN_NOT_OK(CheckGivenPartitions(table_.bounded, "scan.bounded.specific-offsets"));
    OffsetMap stops;
    for (const PartitionId& id : partitions_) {
      const auto given = table_.bounded.specific.find(id.partition);
      // A partition that the list leaves out is not read.
      stops[id] = given == table_.bounded.specific.end() ? 0 : given->second;
    }
    return stops;
  }

  Result<OffsetMap> StopsOfGroup() {
    SLUICE_ASSIGN_OR_RETURN(OffsetMap stops, cluster_.CommittedOffsets(partitions_));
    std::vector<PartitionId> missing;
    for (const PartitionId& id : partitions_) {
      if (!stops.contains(id)) missing.push_back(id);
    }
    if (missing.empty()) return stops;
    return Status::InvalidArgument("'scan.bounded.mode' = 'group-offsets': the group '" +
                                   config_.group_id.value_or("") +
                                   "' has no committed offset for " + Names(missing) +
                                   ". Use 'latest-offset' or another mode.");
  }

  const KafkaTable& table_;
  const ClientConfig& config_;
  const std::vector<PartitionId>& partitions_;
  Cluster& cluster_;
  std::vector<std::string>* const warnings_;
};

}  // namespace

std::string KafkaSplit::ToState() const {
  return id.topic + "," + std::to_string(id.partition) + "," + std::to_string(next) + "," +
         (stop == kNoStop ? "-" : std::to_string(stop));
}

Result<KafkaSplit> KafkaSplit::FromState(const std::string& text) {
  const std::vector<std::string_view> parts = Split(text, ',');
  if (parts.size() == 4) {
    const std::optional<int64_t> partition = ParseInt64(parts[1]);
    const std::optional<int64_t> next = ParseInt64(parts[2]);
    const std::optional<int64_t> stop =
        parts[3] == "-" ? std::optional<int64_t>(kNoStop) : ParseInt64(parts[3]);
    if (partition && *partition >= 0 && *partition <= INT32_MAX && next && stop) {
      return KafkaSplit{{std::string(parts[0]), static_cast<int32_t>(*partition)}, *next, *stop};
    }
  }
  return Status::Corrupt("The state of a kafka source holds the split '" + text +
                         "', which is not of the form 'topic,partition,next,stop'.");
}

Result<std::vector<KafkaSplit>> ResolveSplits(const KafkaTable& table, const ClientConfig& config,
                                              const std::vector<PartitionId>& partitions,
                                              Cluster& cluster,
                                              std::vector<std::string>* warnings) {
  if (partitions.empty()) return std::vector<KafkaSplit>();
  return SplitResolver(table, config, partitions, cluster, warnings).Run();
}

namespace {

/// First offset and end of every partition that is still read.
Status LogBounds(const std::vector<KafkaSplit>& splits, Cluster& cluster, OffsetMap* lowest,
                 OffsetMap* ends) {
  std::vector<PartitionId> partitions;
  for (const KafkaSplit& split : splits) {
    // A negative position is the beginning, wherever that is.
    if (!split.finished() && split.next >= 0) partitions.push_back(split.id);
  }
  SLUICE_ASSIGN_OR_RETURN(*lowest, cluster.OffsetsFor(partitions, RD_KAFKA_OFFSET_BEGINNING));
  SLUICE_ASSIGN_OR_RETURN(*ends, cluster.OffsetsFor(partitions, RD_KAFKA_OFFSET_END));
  return {};
}

std::string Held(int64_t begin, int64_t end) {
  return "the partition now holds offsets " + std::to_string(begin) + " to " + std::to_string(end);
}

}  // namespace

Status AdjustToLog(const KafkaTable& table, const ClientConfig& config, Cluster& cluster,
                   std::vector<KafkaSplit>* splits, std::vector<std::string>* warnings) {
  const OffsetsMode mode = table.startup.mode;
  if (mode != OffsetsMode::kGroup && mode != OffsetsMode::kSpecific) return {};
  OffsetMap lowest;
  OffsetMap ends;
  SLUICE_RETURN_NOT_OK(LogBounds(*splits, cluster, &lowest, &ends));
  for (KafkaSplit& split : *splits) {
    const auto begin = lowest.find(split.id);
    if (begin == lowest.end()) continue;
    const int64_t end = ends.at(split.id);
    if (split.next >= begin->second && split.next <= end) continue;
    const std::string what = "The start offset " + std::to_string(split.next) + " of " +
                             split.id.ToText() + " is out of range: " + Held(begin->second, end);
    if (config.offset_reset == "none") {
      return Status::InvalidArgument(
          what +
          ". Set 'properties.auto.offset.reset' to 'earliest' or 'latest', or choose another "
          "'scan.startup.mode'.");
    }
    split.next = config.offset_reset == "earliest" ? begin->second : end;
    warnings->push_back(what + ". Reading begins at " + std::to_string(split.next) +
                        ", as 'properties.auto.offset.reset' says.");
  }
  return {};
}

Status CheckPositions(const std::vector<KafkaSplit>& splits, Cluster& cluster) {
  OffsetMap lowest;
  OffsetMap ends;
  SLUICE_RETURN_NOT_OK(LogBounds(splits, cluster, &lowest, &ends));
  for (const KafkaSplit& split : splits) {
    const auto begin = lowest.find(split.id);
    if (begin == lowest.end()) continue;
    const int64_t end = ends.at(split.id);
    if (split.next >= begin->second && split.next <= end) continue;
    return Status::IoError(
               "Cannot continue reading " + split.id.ToText() + " at offset " +
               std::to_string(split.next) +
               ", where the checkpoint stands: " + Held(begin->second, end) +
               ". Its records were deleted, or the topic was made anew. Start over with "
               "--fresh, or from an older checkpoint.")
        .Retriable(false);
  }
  return {};
}

}  // namespace sluice::connectors::kafka
