#include "connectors/blackhole/blackhole_connector.h"

#include <atomic>

#include "runtime/operator.h"

namespace sluice::connectors {
namespace {

/// Counts rows and drops them.
class BlackholeOperator final : public runtime::Operator {
 public:
  Status Open(runtime::TaskContext& context) override {
    rows_out_ = &context.metrics->Counter(runtime::metric::kRowsOut);
    return Operator::Open(context);
  }

  Status Process(Batch batch, runtime::Output& out) override {
    (void)out;
    rows_out_->fetch_add(batch.row_count(), std::memory_order_relaxed);
    return {};
  }

 private:
  std::atomic<int64_t>* rows_out_ = nullptr;
};

class BlackholeSink final : public TableSink {
 public:
  /// Rows before an update would only be dropped, so the plan need not make them.
  RowKindSet accepted_kinds() const override {
    return {.update_before = false, .update_after = true, .remove = true};
  }
  bool supports_partitioning() const override { return true; }

  Result<SinkPlan> MakePlan(const SinkRequest& request) override {
    SinkPlan plan;
    SinkPlan::Stage stage;
    stage.operator_spec = {
        .id = request.operator_id,
        .name = "blackhole",
        .make = [](int) -> Result<std::unique_ptr<runtime::Operator>> {
          return std::make_unique<BlackholeOperator>();
        },
    };
    plan.stages.push_back(std::move(stage));
    return plan;
  }
};

Status Validate(const TableInfo& table, const ConnectorContext& context) {
  (void)context;
  return ValidateOptions("blackhole", table.options, GenericTableOptions());
}

Result<std::unique_ptr<TableSink>> MakeSink(const TableInfo& table,
                                            const ConnectorContext& context) {
  SLUICE_RETURN_NOT_OK(Validate(table, context));
  return std::make_unique<BlackholeSink>();
}

}  // namespace

const Connector kBlackholeConnector{
    .name = "blackhole",
    .doc = "Takes every row and keeps none: for measuring what comes before it.",
    .validate = &Validate,
    .make_sink = &MakeSink,
};

}  // namespace sluice::connectors
