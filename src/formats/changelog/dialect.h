// All that differs between the changelog JSONs.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "formats/changelog/changelog_options.h"
#include "formats/changelog/message.h"
#include "formats/changelog/metadata_columns.h"
#include "formats/format.h"

namespace sluice::formats::changelog {

/// What stands before and behind the row in a written message.
struct Frame {
  std::string_view before;
  std::string_view behind;
};

struct Dialect {
  std::string_view name;                  // "debezium-json".
  std::string_view label;                 // "Debezium JSON", for messages.
  std::span<const OptionSpec> options;    // Beside those that all take.
  std::vector<std::string_view> members;  // Of the envelope, as Message numbers them.
  std::span<const MetadataSpec> metadata;
  /// Checks what only this dialect knows. May be null.
  Status (*validate)(const ChangelogOptions&, Direction) = nullptr;
  bool epoch_times = false;  // JsonOptions::epoch_times.
  /// Adds the rows of a message; false when it is bad.
  bool (*read)(Message&) = nullptr;
  // Updates are written as a removal and an insertion. `slim`: without the envelope's own nulls.
  Frame insertion;
  Frame removal;
  Frame slim_insertion;
  Frame slim_removal;
};

/// One a file of this folder.
const Dialect& DebeziumDialect();
const Dialect& CanalDialect();
const Dialect& MaxwellDialect();
const Dialect& OggDialect();

}  // namespace sluice::formats::changelog
