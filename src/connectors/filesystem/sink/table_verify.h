// `sluice verify`: proves from the records of a table (table_record.h) that nothing is missing and
// nothing is there twice, and lists what is odd.
//
// What is proven: every file that a record of the newest chain names is there under its name with
// its length (row counts too, where a container tells them), no other file of the job is visible,
// no file is a copy of another, every file that was merged is in exactly one merged file with all
// its rows, the chain has no gap, and the positions of the sources go on from record to record.
// What is not: the content of a file of the right length, unless `read_all` is set.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "connectors/filesystem/sink/file_layout.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

struct VerifyRequest {
  std::string root;
  /// How files are read; without a format that of the records or of the first bytes is taken.
  std::optional<FileLayout> layout;
  std::string marker = "_SUCCESS";
  int64_t small_file_bytes = 8 << 20;
  /// Decode every container to its end, instead of its footer only.
  bool read_all = false;
};

struct Finding {
  enum class Severity {
    kProblem,  // Rows are missing, there twice, or cannot be read.
    kOddity,
  };
  Severity severity = Severity::kOddity;
  std::string kind;  // "missing file", "doubled file", …
  std::string path;
  std::string detail;
};

struct VerifyReport {
  std::vector<Finding> findings;  // Problems first.
  int64_t files = 0;              // Visible ones.
  int64_t size_bytes = 0;
  int64_t recorded_files = 0;  // Of these.
  int64_t row_count = 0;       // In recorded files.
  int64_t records = 0;
  /// "<sink> orders-0" -> [first position known, last one).
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;
  bool has_problems() const {
    return !findings.empty() && findings.front().severity == Finding::Severity::kProblem;
  }
};

/// Blocking. Fails when the table cannot be listed; kNotFound when nothing is there.
Result<VerifyReport> VerifyTable(fs::FileSystem& file_system, const VerifyRequest& request);

}  // namespace sluice::connectors::filesystem
