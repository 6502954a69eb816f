#include "connectors/filesystem/partition/merge_journal.h"

#include <algorithm>
#include <set>

#include <arrow/buffer.h>

#include "common/text.h"
#include "fs/list_if_there.h"
#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr std::string_view kHead = "sluice merge 1";
constexpr std::string_view kDirectory = "_sluice/merge";
constexpr std::string_view kOpen = ".open";
constexpr std::string_view kDone = ".done";
constexpr int kTries = 20;

}  // namespace

std::string EncodeJournal(const MergeJournal& journal) {
  std::string text = std::string(kHead) + "\n=" + journal.directory + "\n";
  for (const std::string& name : journal.added) text += "+" + name + "\n";
  for (const std::string& name : journal.removed) text += "-" + name + "\n";
  return text + ".\n";  // So that a cut one is known.
}

Result<MergeJournal> ParseJournal(std::string_view text) {
  MergeJournal journal;
  bool ended = false;
  bool first = true;
  for (const std::string_view line : Split(text, '\n')) {
    if (first) {
      first = false;
      if (line != kHead)
        return Status::Corrupt("it does not begin with '" + std::string(kHead) + "'");
    } else if (line == ".") {
      ended = true;
    } else if (!line.empty()) {
      std::string name(line.substr(1));
      if (line[0] == '=')
        journal.directory = std::move(name);
      else if (line[0] == '+')
        journal.added.push_back(std::move(name));
      else if (line[0] == '-')
        journal.removed.push_back(std::move(name));
      else
        return Status::Corrupt("it has a line that is not known: " + Printable(line));
    }
  }
  if (!ended || journal.added.empty()) return Status::Corrupt("it is cut short");
  return journal;
}

std::string JournalPath(const std::string& root, std::string_view id, bool done) {
  return fs::JoinPath(fs::JoinPath(root, kDirectory),
                      std::string(id) + std::string(done ? kDone : kOpen));
}

Result<Journals> ReadJournals(fs::FileSystem& file_system, const std::string& root) {
  for (int i = 0; i < kTries; ++i) {
    Journals journals;
    SLUICE_ASSIGN_OR_RETURN(const auto entries,
                            fs::ListIfThere(file_system, fs::JoinPath(root, kDirectory)));
    bool whole = true;
    for (const fs::FileInfo& entry : entries) {
      journals.names.emplace_back(entry.name());
      if (!entry.name().ends_with(kOpen)) continue;
      const auto file = file_system.OpenRead(entry.path);
      whole = whole && file.status().code() != StatusCode::kNotFound;
      if (!whole) break;
      SLUICE_RETURN_NOT_OK(file.status());
      SLUICE_ASSIGN_ARROW(const int64_t size, (*file)->GetSize());
      SLUICE_ASSIGN_ARROW(const auto bytes, (*file)->ReadAt(0, size));
      auto journal = ParseJournal(bytes->ToString());
      if (!journal.ok()) {
        return Status::Corrupt("The journal " + entry.path +
                               " of COMPACT TABLE cannot be read: " + journal.status().message() +
                               ". Which files count cannot be told without it.");
      }
      journal->id = std::string(entry.name().substr(0, entry.name().size() - kOpen.size()));
      journal->modified_ms = entry.modified_ms;
      journals.open.push_back(std::move(*journal));
    }
    if (whole) return journals;
  }
  return Status::Unavailable("The journals of COMPACT TABLE below " + root +
                             " change again and again while they are read.");
}

bool HonourJournals(const Journals& journals, const std::string& root,
                    std::vector<fs::FileInfo>* files) {
  if (journals.open.empty()) return true;
  std::set<std::string, std::less<>> paths;
  for (const fs::FileInfo& file : *files) paths.insert(file.path);
  std::set<std::string, std::less<>> left_out;
  for (const MergeJournal& journal : journals.open) {
    const std::string directory =
        journal.directory.empty() ? root : fs::JoinPath(root, journal.directory);
    const auto there = [&](const std::string& name) {
      return paths.contains(fs::JoinPath(directory, name));
    };
    const bool all_new = std::all_of(journal.added.begin(), journal.added.end(), there);
    const bool all_old = std::all_of(journal.removed.begin(), journal.removed.end(), there);
    const bool any = std::any_of(journal.added.begin(), journal.added.end(), there) ||
                     std::any_of(journal.removed.begin(), journal.removed.end(), there);
    if (!any) continue;  // Another directory was listed.
    if (!all_new && !all_old) return false;
    for (const std::string& name : all_new ? journal.removed : journal.added) {
      left_out.insert(fs::JoinPath(directory, name));
    }
  }
  std::erase_if(*files, [&](const fs::FileInfo& file) { return left_out.contains(file.path); });
  return true;
}

}  // namespace sluice::connectors::filesystem
