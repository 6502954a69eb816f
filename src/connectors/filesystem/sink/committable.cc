#include "connectors/filesystem/sink/committable.h"

#include <arrow/array/array_binary.h>
#include <arrow/array/builder_binary.h>

namespace sluice::connectors::filesystem {
namespace {

constexpr uint8_t kVersion = 1;

void PutOpenFile(const OpenFile& file, ByteWriter* out) {
  out->PutText(file.handle);
  PutPartition(file.partition, out);
  out->PutI64(file.first_row_ms);
}

OpenFile ReadOpenFile(ByteReader* in) {
  OpenFile file;
  file.handle = in->Text();
  file.partition = ReadPartition(in);
  file.first_row_ms = in->I64();
  return file;
}

Status DecodeReport(std::string_view bytes, const std::shared_ptr<const void>& owner,
                    ReportReceiver* receiver) {
  ByteReader in(bytes);
  if (in.U8() != kVersion) return Status::Corrupt("A report of a file writer has an unknown form.");
  WriterReport report;
  report.checkpoint = in.I64();
  report.subtask = static_cast<int>(in.I64());
  report.name_prefix = in.Text();
  report.next_number = in.I64();
  for (size_t count = in.Count(); count > 0 && in.ok(); --count) {
    const std::string_view rest = in.rest();
    ReceivedFile received{report.checkpoint, ReadCommittable(&in), {}, owner};
    if (!in.ok()) break;
    received.bytes = rest.substr(0, rest.size() - in.rest().size());
    SLUICE_RETURN_NOT_OK(receiver->AddFile(std::move(received)));
  }
  for (size_t count = in.Count(); count > 0 && in.ok(); --count) {
    report.open_files.push_back(ReadOpenFile(&in));
  }
  if (!in.AtEnd()) return Status::Corrupt("A report of a file writer is cut short or too long.");
  return receiver->AddReport(report);
}

/// More than enough for one: a report of tens of thousands is not copied again and again.
size_t MostBytesOf(const FileCommittable& file) {
  size_t bytes = 128 + file.handle.size() + file.partition.directory.size();
  for (const auto& value : file.partition.values) bytes += 16 + (value ? value->size() : 0);
  return bytes;
}

}  // namespace

void PutPartition(const PartitionRef& partition, ByteWriter* out) {
  out->PutText(partition.directory);
  out->PutU64(partition.values.size());
  for (const auto& value : partition.values) out->PutOptionalText(value);
}

PartitionRef ReadPartition(ByteReader* in) {
  PartitionRef partition;
  partition.directory = in->Text();
  for (size_t count = in->Count(); count > 0 && in->ok(); --count) {
    partition.values.push_back(in->OptionalText());
  }
  return partition;
}

void PutCommittable(const FileCommittable& file, ByteWriter* out) {
  out->PutText(file.handle);
  PutPartition(file.partition, out);
  out->PutI64(file.row_count);
  out->PutI64(file.size_bytes);
  out->PutI64(file.first_row_ms);
  out->PutU8(file.named ? 1 : 0);
}

FileCommittable ReadCommittable(ByteReader* in) {
  FileCommittable file;
  file.handle = in->Text();
  file.partition = ReadPartition(in);
  file.row_count = in->I64();
  file.size_bytes = in->I64();
  file.first_row_ms = in->I64();
  file.named = in->U8() != 0;
  return file;
}

Batch EncodeReport(const WriterReport& report) {
  size_t most_bytes = 128 + report.name_prefix.size();
  for (const FileCommittable& file : report.files) most_bytes += MostBytesOf(file);
  ByteWriter out;
  out.Reserve(most_bytes);
  out.PutU8(kVersion);
  out.PutI64(report.checkpoint);
  out.PutI64(report.subtask);
  out.PutText(report.name_prefix);
  out.PutI64(report.next_number);
  out.PutU64(report.files.size());
  for (const FileCommittable& file : report.files) PutCommittable(file, &out);
  out.PutU64(report.open_files.size());
  for (const OpenFile& file : report.open_files) PutOpenFile(file, &out);
  std::string bytes = std::move(out).Take();

  const int32_t size = static_cast<int32_t>(bytes.size());
  const int32_t offsets[] = {0, size};
  auto array = std::make_shared<arrow::BinaryArray>(
      1, arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(offsets), 8)),
      arrow::Buffer::FromString(std::move(bytes)));
  static const auto kSchema = arrow::schema({arrow::field("report", arrow::binary(), false)});
  return Batch(arrow::RecordBatch::Make(kSchema, 1, {std::move(array)}));
}

Status DecodeReports(const Batch& batch, ReportReceiver* receiver) {
  const auto& column = static_cast<const arrow::BinaryArray&>(*batch.column(0));
  for (int64_t row = 0; row < column.length(); ++row) {
    SLUICE_RETURN_NOT_OK(DecodeReport(column.GetView(row), column.value_data(), receiver));
  }
  return {};
}

}  // namespace sluice::connectors::filesystem
