#include "formats/orc/calendar.h"

#include <mutex>
#include <set>

#include "common/log.h"

namespace sluice::formats::orc_format {

namespace {

// More tables than a process reads; bounds the memory of one that defines tables for ever.
constexpr size_t kMostTables = 10'000;

/// True for the first caller with the columns of a table.
bool IsFirst(const std::string& columns) {
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  return told.size() < kMostTables && told.insert(columns).second;
}

std::string ColumnList(const Schema& schema) {
  std::string list;
  for (const Column& column : schema.columns()) {
    if (!list.empty()) list += ", ";
    list += "`" + column.name + "` " + column.type.ToString();
  }
  return list;
}

}  // namespace

FileCalendar::FileCalendar(const Footer& footer, const OrcOptions& options,
                           const Schema& physical) {
  if (footer.calendar != Calendar::kUnknown) {
    hybrid_dates_ = hybrid_times_ = footer.calendar == Calendar::kHybrid;
    return;
  }
  if (footer.writer != kJavaWriter) return;
  hybrid_dates_ = options.unmarked_dates_are_hybrid.value_or(true);
  hybrid_times_ = options.unmarked_times_are_hybrid;
  assumed_ = !options.unmarked_dates_are_hybrid.has_value();
  if (assumed_) columns_ = ColumnList(physical);
}

void FileCalendar::Tell() const {
  if (!IsFirst(columns_)) return;
  Log(LogLevel::kWarning,
      "An ORC file of the table with the columns (" + columns_ +
          ") holds a DATE before 1582-10-15 and does not name its calendar. It was read in the "
          "hybrid (Julian) one, as Hive up to 3.0 and Spark up to 2.4 write it. Flink writes DATE, "
          "and Hive 3.1 DATE and TIMESTAMP, in the proleptic Gregorian calendar: for files of "
          "Flink set 'orc.proleptic.gregorian.default.dates' = 'true', for those of Hive 3.1 "
          "'orc.proleptic.gregorian.default' = 'true'; 'false' confirms and silences this.");
}

}  // namespace sluice::formats::orc_format
