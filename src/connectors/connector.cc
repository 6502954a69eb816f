#include "connectors/connector.h"

namespace sluice::connectors {

std::span<const OptionSpec> GenericTableOptions() {
  static const OptionSpec kOptions[] = {
      {.key = "connector", .type = OptionType::kString, .doc = "Name of the connector."},
      {.key = "property-version",
       .type = OptionType::kInt,
       .default_text = "1",
       .doc = "Version of the option names; 1 is the only one."},
      {.key = "scan.watermark.emit.strategy",
       .type = OptionType::kEnum,
       .default_text = "on-periodic",
       .doc = "When watermarks are sent: at an interval, or with every batch.",
       .allowed = {"on-event", "on-periodic"}},
      {.key = "scan.watermark.emit.on-event.gap",
       .type = OptionType::kInt,
       .default_text = "1",
       .doc = "With on-event: batches between two watermarks."},
      {.key = "scan.watermark.idle-timeout",
       .type = OptionType::kDuration,
       .doc = "A split without rows for so long no longer holds the watermark back."},
      {.key = "scan.watermark.alignment.group",
       .type = OptionType::kString,
       .doc = "Sources of one group wait for each other."},
      {.key = "scan.watermark.alignment.max-drift",
       .type = OptionType::kDuration,
       .doc = "How far a source may run ahead of its group."},
      {.key = "scan.watermark.alignment.update-interval",
       .type = OptionType::kDuration,
       .default_text = "1 s",
       .doc = "How often sources of a group compare their watermarks."},
  };
  return kOptions;
}

Result<std::optional<int>> ReadScanParallelism(const OptionReader& reader) {
  if (!reader.Has("scan.parallelism")) return std::optional<int>();
  SLUICE_ASSIGN_OR_RETURN(const int64_t parallelism, reader.Integer("scan.parallelism"));
  if (parallelism >= 1 && parallelism <= 4096) {
    return std::optional<int>(static_cast<int>(parallelism));
  }
  return Status::InvalidArgument("Invalid value for option 'scan.parallelism': " +
                                 std::to_string(parallelism) + ". It must be from 1 to 4096.");
}

}  // namespace sluice::connectors
