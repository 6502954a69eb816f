// Definitions against what Flink 2.3 answered to them (tests/data/golden/definitions). Options are
// left out there that Sluice refuses at CREATE TABLE and Flink only when the table is used.
#include <fstream>

#include <gtest/gtest.h>

#include "common/text.h"
#include "connectors/all_connectors.h"
#include "engine/definition/test_support.h"
#include "formats/all_formats.h"

namespace sluice::engine {
namespace {

struct GoldenStep {
  std::string sql;
  std::vector<std::string> answer;  // Its lines, "-- …" included.
  bool new_session = false;
  int line = 0;
};

std::vector<GoldenStep> ReadSteps(const std::string& file) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream.good()) << file;
  std::vector<GoldenStep> steps;
  bool new_session = true;
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.starts_with("# ")) {
      new_session = true;
    } else if (line.starts_with("> ")) {
      steps.push_back({line.substr(2), {}, new_session, number});
      new_session = false;
    } else if (!steps.empty()) {
      steps.back().answer.push_back(line);
    }
  }
  return steps;
}

/// "name VARCHAR(max), null BOOLEAN" to "name, null": a column's name may hold blanks, its type
/// does not.
std::string ColumnNames(std::string_view line) {
  std::vector<std::string> names;
  for (const std::string_view column : Split(line, ',')) {
    const std::string_view trimmed = TrimAscii(column);
    names.emplace_back(trimmed.substr(0, trimmed.rfind(' ')));
  }
  return Join(names, ", ");
}

/// The last message of Flink's chain: "    ValidationException: Reason" and the lines that continue
/// it, indented.
std::string Reason(const std::vector<std::string>& answer) {
  std::string reason;
  for (size_t i = 1; i < answer.size(); ++i) {
    const std::string_view line = TrimAscii(answer[i]);
    if (answer[i].starts_with("    ")) {
      reason = line.substr(line.find(": ") + 2);
    } else {
      reason += "\n" + std::string(line);
    }
  }
  return reason;
}

void CheckRows(const GoldenStep& step, const TextTable& table) {
  EXPECT_EQ(Join(table.columns, ", "),
            ColumnNames(
                std::string_view(step.answer[0]).substr(std::string_view("-- columns: ").size())));
  std::string expected;
  for (size_t i = 1; i < step.answer.size() && !step.answer[i].starts_with("-- "); ++i) {
    expected += step.answer[i] + "\n";
  }
  std::string actual;
  for (const auto& row : table.rows) {
    const bool statement_text = table.columns == std::vector<std::string>{"result"};
    actual += (statement_text ? "" : "+I ") + DefinitionSession::RowText(row) + "\n";
  }
  EXPECT_EQ(actual, expected);
}

TEST(DefinitionGoldenTest, AnswersAsFlink) {
  DefinitionSession session;
  const std::vector<GoldenStep> steps = ReadSteps("tests/data/golden/definitions/result.txt");
  ASSERT_GT(steps.size(), 40u);
  for (const GoldenStep& step : steps) {
    SCOPED_TRACE(std::to_string(step.line) + ": " + step.sql);
    if (step.new_session) session = DefinitionSession();
    const Result<TextTable> answer = session.Execute(step.sql);
    ASSERT_FALSE(step.answer.empty());
    if (step.answer[0] == "-- ERROR") {
      ASSERT_FALSE(answer.ok());
      EXPECT_NE(answer.status().ToString().find(Reason(step.answer)), std::string::npos)
          << "Flink: " << Reason(step.answer) << "\nhere: " << answer.status().ToString();
      continue;
    }
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    const bool starts_job =
        step.answer[0].starts_with("-- columns: job id");  // CREATE TABLE AS: the caller's part.
    if (step.answer[0].starts_with("-- columns: ") && !starts_job) CheckRows(step, *answer);
  }
}

}  // namespace
}  // namespace sluice::engine
