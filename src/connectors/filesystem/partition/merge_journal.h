// How COMPACT TABLE switches files on an object store, where nothing is renamed and directories are
// not exchanged: a journal below "_sluice/merge" of the table says which new files stand for which
// old ones, and readers of Sluice honour it.
//
// Life cycle: OpenJournal, before the first new file is completed -> new files are completed -> old
// ones are removed -> CloseJournal. Closed ones stay for a while: a reader that was listing
// meanwhile sees by them that it has to list again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

struct MergeJournal {
  std::string id;
  std::string directory;           // Relative to the table's root; "" is the root.
  std::vector<std::string> added;  // Names in the directory.
  std::vector<std::string> removed;
  int64_t modified_ms = 0;  // Of its object.
};

std::string EncodeJournal(const MergeJournal& journal);
/// Fails with kCorrupt.
Result<MergeJournal> ParseJournal(std::string_view text);

/// Writes "<id>.open": from now on readers honour it. Blocking, as the next three.
Status OpenJournal(fs::FileSystem& file_system, const std::string& root,
                   const MergeJournal& journal);
/// Its old files are gone: "<id>.done" is there, then "<id>.open" goes.
Status CloseJournal(fs::FileSystem& file_system, const std::string& root,
                    const MergeJournal& journal);
/// Its new files are gone: it is as if it had never been there.
Status DropJournal(fs::FileSystem& file_system, const std::string& root,
                   const MergeJournal& journal);
/// Removes those that were closed before `before_ms`.
Status DropClosedJournals(fs::FileSystem& file_system, const std::string& root, int64_t before_ms);

/// What stands in a table's journal directory at one moment.
struct Journals {
  std::vector<std::string> names;  // Of all, open and done: two moments are compared by them.
  std::vector<MergeJournal> open;
};
/// Blocking. A table without any has none. Fails with kUnavailable when one goes while it is read,
/// again and again.
Result<Journals> ReadJournals(fs::FileSystem& file_system, const std::string& root);

/// Leaves out of `files`, which are all files of some directories of the table, those that do not
/// count: the old ones where all new ones are there, else the new ones. False when neither side is
/// whole: the listing must be repeated.
bool HonourJournals(const Journals& journals, const std::string& root,
                    std::vector<fs::FileInfo>* files);

}  // namespace sluice::connectors::filesystem
