// What encoding the columns of `orders` as Parquet costs: limit_parquet_encode ROWS [ROWS-A-GROUP]
// writes batches that stand ready in memory with Arrow's writer (snappy) to a file that is nowhere.
#include <cstdlib>

#include <arrow/api.h>
#include <arrow/io/interfaces.h>
#include <parquet/arrow/writer.h>

#include "../generate/random.h"
#include "limit.h"

namespace {

constexpr int64_t kBatchRows = 131'072;

class NullFile final : public arrow::io::OutputStream {
 public:
  NullFile() { set_mode(arrow::io::FileMode::WRITE); }
  arrow::Status Close() override {
    closed_ = true;
    return {};
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Write(const void* /*data*/, int64_t bytes) override {
    position_ += bytes;
    return {};
  }

 private:
  bool closed_ = false;
  int64_t position_ = 0;
};

arrow::Result<std::shared_ptr<arrow::RecordBatch>> MakeBatch() {
  arrow::Int64Builder order_id;
  arrow::Int32Builder user_id;
  arrow::DoubleBuilder amount;
  arrow::StringBuilder note;
  for (int64_t row = 0; row < kBatchRows; ++row) {
    sluice::bench::RowRandom random(1, static_cast<uint64_t>(row));
    ARROW_RETURN_NOT_OK(order_id.Append(row));
    ARROW_RETURN_NOT_OK(user_id.Append(static_cast<int32_t>(random.Below(100'000))));
    ARROW_RETURN_NOT_OK(amount.Append(static_cast<double>(random.Below(100'000)) / 100));
    std::string text(20, 'a');
    for (char& letter : text) letter = static_cast<char>('a' + random.Below(26));
    ARROW_RETURN_NOT_OK(note.Append(text));
  }
  arrow::ArrayVector columns(4);
  ARROW_ASSIGN_OR_RAISE(columns[0], order_id.Finish());
  ARROW_ASSIGN_OR_RAISE(columns[1], user_id.Finish());
  ARROW_ASSIGN_OR_RAISE(columns[2], amount.Finish());
  ARROW_ASSIGN_OR_RAISE(columns[3], note.Finish());
  const auto schema = arrow::schema(
      {arrow::field("order_id", arrow::int64()), arrow::field("user_id", arrow::int32()),
       arrow::field("amount", arrow::float64()), arrow::field("note", arrow::utf8())});
  return arrow::RecordBatch::Make(schema, kBatchRows, std::move(columns));
}

arrow::Status Encode(int64_t rows, int64_t group_rows) {
  ARROW_ASSIGN_OR_RAISE(const auto batch, MakeBatch());
  const auto properties = parquet::WriterProperties::Builder()
                              .compression(arrow::Compression::SNAPPY)
                              ->max_row_group_length(group_rows)
                              ->build();
  const sluice::bench::Stopwatch watch;
  ARROW_ASSIGN_OR_RAISE(const auto writer, parquet::arrow::FileWriter::Open(
                                               *batch->schema(), arrow::default_memory_pool(),
                                               std::make_shared<NullFile>(), properties));
  int64_t written = 0;
  for (; written < rows; written += kBatchRows)
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  ARROW_RETURN_NOT_OK(writer->Close());
  sluice::bench::Report("parquet encode", "rows", static_cast<double>(written), watch);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const int64_t group_rows = argc > 2 ? std::atoll(argv[2]) : 1'048'576;
  const arrow::Status status = Encode(rows, group_rows);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
