#include "connectors/quarantine/quarantine.h"

#include <algorithm>

#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/record_batch.h>
#include <nlohmann/json.hpp>

#include "common/base64.h"
#include "common/text.h"
#include "types/arrow_status.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::connectors {
namespace {

constexpr std::string_view kFilesField = "quarantine_files";
constexpr std::string_view kRecordsField = "quarantine_records";
constexpr std::string_view kBadRecordsField = "quarantine_bad_records";
/// Below it a share says little.
constexpr int64_t kLeastRecordsForRatio = 1'000;

/// "2026-11-30T09:58:08.311Z".
std::string IsoTime(int64_t millis) {
  std::string text;
  AppendTimestampText(FloorDiv(millis, 1'000),
                      static_cast<int32_t>(FloorMod(millis, 1'000) * 1'000'000), 3, &text);
  text[text.find(' ')] = 'T';
  return text + 'Z';
}

/// Letters and digits of an id, enough of them to be nobody else's.
std::string ShortId(std::string_view id) {
  std::string text;
  for (const char c : id) {
    if (std::isalnum(static_cast<unsigned char>(c)) && text.size() < 16) text += c;
  }
  return text;
}

int32_t RecordOf(const formats::DecodedRows& decoded, int64_t row) {
  return decoded.record_of_row.empty() ? static_cast<int32_t>(row)
                                       : decoded.record_of_row[static_cast<size_t>(row)];
}

/// `bad_records` sorted.
Status RemoveRows(const std::vector<int64_t>& bad_records, formats::DecodedRows* decoded) {
  arrow::Int64Builder kept;
  std::vector<int32_t> record_of_row;
  for (int64_t row = 0; row < decoded->rows.row_count(); ++row) {
    const int32_t record = RecordOf(*decoded, row);
    if (std::binary_search(bad_records.begin(), bad_records.end(), record)) continue;
    SLUICE_RETURN_ARROW(kept.Append(row));
    record_of_row.push_back(record);
  }
  if (kept.length() == decoded->rows.row_count()) return {};
  std::shared_ptr<arrow::Array> indices;
  SLUICE_RETURN_ARROW(kept.Finish(&indices));
  const auto options = arrow::compute::TakeOptions::NoBoundsCheck();
  arrow::ArrayVector columns;
  for (const auto& column : decoded->rows.rows()->columns()) {
    SLUICE_ASSIGN_ARROW(std::shared_ptr<arrow::Array> taken,
                        arrow::compute::Take(*column, *indices, options));
    columns.push_back(std::move(taken));
  }
  std::shared_ptr<arrow::Int8Array> kinds = decoded->rows.row_kinds();
  if (kinds) {
    SLUICE_ASSIGN_ARROW(const std::shared_ptr<arrow::Array> taken,
                        arrow::compute::Take(*kinds, *indices, options));
    kinds = std::static_pointer_cast<arrow::Int8Array>(taken);
  }
  decoded->rows = Batch(arrow::RecordBatch::Make(decoded->rows.rows()->schema(), indices->length(),
                                                 std::move(columns)),
                        std::move(kinds));
  decoded->record_of_row = std::move(record_of_row);
  return {};
}

}  // namespace

Result<std::vector<QuarantinedRecord>> TakeOutBadRecords(
    formats::DecodedRows* decoded, bool keep_nulled,
    const std::function<std::string_view(const formats::BadRecord&)>& raw_of,
    const std::function<int64_t(const formats::BadRecord&)>& position_of) {
  std::vector<QuarantinedRecord> taken;
  std::vector<int64_t> records;
  std::vector<const formats::BadRecord*> bad;
  for (const formats::BadRecord& record : decoded->bad) {
    if (!record.field_only || !keep_nulled) bad.push_back(&record);
  }
  std::stable_sort(bad.begin(), bad.end(),
                   [](const auto* a, const auto* b) { return a->record < b->record; });
  for (const formats::BadRecord* record : bad) {
    if (!records.empty() && records.back() == record->record) continue;  // Its first fault tells.
    records.push_back(record->record);
    taken.push_back({.raw = std::string(raw_of(*record)),
                     .position = position_of(*record),
                     .column = record->column,
                     .reason = record->reason});
  }
  if (!records.empty()) SLUICE_RETURN_NOT_OK(RemoveRows(records, decoded));
  return taken;
}

std::string_view FirstRecord(std::string_view rest, formats::RowFramer* framer) {
  size_t end = rest.size();
  for (size_t at = rest.find('\n'); at != std::string_view::npos; at = rest.find('\n', at + 1)) {
    if (framer->CompletePrefix(rest.substr(0, at + 1), false) == 0) continue;
    end = at;
    break;
  }
  std::string_view record = rest.substr(0, end);
  if (!record.empty() && record.back() == '\r') record.remove_suffix(1);
  return record;
}

Result<std::shared_ptr<Quarantine>> Quarantine::Open(BadRecordOptions options,
                                                     std::string table_identifier,
                                                     const runtime::RestoredSourceState* restored) {
  std::shared_ptr<Quarantine> quarantine(
      new Quarantine(std::move(options), std::move(table_identifier)));
  if (quarantine->options_.puts_aside()) {
    // What cannot be written later should be told now.
    SLUICE_RETURN_NOT_OK(quarantine->Explained(
        quarantine->options_.file_system->CreateDirectories(quarantine->options_.directory)));
  }
  if (restored != nullptr) SLUICE_RETURN_NOT_OK(quarantine->Restore(*restored));
  return quarantine;
}

Status Quarantine::Restore(const runtime::RestoredSourceState& restored) {
  for (const runtime::StateReader& reader : restored.readers) {
    if (!reader.Has(kRecordsField)) continue;
    SLUICE_ASSIGN_OR_RETURN(const int64_t records, reader.GetI64(kRecordsField));
    SLUICE_ASSIGN_OR_RETURN(const int64_t bad_records, reader.GetI64(kBadRecordsField));
    restored_records_ += records;
    restored_bad_records_ += bad_records;
    SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> files, reader.GetStrings(kFilesField));
    for (size_t i = 0; i + 1 < files.size(); i += 2) {
      if (options_.puts_aside()) SLUICE_RETURN_NOT_OK(WriteFile(files[i], files[i + 1]));
    }
  }
  records_ = restored_records_;
  bad_records_ = restored_bad_records_;
  return {};
}

Status Quarantine::Count(int64_t records, int64_t bad_records) {
  const int64_t all = records_.fetch_add(records) + records;
  const int64_t bad = bad_records_.fetch_add(bad_records) + bad_records;
  if (bad_records == 0) return {};
  if (options_.max_count && bad > *options_.max_count) {
    return Status::DataError("Table " + table_identifier_ + " has more than " +
                             std::to_string(*options_.max_count) +
                             " bad records, the limit of 'bad-records.max-count'. Correct the "
                             "data or the table, or raise the limit; then run the job again.");
  }
  const double ratio = static_cast<double>(bad) / static_cast<double>(std::max<int64_t>(all, 1));
  if (options_.max_ratio && all >= kLeastRecordsForRatio && ratio > *options_.max_ratio) {
    return Status::DataError("Of the " + std::to_string(all) + " records of table " +
                             table_identifier_ + " so far, " + std::to_string(bad) +
                             " are bad: more than the share that 'bad-records.max-ratio' allows. "
                             "Correct the data or the table, or raise the limit; then run the job "
                             "again.");
  }
  return {};
}

Status Quarantine::WriteFile(const std::string& name, const std::string& content) const {
  return Explained(
      options_.file_system->WriteWhole(fs::JoinPath(options_.directory, name), content));
}

Status Quarantine::Explained(Status status) const {
  return std::move(status).WithContext("Cannot put bad records of table " + table_identifier_ +
                                       " aside ('bad-records.path'):");
}

QuarantineBuffer::QuarantineBuffer(std::shared_ptr<Quarantine> quarantine,
                                   const runtime::TaskContext* context)
    : quarantine_(std::move(quarantine)),
      context_(context),
      max_pending_bytes_(context->budget == nullptr
                             ? int64_t{64} << 20
                             : std::max<int64_t>(context->budget->limit_bytes() / 8, 1 << 20)) {
  if (context->subtask != 0) return;
  records_ = quarantine_->restored_records();
  bad_records_ = quarantine_->restored_bad_records();
}

Status QuarantineBuffer::Add(const std::string& source, int64_t records, int64_t bad_records,
                             const std::vector<QuarantinedRecord>& taken_out) {
  {
    const std::lock_guard lock(progress_->mutex);
    SLUICE_RETURN_NOT_OK(progress_->failure);
  }
  records_ += records;
  bad_records_ += bad_records;
  SLUICE_RETURN_NOT_OK(quarantine_->Count(records, bad_records));
  for (const QuarantinedRecord& record : taken_out) AppendLine(source, record);
  if (static_cast<int64_t>(pending_.size()) <= max_pending_bytes_) return {};
  return Status::DataError(
      "The bad records of table " + quarantine_->table_identifier() +
      " since the last checkpoint take more than " + std::to_string(max_pending_bytes_ >> 20) +
      " MiB, an eighth of the job's memory. Most of the input is bad: correct the table, take "
      "checkpoints more often, or raise 'sluice.memory.limit'.");
}

void QuarantineBuffer::AppendLine(const std::string& source, const QuarantinedRecord& record) {
  nlohmann::ordered_json line;
  line["table"] = quarantine_->table_identifier();
  line["source"] = source;
  line["position"] = record.position;
  if (!record.column.empty()) line["column"] = record.column;
  line["reason"] = record.reason;
  line["time"] = IsoTime(context_->clock->NowMillis());
  if (IsValidUtf8(record.raw)) {
    line["raw"] = record.raw;
  } else {
    line["raw_base64"] = EncodeBase64(record.raw);
  }
  pending_ += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  pending_ += '\n';
}

void QuarantineBuffer::Snapshot(runtime::CheckpointId id, runtime::StateWriter* state) {
  std::erase_if(files_, [](const auto& file) { return file->written.load(); });
  if (!pending_.empty()) {
    auto file = std::make_shared<File>();
    file->checkpoint = id;
    file->name = "bad-" + ShortId(context_->job_id) + "-" + ShortId(context_->attempt_id) + "-" +
                 std::to_string(context_->subtask) + "-" + std::to_string(id) + ".jsonl";
    file->content = std::move(pending_);
    pending_.clear();
    files_.push_back(std::move(file));
  }
  std::vector<std::string> names_and_contents;
  for (const auto& file : files_) {
    names_and_contents.push_back(file->name);
    names_and_contents.push_back(file->content);
  }
  state->PutI64(kRecordsField, records_);
  state->PutI64(kBadRecordsField, bad_records_);
  state->PutStrings(kFilesField, names_and_contents);
}

void QuarantineBuffer::CheckpointComplete(runtime::CheckpointId id) {
  for (const auto& file : files_) {
    if (file->checkpoint > id || file->checkpoint == 0) continue;
    file->checkpoint = 0;  // Under way.
    ++progress_->under_way;
    const auto write = [quarantine = quarantine_, progress = progress_, file,
                        wake = context_->wake] {
      Status status = quarantine->WriteFile(file->name, file->content);
      if (status.ok()) {
        file->written = true;
      } else {
        const std::lock_guard lock(progress->mutex);
        progress->failure = std::move(status);
      }
      --progress->under_way;
      wake();
    };
    if (context_->io_pool != nullptr) {
      context_->io_pool->Submit(write);
    } else {
      write();
    }
  }
}

Result<bool> QuarantineBuffer::Drained() const {
  const std::lock_guard lock(progress_->mutex);
  SLUICE_RETURN_NOT_OK(progress_->failure);
  return progress_->under_way.load() == 0;
}

}  // namespace sluice::connectors
