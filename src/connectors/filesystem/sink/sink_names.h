// Names that a file sink gives: part files, and the tags in hidden names that say whose they are.
//
// The lineage stands for one job's sink from its first start to its end, over restarts and
// resumes (it is kept in the state); with the attempt it makes the tag of a hidden file, alone that
// of a staging directory. Left-over files are
// recognised by lineage and attempt as a whole, never by a beginning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/filesystem/partition/overwrite_marker.h"

namespace sluice::connectors::filesystem {

/// Nothing but digits 0 to 9 and a to f, as our hidden names have them.
bool IsHex(std::string_view text);

/// FNV-1a, finished by a mixer; the same in every release.
uint64_t StableHash(std::string_view text, uint64_t seed = 0);

/// 16 hex digits. `job_id` is new for every submission.
std::string MakeLineage(std::string_view job_id, std::string_view operator_id);

/// "<lineage>-<16 hex digits>": what follows ".inprogress.".
std::string MakeTag(std::string_view lineage, std::string_view attempt_id);

/// The tag of a hidden file of `lineage` (".x.inprogress.TAG"), nullopt when it is somebody else's.
std::optional<std::string_view> TagOfName(std::string_view name, std::string_view lineage);
/// True for the staging directories of `lineage` (".x.overwrite.LINEAGE").
bool IsStagingName(std::string_view name, std::string_view lineage);

/// True for what a file system writes a whole file under until it is complete:
/// ".x.tmp.<process>.<number>".
bool IsTemporaryName(std::string_view name);

/// A UUID that the subtasks of one attempt share and nobody else ever has: its first 60 bits are
/// those of the lineage, the rest is made from ids that are never used twice.
std::string AttemptUuid(std::string_view lineage, std::string_view job_id,
                        std::string_view attempt_id);
/// The UUID of a part file that an attempt of `lineage` has named, nullopt for any other name: how
/// uploads to an object store, which have no hidden name, are known as ours.
std::optional<std::string_view> UuidOfPartName(std::string_view name, std::string_view lineage);

/// A part file's name, raw and merged ones too, taken apart: "<prefix>-<uuid>-<subtask>-<number>"
/// and what 'sink.part-suffix' and a compression put behind it.
struct PartName {
  std::string_view series;  // "<prefix>-<uuid>-<subtask>-" or "…-task-<subtask>-file-".
  std::string_view uuid;
  int64_t number = 0;
};
/// nullopt where the name is none that a file sink gives.
std::optional<PartName> ParsePartName(std::string_view name);

/// What a part file's name, raw and merged ones too, tells of its lineage: the first 15 digits;
/// nullopt where the name is none that a file sink gives. Other systems' names may look alike.
std::optional<std::string> LineageOfPartName(std::string_view name);

/// "<prefix>-<uuid>-<subtask>-" (streaming) or "<prefix>-<uuid>-task-<subtask>-file-" (batch); a
/// number follows. `prefix` is 'sink.part-prefix', "part" by default.
std::string PartNamePrefix(std::string_view prefix, std::string_view uuid, int subtask,
                           bool streaming);

inline constexpr std::string_view kInProgressInfix = ".inprogress.";
/// In front of a part file's name while it waits to be merged, and of what it is merged into.
inline constexpr std::string_view kRawPrefix = ".uncompacted-";
inline constexpr std::string_view kCompactedPrefix = "compacted-";

}  // namespace sluice::connectors::filesystem
