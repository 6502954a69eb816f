// `sluice options`: every option of tables, formats and the session, from the lists that check
// them.
#pragma once

#include <string>
#include <vector>

#include "cli/output/result_printer.h"

namespace sluice::cli {

struct OptionsArguments {
  /// Connector or format names, "session", or option keys (whole or beginnings); empty: everything.
  std::vector<std::string> names;
  OutputFormat output = OutputFormat::kTable;
  bool markdown = false;  // The page docs/options.md; `output` has no meaning then.
};

/// Prints to standard output. Exit code: 0, or 1 when a name fits nothing (with the nearest known
/// one on standard error).
int PrintOptions(const OptionsArguments& arguments);

}  // namespace sluice::cli
