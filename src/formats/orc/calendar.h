// In which calendar a file counts days and times before 1582-10-15.
#pragma once

#include <string>

#include "formats/orc/metadata.h"
#include "formats/orc/orc_options.h"
#include "formats/orc/orc_times.h"
#include "types/schema.h"

namespace sluice::formats::orc_format {

/// What the footer says, else what the table's options say of files that say nothing. Nothing in a
/// file tells those writers of the library for Java apart that count DATE in the hybrid calendar
/// (Hive up to 3.0, Spark up to 2.4) from those that do not (Flink, Hive 3.1): so the first old
/// DATE of such a file is told.
class FileCalendar {
 public:
  FileCalendar() = default;
  /// `physical`: names the table in what is told.
  FileCalendar(const Footer& footer, const OrcOptions& options, const Schema& physical);

  bool hybrid_dates() const { return hybrid_dates_; }
  bool hybrid_times() const { return hybrid_times_; }

  /// Called with the earliest of some days as stored: logs, once a table, what was assumed and
  /// which option changes it. Thread-safe.
  void TellOfDay(int64_t day) const {
    if (assumed_ && day < kFirstGregorianDay) [[unlikely]]
      Tell();
  }

 private:
  void Tell() const;

  bool hybrid_dates_ = false;
  bool hybrid_times_ = false;
  bool assumed_ = false;  // Neither the file nor an option says how DATE is counted.
  std::string columns_;   // Of the table.
};

}  // namespace sluice::formats::orc_format
