// Shared by the tests of this folder: a session that runs definitions and answers with text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/definition/definition.h"
#include "engine/definition/session_state.h"
#include "sql/syntax/parser.h"

namespace sluice::engine {

class DefinitionSession {
 public:
  Result<TextTable> Execute(std::string_view sql) {
    Result<sql::ParsedStatement> parsed = sql::ParseStatement(sql);
    if (!parsed.ok()) return parsed.status();
    return ExecuteDefinition(*parsed->statement, &state_);
  }

  /// "OK", or a line a row with its cells between " | ", or "ERROR line:column …" with the context
  /// in front of the message.
  std::string Run(std::string_view sql) {
    const Result<TextTable> answer = Execute(sql);
    if (!answer.ok()) {
      const SourcePosition at = answer.status().position();
      std::string text = "ERROR ";
      if (at.known()) text += std::to_string(at.line) + ":" + std::to_string(at.column) + " ";
      const std::vector<std::string>& context = answer.status().context();
      for (size_t i = context.size(); i-- > 0;) text += context[i] + "\n";
      return text + answer.status().message();
    }
    std::string text;
    for (const auto& row : answer->rows) {
      if (!text.empty()) text += "\n";
      text += RowText(row);
    }
    return text;
  }

  static std::string RowText(const std::vector<std::optional<std::string>>& row) {
    std::string text;
    for (size_t i = 0; i < row.size(); ++i)
      text += (i == 0 ? "" : " | ") + row[i].value_or("<NULL>");
    return text;
  }

  SessionState& state() { return state_; }

 private:
  SessionState state_;
};

}  // namespace sluice::engine
