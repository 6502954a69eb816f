#include "connectors/print/print_connector.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>

#include "connectors/print/row_text.h"
#include "runtime/operator.h"

namespace sluice::connectors {
namespace {

class StreamLineWriter final : public LineWriter {
 public:
  StreamLineWriter(std::FILE* stream, const char* name) : stream_(stream), name_(name) {}

  Status Write(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size() ||
        std::fflush(stream_) != 0) {
      return Status::FromErrno(errno, std::string("Cannot write rows to ") + name_);
    }
    return {};
  }

 private:
  std::FILE* const stream_;
  const char* const name_;
  std::mutex mutex_;
};

/// Formats a batch into one text and hands it over in one piece, so that lines of subtasks never
/// mix and nothing waits in a buffer between batches.
class PrintOperator final : public runtime::Operator {
 public:
  PrintOperator(Schema schema, std::string identifier, LineWriter* writer)
      : schema_(std::move(schema)), prefix_(std::move(identifier)), writer_(writer) {}

  Status Open(runtime::TaskContext& context) override {
    SLUICE_RETURN_NOT_OK(Operator::Open(context));
    if (context.parallelism > 1) {
      if (!prefix_.empty()) prefix_ += ':';
      prefix_ += std::to_string(context.subtask + 1);
    }
    if (!prefix_.empty()) prefix_ += "> ";
    rows_out_ = &context.metrics->Counter(runtime::metric::kRowsOut);
    return {};
  }

  Status Process(Batch batch, runtime::Output& out) override {
    (void)out;
    if (batch.row_count() == 0) return {};
    lines_.clear();
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      lines_ += prefix_;
      AppendRowText(schema_, batch, row, &lines_);
      lines_ += '\n';
    }
    SLUICE_RETURN_NOT_OK(writer_->Write(lines_));
    rows_out_->fetch_add(batch.row_count(), std::memory_order_relaxed);
    return {};
  }

 private:
  const Schema schema_;
  std::string prefix_;
  LineWriter* const writer_;
  std::string lines_;
  std::atomic<int64_t>* rows_out_ = nullptr;
};

const OptionSpec kOptions[] = {
    {.key = "print-identifier",
     .type = OptionType::kString,
     .doc =
         "Text in front of every line, followed by the subtask's number when there are several."},
    {.key = "standard-error",
     .type = OptionType::kBoolean,
     .default_text = "false",
     .doc = "Write to standard error instead of standard output."},
    {.key = "sink.parallelism",
     .type = OptionType::kInt,
     .doc = "Subtasks of the sink; that of its input when absent."},
};

std::vector<OptionSpec> AllOptions() {
  std::vector<OptionSpec> specs(std::begin(kOptions), std::end(kOptions));
  const std::span<const OptionSpec> generic = GenericTableOptions();
  specs.insert(specs.end(), generic.begin(), generic.end());
  return specs;
}

class PrintSink final : public TableSink {
 public:
  PrintSink(Schema physical, std::vector<std::string> partition_keys, std::string identifier,
            bool standard_error, int parallelism)
      : schema_(std::move(physical)),
        partition_keys_(std::move(partition_keys)),
        identifier_(std::move(identifier)),
        standard_error_(standard_error),
        parallelism_(parallelism) {}

  RowKindSet accepted_kinds() const override { return RowKindSet::All(); }
  bool supports_partitioning() const override { return true; }

  Result<SinkPlan> MakePlan(const SinkRequest& request) override {
    std::string identifier = identifier_;
    for (const std::string& key : partition_keys_) {
      for (const auto& [name, value] : request.static_partition) {
        if (name != key) continue;
        if (!identifier.empty()) identifier += ':';
        identifier += key + "=" + value;
      }
    }
    SinkPlan plan;
    SinkPlan::Stage stage;
    stage.parallelism = parallelism_;
    stage.operator_spec = {
        .id = request.operator_id,
        .name = "print",
        .make = [schema = schema_, identifier = std::move(identifier),
                 error = standard_error_](int) -> Result<std::unique_ptr<runtime::Operator>> {
          return MakePrintOperator(
              schema, identifier,
              error ? &LineWriter::StandardError() : &LineWriter::StandardOutput());
        },
    };
    plan.stages.push_back(std::move(stage));
    return plan;
  }

 private:
  const Schema schema_;
  const std::vector<std::string> partition_keys_;
  const std::string identifier_;
  const bool standard_error_;
  const int parallelism_;  // 0 = that of the input.
};

Status Validate(const TableInfo& table, const ConnectorContext& context) {
  (void)context;
  const std::vector<OptionSpec> specs = AllOptions();
  SLUICE_RETURN_NOT_OK(ValidateOptions("print", table.options, specs));
  const OptionReader options(table.options, specs);
  if (options.Has("sink.parallelism")) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t parallelism, options.Integer("sink.parallelism"));
    if (parallelism < 1) {
      return Status::InvalidArgument("Invalid value for option 'sink.parallelism': " +
                                     std::to_string(parallelism) + ". It must be at least 1.");
    }
  }
  return {};
}

Result<std::unique_ptr<TableSink>> MakeSink(const TableInfo& table,
                                            const ConnectorContext& context) {
  SLUICE_RETURN_NOT_OK(Validate(table, context));
  const std::vector<OptionSpec> specs = AllOptions();
  const OptionReader options(table.options, specs);
  SLUICE_ASSIGN_OR_RETURN(const bool standard_error, options.Boolean("standard-error"));
  int64_t parallelism = 0;
  if (options.Has("sink.parallelism")) {
    SLUICE_ASSIGN_OR_RETURN(parallelism, options.Integer("sink.parallelism"));
  }
  return std::make_unique<PrintSink>(table.physical, table.partition_keys,
                                     options.Text("print-identifier").value_or(""), standard_error,
                                     static_cast<int>(parallelism));
}

}  // namespace

LineWriter& LineWriter::StandardOutput() {
  static StreamLineWriter writer(stdout, "standard output");
  return writer;
}

LineWriter& LineWriter::StandardError() {
  static StreamLineWriter writer(stderr, "standard error");
  return writer;
}

std::unique_ptr<runtime::Operator> MakePrintOperator(Schema schema, std::string identifier,
                                                     LineWriter* writer) {
  return std::make_unique<PrintOperator>(std::move(schema), std::move(identifier), writer);
}

const Connector kPrintConnector{
    .name = "print",
    .doc = "Writes every row as a line on standard output or standard error.",
    .options = kOptions,
    .validate = &Validate,
    .make_sink = &MakeSink,
};

}  // namespace sluice::connectors
