#include "cli/run_command.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>

#include "cli/live_line.h"
#include "cli/output/cell.h"
#include "cli/signals.h"
#include "common/clock.h"
#include "common/log.h"
#include "engine/definition/config_keys.h"
#include "engine/session.h"
#include "sql/syntax/parser.h"

namespace sluice::cli {
namespace {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

double SecondsSince(int64_t start_us) {
  return static_cast<double>(Clock::System().MonotonicMicros() - start_us) / 1e6;
}

/// Runs the statements of one script. Not thread-safe.
class ScriptRunner {
 public:
  ScriptRunner(const RunOptions& options, std::string text, std::string script_name)
      : options_(options), text_(std::move(text)), script_name_(std::move(script_name)) {}

  int Run() {
    const sql::ScriptParse script = sql::ParseScriptFully(text_);
    if (!script.errors.empty()) {
      for (const Status& error : script.errors) Report(error);
      return kExitFailed;
    }
    engine::SessionOptions session_options;
    session_options.configuration = options_.configuration;
    session_options.fresh = options_.fresh;
    // Text given on the command line has no file to name it: the whole of it and the folder do.
    session_options.script_name =
        script_name_ == "-e"
            ? "-e\n" + std::filesystem::current_path(ignored_).string() + "\n" + text_
            : script_name_;
    session_options.notice = [this](const std::string& line) { Notice(line); };
    Result<std::unique_ptr<engine::Session>> session =
        engine::Session::Open(std::move(session_options));
    if (!session.ok()) {
      Report(session.status());
      return kExitUsage;
    }
    session_ = *std::move(session);
    bool failed = false;
    for (const sql::ParsedStatement& statement : script.statements) {
      if (StopRequested()) break;
      if (!Execute(statement)) {
        failed = true;
        break;
      }
    }
    if (failed) StopBackground();
    for (const Background& job : background_) failed = !Finish(job.job, job.start_us) || failed;
    return failed ? kExitFailed : kExitOk;
  }

 private:
  struct Background {
    std::shared_ptr<engine::RunningJob> job;
    int64_t start_us;
  };

  void Notice(const std::string& line) {
    live_.Clear();
    Log(LogLevel::kInfo, line);
  }

  /// The error with its place in the script and a caret below it.
  void Report(const Status& status) {
    live_.Clear();
    std::fprintf(stderr, "[ERROR] %s\n", Legible(status.ToString()).c_str());
    const std::string caret = sql::RenderCaret(text_, status.position());
    if (!caret.empty()) std::fprintf(stderr, "\n%s", caret.c_str());
  }

  bool Execute(const sql::ParsedStatement& statement) {
    const int64_t start_us = Clock::System().MonotonicMicros();
    Result<engine::Outcome> outcome = session_->Execute(statement);
    if (!outcome.ok()) {
      Status status = outcome.status();
      if (!status.position().known() && script_name_ != "-e") {
        status = std::move(status).WithContext("In the statement at line " +
                                               std::to_string(statement.range.begin.line) + ":");
      }
      Report(status);
      return false;
    }
    if (auto* table = std::get_if<engine::TextTable>(&*outcome)) {
      const bool plain_ok = table->columns.size() == 1 && table->columns[0] == "result" &&
                            table->rows.size() == 1 && table->rows[0][0] == "OK";
      if (!plain_ok) PrintTextTable(options_.output, *table, stdout);
      std::fflush(stdout);
      return true;
    }
    if (auto* query = std::get_if<engine::QueryResult>(&*outcome))
      return PrintQuery(*query, start_us);
    const auto& insert = std::get<engine::InsertResult>(*outcome);
    if (!insert.in_background) return Finish(insert.job, start_us);
    Notice("Job " + insert.job->name() + " runs in the background: " + insert.job->id() +
           ". SHOW JOBS lists it, STOP JOB ends it; the script waits for it at its end.");
    background_.push_back({insert.job, start_us});
    return true;
  }

  bool PrintQuery(const engine::QueryResult& query, int64_t start_us) {
    ResultHeader header;
    header.schema = query.schema;
    header.changelog = !query.kinds.insert_only();
    header.streaming = query.streaming;
    header.zone = query.zone;
    if (const Result<int64_t> width = engine::ReadConfig(session_->state().configuration)
                                          .Integer("table.display.max-column-width");
        width.ok()) {
      header.max_column_width = static_cast<int>(*width);
    }
    OnStopSignal([job = query.job] { job->Cancel(); });
    const std::unique_ptr<ResultPrinter> printer =
        MakeResultPrinter(options_.output, std::move(header), stdout);
    printer->Begin();
    Status failure;
    while (true) {
      Result<std::optional<Batch>> batch = query.rows->Pop();
      if (!batch.ok()) {
        failure = batch.status();
        break;
      }
      if (!*batch) break;
      printer->Rows(**batch);
      if (std::ferror(stdout)) {  // The reader of the pipe is gone: nothing more to do.
        query.job->Cancel();
        break;
      }
    }
    query.job->WaitFor(-1);
    OnStopSignal(nullptr);
    const bool terminated = StopRequested();
    if (!failure.ok() && !terminated) {
      Report(failure);
      return false;
    }
    printer->End(SecondsSince(start_us), terminated);
    return true;
  }

