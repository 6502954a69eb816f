// What `sluice verify` asks of a session.
#pragma once

#include <string>

#include "connectors/filesystem/sink/table_verify.h"
#include "engine/session.h"

namespace sluice::engine {

/// Runs the definitions of a script (CREATE, ALTER, DROP, USE, SET, RESET) and passes over
/// everything else: nothing is written and nothing is read.
Status RunDefinitionsOnly(const sql::ScriptParse& script, Session* session);

struct VerifyTarget {
  std::string name;  // "t", "db.t" where `is_table`; else a path or URI.
  bool is_table = false;
  bool read_all = false;
  int64_t small_file_bytes = 8 << 20;
};
/// Blocking. Fails when there is no such table, or it is none of the connector 'filesystem'.
Result<connectors::filesystem::VerifyReport> Verify(Session* session, const VerifyTarget& target);

}  // namespace sluice::engine
