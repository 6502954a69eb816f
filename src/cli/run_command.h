// `sluice run`: executes a script, prints results, waits for its jobs.
#pragma once

#include <string>

#include "cli/output/result_printer.h"
#include "common/options.h"

namespace sluice::cli {

enum class LogFormat { kText, kJson };

struct RunOptions {
  std::string file;       // Empty with -e; "-" reads standard input.
  std::string statement;  // -e.
  OptionMap configuration;
  OutputFormat output = OutputFormat::kTable;
  bool fresh = false;
  /// Folder below which a stop signal leaves a savepoint; empty: it leaves none.
  std::string savepoint_on_stop;
  LogFormat log_format = LogFormat::kText;
  std::string log_level = "info";
};

/// Exit code: 0 all statements succeeded, 1 a statement failed, 2 the script cannot be read.
int RunScript(const RunOptions& options);

}  // namespace sluice::cli
