// Bytes as a Parquet file that is merged: its footer is read and moved by our own code, and whoever
// wrote it, the merge gives a file or a reason.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>

#include "common/check.h"
#include "formats/parquet/join_files.h"
#include "formats/parquet/parquet_footer.h"

namespace {

using namespace sluice::formats::parquet_format;  // NOLINT: one small file.

void CheckFooter(std::string_view bytes) {
  const auto footer = ParquetFooter::Parse(bytes);
  if (!footer.ok()) return;
  const std::string once = footer->Serialize();
  const auto again = ParquetFooter::Parse(once);
  SLUICE_CHECK(again.ok(), "a written footer is not read: " + again.status().ToString());
  SLUICE_CHECK(again->Serialize() == once, "a footer changes");
}

std::shared_ptr<arrow::io::RandomAccessFile> FileOf(const std::string& bytes) {
  return std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
}

/// Row groups of small files are kept only when there is one of them, so one file is enough.
void CheckJoin(const std::string& bytes) {
  const std::shared_ptr<arrow::io::RandomAccessFile> inputs[] = {FileOf(bytes)};
  auto out = arrow::io::BufferOutputStream::Create().ValueOrDie();
  if (!JoinParquetFiles(inputs, out.get()).ok()) return;
  const std::string joined = out->Finish().ValueOrDie()->ToString();
  int64_t offset = 0;
  const auto footer = ParquetFooter::Read(FileOf(joined).get(), &offset);
  SLUICE_CHECK(footer.ok(), "a merged file is not read: " + footer.status().ToString());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  CheckFooter(bytes);
  CheckJoin(bytes);
  return 0;
}
