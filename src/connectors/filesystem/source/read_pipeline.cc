#include "connectors/filesystem/source/read_pipeline.h"

#include <arrow/record_batch.h>

namespace sluice::connectors::filesystem {

void ReadPipeline::Advance(const std::function<std::optional<FileSplit>()>& next_split) {
  bool fetch = false;
  {
    const std::lock_guard lock(mutex_);
    if (!fetching_ && units_.size() < settings_.window) {
      if (open_ == nullptr) {
        if (std::optional<FileSplit> split = next_split()) {
          open_ = std::make_shared<OpenSplitState>();
          open_->split = std::move(*split);
        }
      }
      fetch = open_ != nullptr;
      fetching_ = fetch;
    }
  }
  if (fetch) StartFetch();
  StartDecodes();
}

void ReadPipeline::StartFetch() {
  settings_.io_pool->Submit([weak = weak_from_this(), open = open_] {
    if (const auto self = weak.lock()) self->Fetch(open);
  });
}

void ReadPipeline::Fetch(std::shared_ptr<OpenSplitState> open) {
  auto unit = std::make_shared<ReadUnit>();
  unit->status = FetchInto(open.get(), unit.get());
  unit->columns = open->columns;
  if (!unit->status.ok()) {
    unit->fetched.last = true;
    unit->vanished = unit->status.code() == StatusCode::kNotFound;
    unit->state = ReadUnit::State::kReady;
  }
  {
    const std::lock_guard lock(mutex_);
    if (unit->fetched.last) open_.reset();
    fetching_ = false;
    units_.push_back(std::move(unit));
  }
  settings_.wake();
}

Status ReadPipeline::FetchInto(OpenSplitState* open, ReadUnit* unit) {
  if (open->reader == nullptr) {
    SLUICE_ASSIGN_OR_RETURN(open->columns,
                            SplitColumns::Make(spec_, open->split, settings_.memory_pool));
    SLUICE_ASSIGN_OR_RETURN(open->reader, OpenSplit(spec_, open->split, settings_.memory_pool));
  }
  SLUICE_ASSIGN_OR_RETURN(unit->fetched, open->reader->Fetch());
  return {};
}

void ReadPipeline::StartDecodes() {
  std::vector<std::shared_ptr<ReadUnit>> to_decode;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& unit : units_) {
      if (unit->state == ReadUnit::State::kFetched) {
        unit->state = ReadUnit::State::kDecoding;
        to_decode.push_back(unit);
        if (settings_.compute_pool == nullptr) break;
      } else if (settings_.compute_pool == nullptr) {
        break;  // Inline: the oldest is ready, its turn to be emitted comes first.
      }
    }
  }
  for (const auto& unit : to_decode) {
    if (settings_.compute_pool == nullptr) {
      Finish(unit);
      continue;
    }
    settings_.compute_pool->Submit([weak = weak_from_this(), unit] {
      if (const auto self = weak.lock()) {
        self->Finish(unit);
        self->settings_.wake();
      }
    });
  }
}

void ReadPipeline::Finish(const std::shared_ptr<ReadUnit>& unit) {
  Status status;
  try {
    status = Decode(unit.get());
  } catch (const std::bad_alloc&) {
    status = Status::Unavailable("Not enough memory to decode a chunk of " +
                                 std::to_string(unit->fetched.bytes.size()) + " bytes.");
  }
  const std::lock_guard lock(mutex_);
  unit->status = std::move(status);
  unit->state = ReadUnit::State::kReady;
}

Result<std::unique_ptr<formats::RowDecoder>> ReadPipeline::TakeDecoder() {
  {
    const std::lock_guard lock(mutex_);
    if (!decoders_.empty()) {
      std::unique_ptr<formats::RowDecoder> decoder = std::move(decoders_.back());
      decoders_.pop_back();
      return decoder;
    }
  }
  formats::FormatContext context;
  context.session_zone = spec_->session_zone;
  context.pool = settings_.memory_pool;
  context.keep_bad_records = spec_->bad_records.puts_aside();
  return spec_->format->make_decoder(spec_->format_options, spec_->read_schema, context);
}

Status ReadPipeline::Decode(ReadUnit* unit) {
  Batch decoded;
  if (unit->fetched.rows) {
    decoded = std::move(*unit->fetched.rows);
    unit->record_count = decoded.row_count();
  } else {
    if (unit->fetched.bytes.empty()) return {};
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<formats::RowDecoder> decoder, TakeDecoder());
    SLUICE_ASSIGN_OR_RETURN(formats::DecodedRows rows,
                            decoder->DecodeChunk(unit->fetched.bytes, unit->fetched.first_in_file));
    if (spec_->bad_records.puts_aside() && !rows.bad.empty())
      SLUICE_RETURN_NOT_OK(TakeOutBad(&rows, unit));
    decoded = std::move(rows.rows);
    unit->record_count = rows.record_count;
    unit->line_count = rows.line_count;
    unit->bad = std::move(rows.bad);
    unit->bad_count = rows.bad_count;
    unit->ignored_count = rows.ignored_count;
    unit->failed = rows.failed;
    unit->fetched.bytes = std::string();
    const std::lock_guard lock(mutex_);
    decoders_.push_back(std::move(decoder));
  }
  if (unit->failed || decoded.row_count() == 0) return {};
  SLUICE_ASSIGN_OR_RETURN(Batch complete, unit->columns->Complete(decoded));
  SLUICE_ASSIGN_OR_RETURN(unit->out, spec_->transform(std::move(complete)));
  return {};
}

Status ReadPipeline::TakeOutBad(formats::DecodedRows* rows, ReadUnit* unit) const {
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<formats::RowFramer> framer,
                          spec_->format->make_framer(spec_->format_options));
  const std::string_view chunk = unit->fetched.bytes;
  const auto raw_of = [&](const formats::BadRecord& bad) {
    const std::string_view rest =
        chunk.substr(std::min(static_cast<size_t>(bad.byte_offset), chunk.size()));
    return bad.byte_length > 0 ? rest.substr(0, static_cast<size_t>(bad.byte_length))
                               : FirstRecord(rest, framer.get());
  };
  SLUICE_ASSIGN_OR_RETURN(unit->taken_out,
                          TakeOutBadRecords(rows, spec_->bad_records.keep_rows_with_nulled_fields,
                                            raw_of, [unit](const formats::BadRecord& bad) {
                                              return unit->fetched.begin + bad.byte_offset;
                                            }));
  return {};
}

std::shared_ptr<ReadUnit> ReadPipeline::TakeReady() {
  const std::lock_guard lock(mutex_);
  if (units_.empty() || units_.front()->state != ReadUnit::State::kReady) return nullptr;
  std::shared_ptr<ReadUnit> unit = std::move(units_.front());
  units_.pop_front();
  return unit;
}

bool ReadPipeline::Idle() const {
  const std::lock_guard lock(mutex_);
  return units_.empty() && open_ == nullptr && !fetching_;
}

}  // namespace sluice::connectors::filesystem
