// The connector `print`: a sink that writes one line a row on standard output or standard error.
#pragma once

#include <memory>
#include <string>

#include "connectors/connector.h"

namespace sluice::connectors {

extern const Connector kPrintConnector;

/// Where lines go. Thread-safe: `text` holds whole lines and is never mixed with that of another
/// task.
class LineWriter {
 public:
  virtual ~LineWriter() = default;
  virtual Status Write(std::string_view text) = 0;

  /// The process's own streams; live for ever.
  static LineWriter& StandardOutput();
  static LineWriter& StandardError();
};

/// The operator of one subtask. `identifier` may be empty. `writer` outlives the operator.
std::unique_ptr<runtime::Operator> MakePrintOperator(Schema schema, std::string identifier,
                                                     LineWriter* writer);

}  // namespace sluice::connectors
