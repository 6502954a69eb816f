#include "connectors/datagen/datagen_connector.h"

#include <algorithm>
#include <numeric>

#include "connectors/datagen/datagen_options.h"
#include "connectors/datagen/datagen_source.h"

namespace sluice::connectors {
namespace {

class DatagenTableSource final : public TableSource {
 public:
  explicit DatagenTableSource(DatagenScan scan) : scan_(std::move(scan)) {}

  bool bounded() const override { return scan_.plan.row_limit.has_value(); }

  Status ApplyProjection(std::vector<int> columns,
                         std::vector<std::string> metadata_keys) override {
    if (!metadata_keys.empty()) {
      return Status::Validation("datagen offers no metadata columns, '" + metadata_keys.front() +
                                "' was asked for.");
    }
    scan_.projection = std::move(columns);
    return {};
  }

  bool ApplyLimit(int64_t rows) override {
    scan_.plan.row_limit = std::min(scan_.plan.row_limit.value_or(rows), rows);
    return true;
  }

  Result<std::shared_ptr<runtime::Source>> MakeSource(
      const runtime::SourceRuntimeOptions& options) override {
    return MakeDatagenSource(scan_, options);
  }

 private:
  DatagenScan scan_;
};

Status Validate(const TableInfo& table, const ConnectorContext& context) {
  (void)context;
  return PlanDatagen(table.options, table.physical).status();
}

Result<std::unique_ptr<TableSource>> MakeSource(const TableInfo& table,
                                                const ConnectorContext& context) {
  DatagenScan scan;
  SLUICE_ASSIGN_OR_RETURN(scan.plan, PlanDatagen(table.options, table.physical));
  scan.schema = table.physical;
  scan.projection.resize(static_cast<size_t>(table.physical.column_count()));
  std::iota(scan.projection.begin(), scan.projection.end(), 0);
  scan.session_zone = context.session_zone;
  return std::make_unique<DatagenTableSource>(std::move(scan));
}

}  // namespace

const Connector kDatagenConnector{
    .name = "datagen",
    .doc = "Makes up rows: random values or sequences, at a given rate, with or without an end.",
    .options = DatagenOptions(),
    .validate = &Validate,
    .make_source = &MakeSource,
};

}  // namespace sluice::connectors
