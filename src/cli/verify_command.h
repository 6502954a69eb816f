// `sluice verify`: nothing missing, nothing doubled, and what is odd.
#pragma once

#include <string>

#include "common/options.h"

namespace sluice::cli {

struct VerifyOptions {
  std::string target;  // A table of `script`, or a directory.
  std::string script;  // Its definitions are run; empty: none.
  OptionMap configuration;
  bool json = false;
  bool read_all = false;
  int64_t small_file_bytes = 8 << 20;
};

/// Exit code: 0 nothing is missing or doubled or cannot be read, 1 something is, 2 the table cannot
/// be looked at.
int VerifyFiles(const VerifyOptions& options);

}  // namespace sluice::cli
