#include "connectors/filesystem/source/read_pipeline.h"

#include <algorithm>

#include <arrow/record_batch.h>

#include "connectors/filesystem/source/split_aggregator.h"

namespace sluice::connectors::filesystem {

namespace {

// Of a container, in one job: some 50 us each.
constexpr size_t kBatchesAtOnce = 4;

std::shared_ptr<ReadUnit> FailedUnit(Status status) {
  auto unit = std::make_shared<ReadUnit>();
  unit->fetched.last = true;
  unit->vanished = status.code() == StatusCode::kNotFound;
  unit->status = std::move(status);
  unit->state = ReadUnit::State::kReady;
  return unit;
}

std::shared_ptr<ReadUnit> WholeFileUnit(std::string bytes, std::shared_ptr<SplitColumns> columns) {
  auto unit = std::make_shared<ReadUnit>();
  unit->fetched.first_in_file = true;
  unit->fetched.last = true;
  unit->fetched.position = static_cast<int64_t>(bytes.size());
  unit->fetched.bytes_read = static_cast<int64_t>(bytes.size());
  unit->fetched.bytes = std::move(bytes);
  unit->columns = std::move(columns);
  return unit;
}

// Whether a whole file can stand in the middle of a text: it begins like plain text, without a byte
// order mark or the zeros of UTF-16, and its last record is complete. Ends it with a line feed.
bool CanJoin(std::string* bytes, formats::RowFramer* framer) {
  constexpr unsigned char kFirstOfMarks = 0xEF;
  if (bytes->empty()) return true;
  const auto first = static_cast<unsigned char>(bytes->front());
  if (first >= kFirstOfMarks || bytes->find('\0') < 4) return false;
  const bool ended = bytes->back() == '\n';
  if (!ended) bytes->push_back('\n');
  if (framer->CompletePrefix(*bytes, false) == bytes->size()) return true;
  if (!ended) bytes->pop_back();
  return false;
}

}  // namespace

void ReadPipeline::Advance(const std::function<std::vector<FileSplit>()>& next_splits) {
  bool fetch = false;
  {
    const std::lock_guard lock(mutex_);
    if (!fetching_ && units_.size() < settings_.window) {
      if (open_ == nullptr) {
        if (std::vector<FileSplit> splits = next_splits(); !splits.empty()) {
          open_ = std::make_shared<OpenSplitState>();
          open_->splits = std::move(splits);
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
  std::vector<std::shared_ptr<ReadUnit>> units;
  if (spec_->aggregates && spec_->aggregates->told_by_files) {
    units = FetchAggregates(*open);
  } else if (open->splits.size() > 1) {
    units = FetchGroup(open.get());
  } else {
    // Several batches a time where they come decoded: a reader is woken less often.
    do {
      units.push_back(FetchOne(open.get()));
    } while (units.size() < kBatchesAtOnce && units.back()->fetched.rows && !spec_->aggregates &&
             !units.back()->fetched.last);
  }
  {
    const std::lock_guard lock(mutex_);
    if (units.back()->fetched.last) open_.reset();
    fetching_ = false;
    for (auto& unit : units) units_.push_back(std::move(unit));
  }
  settings_.wake();
}

std::shared_ptr<ReadUnit> ReadPipeline::FetchOne(OpenSplitState* open) {
  auto unit = std::make_shared<ReadUnit>();
  Status status = FetchInto(open, unit.get());
  if (!status.ok()) return FailedUnit(std::move(status));
  unit->columns = open->columns;
  return unit;
}

Status ReadPipeline::OpenColumns(OpenSplitState* open) {
  SLUICE_ASSIGN_OR_RETURN(open->columns,
                          SplitColumns::Make(spec_, open->splits.front(), settings_.memory_pool));
  return {};
}

Status ReadPipeline::FetchInto(OpenSplitState* open, ReadUnit* unit) {
  if (open->reader == nullptr) {
    SLUICE_RETURN_NOT_OK(OpenColumns(open));
    SLUICE_ASSIGN_OR_RETURN(open->reader,
                            OpenSplit(spec_, open->splits.front(), settings_.memory_pool));
  }
  SLUICE_ASSIGN_OR_RETURN(unit->fetched, open->reader->Fetch());
  return {};
}

std::vector<std::shared_ptr<ReadUnit>> ReadPipeline::FetchGroup(OpenSplitState* open) {
  std::vector<std::shared_ptr<ReadUnit>> units;
  Status opened = OpenColumns(open);
  auto framer = spec_->format->make_framer(spec_->format_options);
  if (opened.ok()) opened = framer.status();
  std::shared_ptr<ReadUnit> joined;
  for (const FileSplit& split : open->splits) {
    auto bytes =
        opened.ok() ? spec_->file_system->ReadWhole(split.file) : Result<std::string>(opened);
    if (!bytes.ok()) {
      joined = nullptr;
      units.push_back(FailedUnit(bytes.status()));
      continue;
    }
    if (!CanJoin(&*bytes, framer->get())) {
      joined = nullptr;
      units.push_back(WholeFileUnit(std::move(*bytes), open->columns));
      continue;
    }
    if (joined == nullptr) {
      joined = WholeFileUnit({}, open->columns);
      joined->split_count = 0;
      units.push_back(joined);
    }
    ++joined->split_count;
    joined->file_begins.push_back(joined->fetched.bytes.size());
    joined->fetched.bytes += *bytes;
    joined->fetched.bytes_read += split.file.size_bytes;
  }
  return units;
}

std::vector<std::shared_ptr<ReadUnit>> ReadPipeline::FetchAggregates(const OpenSplitState& open) {
  auto made = SplitAggregator::Make(spec_, settings_.memory_pool);
  if (!made.ok()) return {FailedUnit(made.status())};
  auto unit = std::make_shared<ReadUnit>();
  unit->fetched.last = true;
  unit->split_count = 0;
  Status status;
  for (const FileSplit& split : open.splits) {
    status = (*made)->Add(split);
    if (!status.ok()) break;
    unit->fetched.position = split.end;
    unit->fetched.bytes_read += split.file.size_bytes;
    ++unit->split_count;
  }
  if (!status.ok()) {
    // What was begun is not to be told; the job fails with the next unit anyway.
    if (unit->split_count == 0) return {FailedUnit(std::move(status))};
    return {std::move(unit), FailedUnit(std::move(status))};
  }
  auto rows = (*made)->Finish();
  if (!rows.ok()) return {FailedUnit(rows.status())};
  unit->fetched.rows = std::move(*rows);
  return {std::move(unit)};
}

void ReadPipeline::SplitUp(const std::shared_ptr<ReadUnit>& unit) {
  std::vector<std::shared_ptr<ReadUnit>> single;
  const std::string_view bytes = unit->fetched.bytes;
  for (size_t i = 0; i < unit->file_begins.size(); ++i) {
    const size_t begin = unit->file_begins[i];
    const size_t end = i + 1 < unit->file_begins.size() ? unit->file_begins[i + 1] : bytes.size();
    single.push_back(WholeFileUnit(std::string(bytes.substr(begin, end - begin)), unit->columns));
  }
  {
    const std::lock_guard lock(mutex_);
    const auto at = units_.erase(std::find(units_.begin(), units_.end(), unit));
    units_.insert(at, single.begin(), single.end());
  }
  settings_.wake();
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
  if (unit->decode_singly) {
    SplitUp(unit);
    return;
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
    if (unit->split_count > 1 && (rows.bad_count > 0 || rows.failed)) {
      unit->decode_singly = true;
      const std::lock_guard lock(mutex_);
      decoders_.push_back(std::move(decoder));
      return {};
    }
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
  if (spec_->aggregates) {
    unit->out.rows = std::move(decoded);
    return {};
  }
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