  /// Waits for a job, showing its live line; false when it failed.
  bool Finish(const std::shared_ptr<engine::RunningJob>& job, int64_t start_us) {
    OnStopSignal([this, job] {
      Notice("Stopping " + job->name() + ": taking a last checkpoint" +
             (options_.savepoint_on_stop.empty() ? "" : " and a savepoint") +
             ". A second signal ends at once.");
      Stop(*job);
      for (const Background& other : background_) {
        if (other.job != job) Stop(*other.job);
      }
    });
    if (StopRequested()) Stop(*job);
    while (!job->WaitFor(500)) live_.Update(job->name(), job->metrics());
    OnStopSignal(nullptr);
    live_.Clear();
    const Status status = job->status();
    if (!status.ok()) {
      Report(Status(status).WithContext("Job " + job->name() + " failed:"));
      return false;
    }
    std::string line =
        "Job " + job->name() + ": " + SummaryText(job->metrics(), SecondsSince(start_us)) + ".";
    if (job->resumable()) line += " Stopped; the same command resumes it.";
    Log(LogLevel::kInfo, line);
    return ReportSavepoint(*job);
  }

  void Stop(engine::RunningJob& job) const {
    if (options_.savepoint_on_stop.empty()) {
      job.Stop();
    } else {
      job.StopWithSavepoint(options_.savepoint_on_stop, /*drain=*/false);
    }
  }

  /// False when a savepoint was asked for and is not there.
  bool ReportSavepoint(const engine::RunningJob& job) {
    if (options_.savepoint_on_stop.empty() || !StopRequested()) return true;
    const Result<std::string> savepoint = job.savepoint();
    if (!savepoint.ok()) {
      Report(savepoint.status());
      return false;
    }
    Log(LogLevel::kInfo, "Savepoint completed. Path: " + *savepoint +
                             ". Start from it with: sluice run --from " + *savepoint);
    return true;
  }

  void StopBackground() {
    for (const Background& job : background_) job.job->Stop();
  }

  const RunOptions& options_;
  const std::string text_;
  const std::string script_name_;
  std::error_code ignored_;
  std::unique_ptr<engine::Session> session_;
  std::vector<Background> background_;
  LiveLine live_;
};

std::string JsonLogLine(LogLevel level, std::string_view message) {
  static constexpr std::string_view kNames[] = {"debug", "info", "warn", "error"};
  std::string line = "{\"time_ms\":" + std::to_string(Clock::System().NowMillis()) +
                     ",\"level\":\"" + std::string(kNames[static_cast<size_t>(level)]) +
                     "\",\"message\":";
  AppendJsonString(message, &line);
  return line + "}";
}

void InstallLog(const RunOptions& options) {
  const std::string& level = options.log_level;
  SetLogLevel(level == "debug"   ? LogLevel::kDebug
              : level == "warn"  ? LogLevel::kWarning
              : level == "error" ? LogLevel::kError
                                 : LogLevel::kInfo);
  if (options.log_format == LogFormat::kJson) {
    SetLogSink([](LogLevel l, std::string_view message) {
      std::fprintf(stderr, "%s\n", JsonLogLine(l, message).c_str());
    });
    return;
  }
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  SetLogSink([terminal](LogLevel l, std::string_view message) {
    static constexpr std::string_view kTags[] = {"[DEBUG]", "[INFO]", "[WARN]", "[ERROR]"};
    if (terminal) std::fprintf(stderr, "\r\x1b[K");  // Over the live line.
    std::fprintf(stderr, "%s %s\n", kTags[static_cast<size_t>(l)].data(), LogText(message).c_str());
  });
}

bool ReadAll(std::istream& in, std::string* text) {
  std::ostringstream buffer;
  buffer << in.rdbuf();
  *text = buffer.str();
  return !in.bad();
}

}  // namespace

int RunScript(const RunOptions& options) {
  InstallLog(options);
  std::string text = options.statement;
  std::string script_name = "-e";
  if (!options.file.empty()) {
    if (options.file == "-") {
      ReadAll(std::cin, &text);
    } else {
      std::error_code error;
      script_name = std::filesystem::absolute(options.file, error).lexically_normal().string();
      std::ifstream file(options.file, std::ios::binary);
      if (!file || std::filesystem::is_directory(options.file, error) || !ReadAll(file, &text)) {
        std::fprintf(stderr,
                     "[ERROR] Cannot read the script %s: %s. Name a readable file, or give a "
                     "statement with -e.\n",
                     options.file.c_str(),
                     std::filesystem::is_directory(options.file, error) ? "it is a directory"
                                                                        : std::strerror(errno));
        return kExitUsage;
      }
    }
  }
  return ScriptRunner(options, std::move(text), std::move(script_name)).Run();
}

}  // namespace sluice::cli
