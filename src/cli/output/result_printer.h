// Prints results of statements to stdout: boxes as Flink's SQL client draws them, CSV, or JSON
// lines.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "engine/definition/session_state.h"
#include "types/batch.h"
#include "types/schema.h"
#include "types/time_zone.h"

namespace sluice::cli {

enum class OutputFormat { kTable, kCsv, kJson };

/// What a printer must know before the first row.
struct ResultHeader {
  Schema schema;
  bool changelog = false;  // Rows carry their kind.
  bool streaming = true;   // Boxes with widths by type, rows as they come.
  TimeZone zone;
  int max_column_width = 30;  // table.display.max-column-width.
};

/// Prints one query's rows. Not thread-safe.
class ResultPrinter {
 public:
  virtual ~ResultPrinter() = default;
  virtual void Begin() = 0;
  virtual void Rows(const Batch& batch) = 0;
  /// `seconds`: how long the query took; `terminated`: cut off by the user.
  virtual void End(double seconds, bool terminated) = 0;
};

std::unique_ptr<ResultPrinter> MakeResultPrinter(OutputFormat format, ResultHeader header,
                                                 std::FILE* out);

/// Prints rows of text: SHOW, DESCRIBE, EXPLAIN. A single value of several lines (SHOW CREATE,
/// EXPLAIN) is printed as it is in table format.
void PrintTextTable(OutputFormat format, const engine::TextTable& table, std::FILE* out);

}  // namespace sluice::cli
