#include "connectors/filesystem/partition/merge_journal.h"

#include <algorithm>
#include <optional>
#include <set>

#include "common/text.h"
#include "connectors/filesystem/partition/marked_lines.h"
#include "fs/if_there.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr std::string_view kHead = "sluice merge 1";
constexpr std::string_view kDirectory = "_sluice/merge";
constexpr std::string_view kOpen = ".open";
constexpr std::string_view kDone = ".done";
constexpr int kTries = 20;

std::string JournalPath(const std::string& root, const MergeJournal& journal,
                        std::string_view ending) {
  return fs::JoinPath(fs::JoinPath(root, kDirectory), journal.id + std::string(ending));
}

/// Nullopt when it has gone.
Result<std::optional<MergeJournal>> ReadJournal(fs::FileSystem& file_system,
                                                const fs::FileInfo& entry) {
  const auto text = file_system.ReadAll(entry.path);
  if (text.status().code() == StatusCode::kNotFound) return std::nullopt;
  SLUICE_RETURN_NOT_OK(text.status());
  auto journal = ParseJournal(*text);
  if (!journal.ok()) {
    return Status::Corrupt("The journal " + entry.path +
                           " of COMPACT TABLE cannot be read: " + journal.status().message() +
                           ". Which files count cannot be told without it.");
  }
  journal->id = std::string(entry.name().substr(0, entry.name().size() - kOpen.size()));
  journal->modified_ms = entry.modified_ms;
  return *std::move(journal);
}

}  // namespace

std::string EncodeJournal(const MergeJournal& journal) {
  MarkedLineWriter lines(kHead);
  lines.Add('=', journal.directory);
  lines.Add('+', journal.added);
  lines.Add('-', journal.removed);
  lines.Add('.', "");  // So that a cut one is known.
  return std::move(lines).Take();
}

Result<MergeJournal> ParseJournal(std::string_view text) {
  const auto lines = ReadMarkedLines(text, kHead);
  if (!lines) return Status::Corrupt("it does not begin with '" + std::string(kHead) + "'");
  MergeJournal journal;
  bool ended = false;
  for (const MarkedLine& line : *lines) {
    if (line.line == ".") {
      ended = true;
    } else if (line.mark() == '=') {
      journal.directory = line.entry();
    } else if (line.mark() == '+') {
      journal.added.push_back(line.entry());
    } else if (line.mark() == '-') {
      journal.removed.push_back(line.entry());
    } else {
      return Status::Corrupt("it has a line that is not known: " + Printable(line.line));
    }
  }
  if (!ended || journal.added.empty()) return Status::Corrupt("it is cut short");
  return journal;
}

Status OpenJournal(fs::FileSystem& file_system, const std::string& root,
                   const MergeJournal& journal) {
  return file_system.WriteWhole(JournalPath(root, journal, kOpen), EncodeJournal(journal));
}

Status CloseJournal(fs::FileSystem& file_system, const std::string& root,
                    const MergeJournal& journal) {
  SLUICE_RETURN_NOT_OK(
      file_system.WriteWhole(JournalPath(root, journal, kDone), EncodeJournal(journal)));
  return DropJournal(file_system, root, journal);
}

Status DropJournal(fs::FileSystem& file_system, const std::string& root,
                   const MergeJournal& journal) {
  return file_system.DeleteFile(JournalPath(root, journal, kOpen));
}

Status DropClosedJournals(fs::FileSystem& file_system, const std::string& root, int64_t before_ms) {
  SLUICE_ASSIGN_OR_RETURN(const auto entries,
                          fs::ListIfThere(file_system, fs::JoinPath(root, kDirectory)));
  for (const fs::FileInfo& entry : entries) {
    if (entry.name().ends_with(kDone) && entry.modified_ms < before_ms) {
      SLUICE_RETURN_NOT_OK(file_system.DeleteFile(entry.path));
    }
  }
  return {};
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
      SLUICE_ASSIGN_OR_RETURN(auto journal, ReadJournal(file_system, entry));
      whole = journal.has_value();
      if (!whole) break;
      journals.open.push_back(*std::move(journal));
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
