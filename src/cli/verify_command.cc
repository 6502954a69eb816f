#include "cli/verify_command.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/output/cell.h"
#include "common/log.h"
#include "common/text.h"
#include "engine/verify_table.h"

namespace sluice::cli {
namespace {

using connectors::filesystem::Finding;
using connectors::filesystem::VerifyReport;

constexpr int kExitOk = 0;
constexpr int kExitProblems = 1;
constexpr int kExitUsage = 2;

int Fail(const Status& status, const std::string& text) {
  std::fprintf(stderr, "[ERROR] %s\n", Legible(status.ToString()).c_str());
  const std::string caret = sql::RenderCaret(text, status.position());
  if (!caret.empty()) std::fprintf(stderr, "\n%s", caret.c_str());
  return kExitUsage;
}

std::string_view SeverityText(const Finding& finding) {
  return finding.severity == Finding::Severity::kProblem ? "problem" : "oddity";
}

void PutField(std::string_view name, std::string_view text, std::string* out) {
  *out += out->empty() ? "{" : ",";
  AppendJsonString(name, out);
  *out += ":";
  AppendJsonString(text, out);
}

void PutNumber(std::string_view name, int64_t number, std::string* out) {
  *out += out->empty() ? "{" : ",";
  AppendJsonString(name, out);
  *out += ":" + std::to_string(number);
}

/// One object a finding, and a last one that sums up.
void PrintJson(const VerifyReport& report) {
  int64_t problems = 0;
  for (const Finding& finding : report.findings) {
    if (finding.severity == Finding::Severity::kProblem) ++problems;
    std::string line;
    PutField("severity", SeverityText(finding), &line);
    PutField("kind", finding.kind, &line);
    PutField("path", finding.path, &line);
    PutField("detail", finding.detail, &line);
    std::printf("%s}\n", line.c_str());
  }
  std::string line;
  PutField("severity", "summary", &line);
  PutNumber("problems", problems, &line);
  PutNumber("oddities", static_cast<int64_t>(report.findings.size()) - problems, &line);
  PutNumber("files", report.files, &line);
  PutNumber("bytes", report.size_bytes, &line);
  PutNumber("records", report.records, &line);
  PutNumber("recorded_files", report.recorded_files, &line);
  PutNumber("recorded_rows", report.row_count, &line);
  line += ",\"sources\":{";
  bool first = true;
  for (const auto& [name, range] : report.ranges) {
    if (!first) line += ",";
    first = false;
    AppendJsonString(name, &line);
    line += ":[" + (range.first < 0 ? "null" : std::to_string(range.first)) + "," +
            std::to_string(range.second) + "]";
  }
  std::printf("%s}}\n", line.c_str());
}

void PrintText(const VerifyReport& report) {
  constexpr size_t kRangesShown = 20;
  for (const Finding& finding : report.findings) {
    std::printf("%s: %s: %s: %s.\n", std::string(SeverityText(finding)).c_str(),
                finding.kind.c_str(), LogText(finding.path).c_str(),
                LogText(finding.detail).c_str());
  }
  std::printf("%s file(s), %s bytes; %s of them with %s row(s) in %s record(s).\n",
              WithThousands(report.files).c_str(), WithThousands(report.size_bytes).c_str(),
              WithThousands(report.recorded_files).c_str(), WithThousands(report.row_count).c_str(),
              WithThousands(report.records).c_str());
  size_t shown = 0;
  for (const auto& [name, range] : report.ranges) {
    if (++shown > kRangesShown) {
      std::printf("  … and %zu more\n", report.ranges.size() - kRangesShown);
      break;
    }
    std::printf("  %s: %s to %lld\n", LogText(name).c_str(),
                range.first < 0 ? "its begin" : std::to_string(range.first).c_str(),
                static_cast<long long>(range.second));
  }
  std::printf("%s\n", report.has_problems()
                          ? "There are problems."
                          : (report.records > 0 ? "Nothing is missing and nothing is there twice."
                                                : "No problem was found."));
}

}  // namespace

int VerifyFiles(const VerifyOptions& options) {
  engine::SessionOptions session_options;
  session_options.configuration = options.configuration;
  auto session = engine::Session::Open(std::move(session_options));
  if (!session.ok()) return Fail(session.status(), "");
  if (!options.script.empty()) {
    std::ifstream file(options.script, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file || file.bad()) {
      return Fail(Status::NotFound("Cannot read the script " + options.script + "."), "");
    }
    const sql::ScriptParse script = sql::ParseScriptFully(text.str());
    if (!script.errors.empty()) return Fail(script.errors.front(), text.str());
    const Status defined = engine::RunDefinitionsOnly(script, session->get());
    if (!defined.ok()) return Fail(defined, text.str());
  }
  const auto report =
      engine::Verify(session->get(), {.name = options.target,
                                      .is_table = !options.script.empty(),
                                      .read_all = options.read_all,
                                      .small_file_bytes = options.small_file_bytes});
  if (!report.ok()) return Fail(report.status(), "");
  if (options.json) {
    PrintJson(*report);
  } else {
    PrintText(*report);
  }
  return report->has_problems() ? kExitProblems : kExitOk;
}

}  // namespace sluice::cli
