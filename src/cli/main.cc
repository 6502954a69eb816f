// The sluice program: commands and exit codes.
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <malloc.h>

#include "cli/options_command.h"
#include "cli/run_command.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "cli/verify_command.h"
#include "cli/version.h"
#include "common/crash_point.h"
#include "common/threads_left_behind.h"
#include "types/time_zone.h"

namespace {

constexpr int kExitUsage = 2;

/// -D key=value into the map; false when there is no '='.
bool AddConfiguration(const std::vector<std::string>& definitions,
                      sluice::OptionMap* configuration) {
  for (const std::string& definition : definitions) {
    const size_t equals = definition.find('=');
    if (equals == std::string::npos || equals == 0) {
      std::fprintf(stderr, "sluice: -D takes key=value, but is '%s'.\n", definition.c_str());
      return false;
    }
    (*configuration)[definition.substr(0, equals)] = definition.substr(equals + 1);
  }
  return true;
}

struct RunArguments {
  sluice::cli::RunOptions options;
  std::vector<std::string> definitions;
  std::string output = "table";
  std::string log_format = "text";
  std::string from;
  bool ignore_unclaimed = false;
  bool remove_abandoned = false;
};

/// The flags that are short for configuration keys.
void AddFlagsToConfiguration(const RunArguments& arguments, sluice::OptionMap* configuration) {
  if (!arguments.from.empty()) (*configuration)["execution.state-recovery.path"] = arguments.from;
  if (arguments.ignore_unclaimed) {
    (*configuration)["execution.state-recovery.ignore-unclaimed-state"] = "true";
  }
  if (arguments.remove_abandoned) (*configuration)["sluice.remove-abandoned"] = "true";
}

/// --output table|csv|json, as every command that prints rows takes it.
void AddOutputOption(CLI::App* command, std::string* output) {
  command->add_option("-o,--output", *output, "How results are printed: table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
}

sluice::cli::OutputFormat OutputFormatOf(const std::string& name) {
  if (name == "csv") return sluice::cli::OutputFormat::kCsv;
  if (name == "json") return sluice::cli::OutputFormat::kJson;
  return sluice::cli::OutputFormat::kTable;
}

struct OptionsCommand {
  sluice::cli::OptionsArguments arguments;
  std::string output = "table";
};

CLI::App* AddOptionsCommand(CLI::App* app, OptionsCommand* command) {
  CLI::App* options = app->add_subcommand(
      "options", "Show the options of tables, formats and the session with their meaning.");
  options->add_option("NAME", command->arguments.names,
                      "Connector, format, 'session', or the beginning of a key; default: all");
  AddOutputOption(options, &command->output);
  options->add_flag("--markdown", command->arguments.markdown, "As the page docs/options.md");
  options->footer(
      "Exit code: 0, 1 when nothing has that name.\n\n"
      "  sluice options parquet\n"
      "  sluice options sink.rolling-policy");
  return options;
}

CLI::App* AddRunCommand(CLI::App* app, RunArguments* arguments) {
  CLI::App* run =
      app->add_subcommand("run", "Run the statements of a SQL script, or of -e, in order.");
  run->add_option("FILE", arguments->options.file, "SQL script ('-' reads standard input)");
  run->add_option("-e,--execute", arguments->options.statement, "SQL text instead of a file");
  run->add_option("-D", arguments->definitions,
                  "Configuration as by SET: -D execution.runtime-mode=batch; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  AddOutputOption(run, &arguments->output);
  run->add_flag("--fresh", arguments->options.fresh,
                "Forget the state of earlier runs instead of resuming from the newest checkpoint");
  run->add_option("--from", arguments->from,
                  "Start the script's jobs from this checkpoint or savepoint folder")
      ->type_name("FOLDER");
  run->add_flag("--ignore-unclaimed", arguments->ignore_unclaimed,
                "With --from: drop state that no part of the script takes, instead of refusing");
  run->add_flag("--remove-abandoned", arguments->remove_abandoned,
                "With --from: remove files published after the state that is gone back to");
  run->add_option("--savepoint-on-stop", arguments->options.savepoint_on_stop,
                  "On Ctrl-C or SIGTERM leave a savepoint below this folder as well")
      ->type_name("FOLDER");
  run->add_option("--log-format", arguments->log_format,
                  "Log lines on standard error: text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  run->add_option("--log-level", arguments->options.log_level,
                  "Lowest level that is logged: debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  run->footer(
      "A bounded INSERT is waited for before the next statement; an unbounded one goes on while "
      "the script continues, and the\n"
      "command ends when all jobs have ended. After a crash or a stop (Ctrl-C) the same command "
      "resumes where it was.\n"
      "Exit code: 0 all statements succeeded, 1 a statement failed, 2 bad usage.\n\n"
      "  sluice run job.sql\n"
      "  sluice run -e \"SELECT 1 + 1\"\n"
      "  sluice run -e \"SELECT * FROM t\" --output json -D execution.runtime-mode=batch");
  return run;
}

struct VerifyArguments {
  sluice::cli::VerifyOptions options;
  std::vector<std::string> definitions;
  std::string output = "text";
  std::string small_files = "8 mb";
};

CLI::App* AddVerifyCommand(CLI::App* app, VerifyArguments* arguments) {
  CLI::App* verify = app->add_subcommand(
      "verify",
      "Prove that no row of a table's files is missing or there twice; list what is odd.");
  verify
      ->add_option("TARGET", arguments->options.target,
                   "A directory (/lake/orders, s3://lake/orders), or with -f a table")
      ->required();
  verify->add_option("-f,--file", arguments->options.script,
                     "SQL script whose CREATE, USE and SET statements are run; others are not");
  verify->add_option("-D", arguments->definitions, "Configuration as by SET; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  verify->add_option("-o,--output,--format", arguments->output, "text, or json: a line a finding")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  verify->add_flag("--read-all", arguments->options.read_all,
                   "Decode every Parquet, ORC and Avro file to its end, with -f");
  verify
      ->add_option("--small-files", arguments->small_files, "Files below this size count as small")
      ->type_name("SIZE")
      ->capture_default_str();
  verify->footer(
      "What is proven rests on the records that a table with 'sink.record.enabled' = 'true' keeps "
      "in its hidden directory _sluice.\n"
      "Exit code: 0 nothing is missing, doubled or unreadable (oddities may be listed), 1 "
      "something "
      "is, 2 bad usage or no such table.\n\n"
      "  sluice verify /lake/orders\n"
      "  sluice verify -f job.sql orders --read-all\n"
      "  sluice verify s3://lake/orders -D s3.endpoint=http://127.0.0.1:9000 --output json");
  return verify;
}

int Verify(VerifyArguments& arguments) {
  if (!AddConfiguration(arguments.definitions, &arguments.options.configuration)) return kExitUsage;
  const auto small = sluice::ParseMemorySize(arguments.small_files);
  if (!small.ok()) {
    std::fprintf(stderr, "sluice verify: --small-files: %s\n", small.status().message().c_str());
    return kExitUsage;
  }
  if (arguments.options.read_all && arguments.options.script.empty()) {
    std::fprintf(stderr,
                 "sluice verify: --read-all wants the columns of the table: name it with -f.\n");
    return kExitUsage;
  }
  arguments.options.small_file_bytes = *small;
  arguments.options.json = arguments.output == "json";
  return sluice::cli::VerifyFiles(arguments.options);
}

int Run(RunArguments& arguments) {
  if (arguments.options.file.empty() == arguments.options.statement.empty()) {
    std::fprintf(
        stderr,
        "sluice run: give a script or a statement with -e, not %s. See 'sluice run --help'.\n",
        arguments.options.file.empty() ? "neither" : "both");
    return kExitUsage;
  }
  if (!AddConfiguration(arguments.definitions, &arguments.options.configuration)) return kExitUsage;
  AddFlagsToConfiguration(arguments, &arguments.options.configuration);
  arguments.options.output = OutputFormatOf(arguments.output);
  arguments.options.log_format = arguments.log_format == "json" ? sluice::cli::LogFormat::kJson
                                                                : sluice::cli::LogFormat::kText;
  sluice::cli::StartSignalThread();
  return sluice::cli::RunScript(arguments.options);
}

int Main(int argc, char** argv) {
  // Hundreds of open column writers touch a little of many large areas: with huge pages the kernel
  // zeroes 2 MiB for each of them. Measured on CSV into 48 Parquet partitions: 2.4 s of 3.5 CPU
  // seconds went there, 0.4 without.
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  CLI::App app{
      "Sluice runs Flink SQL on one machine: streams into partitioned files, exactly once, and "
      "back."};
  bool show_version = false;
  bool list_crash_points = false;
  app.add_flag("--version", show_version, "Show the version");
  app.add_flag("--list-crash-points", list_crash_points)->group("");
  RunArguments run_arguments;
  OptionsCommand options_command;
  const CLI::App* run = AddRunCommand(&app, &run_arguments);
  const CLI::App* options = AddOptionsCommand(&app, &options_command);
  VerifyArguments verify_arguments;
  const CLI::App* verify = AddVerifyCommand(&app, &verify_arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : kExitUsage;
  }
  if (show_version) {
    std::printf("sluice %s (time zones %s)\n", sluice::cli::kVersion,
                sluice::TimeZone::DatabaseVersion().c_str());
    return 0;
  }
  if (list_crash_points) {
    for (const std::string& name : sluice::AllCrashPoints()) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (run->parsed()) return Run(run_arguments);
  if (options->parsed()) {
    options_command.arguments.output = OutputFormatOf(options_command.output);
    return sluice::cli::PrintOptions(options_command.arguments);
  }
  if (verify->parsed()) return Verify(verify_arguments);
  std::printf("%s", app.help().c_str());
  return kExitUsage;
}

// Chunks of input and encoded text come and go by the half megabyte, from one thread to another:
// malloc hands such blocks back to the kernel as soon as they are free, and gets fresh ones cleared
// for the next chunk. That was a fifth of all page faults of a job that reads JSON.
void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, 8 << 20);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);  // Kept by each of malloc's arenas at most.
  // By default eight arenas a core: blocks that go from thread to thread leave holes in each.
  mallopt(M_ARENA_MAX, static_cast<int>(std::max(2U, std::thread::hardware_concurrency())));
}

}  // namespace

int main(int argc, char** argv) {
  KeepFreedMemory();
  sluice::cli::HoldStandardStreams();
  const int code = sluice::cli::WithResultsWritten(Main(argc, argv));
  if (!sluice::ThreadsLeftBehind::Any()) return code;
  std::fflush(nullptr);
  ::_exit(code);
}
