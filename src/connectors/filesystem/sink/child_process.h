// Runs a command of the user: text in, text out, and not for ever.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"

namespace sluice::connectors::filesystem {

struct CommandRequest {
  std::string command;                                           // For /bin/sh.
  std::string input;                                             // On its standard input.
  std::vector<std::pair<std::string, std::string>> environment;  // In addition to ours.
  int64_t timeout_ms = 60'000;
};

struct CommandResult {
  int exit_code = 0;   // 128 + the signal that ended it, as a shell says.
  std::string output;  // Standard output; at most 64 KiB are kept.
  std::string errors;  // Standard error; at most the last 4 KiB.
};

/// Blocking. Fails with kUnavailable when the command cannot be started or takes too long: it and
/// what it started are killed then.
Result<CommandResult> RunCommand(const CommandRequest& request);

/// "ended with 3: what it has said" with at most the last ten lines of its standard error, fit for
/// a terminal.
std::string HowItEnded(const CommandResult& result);

}  // namespace sluice::connectors::filesystem
