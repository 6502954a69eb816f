#include "connectors/filesystem/source/text_split_reader.h"

#include <algorithm>

#include "formats/text/byte_order_mark.h"

namespace sluice::connectors::filesystem {

namespace {

// A chunk becomes one batch: some 5,000 rows of 100 bytes, and small enough that readers, decoders
// and channels overlap.
constexpr size_t kChunkBytes = 512 << 10;
constexpr size_t kTailBytes = 4 << 10;  // Read at a time to find the end of one record.

}  // namespace

Result<std::unique_ptr<SplitReader>> TextSplitReader::Open(
    std::shared_ptr<const FileSourceSpec> spec, const FileSplit& split,
    std::shared_ptr<arrow::io::RandomAccessFile> file) {
  std::unique_ptr<TextSplitReader> reader(new TextSplitReader(std::move(spec), split));
  SLUICE_RETURN_NOT_OK(reader->Start(std::move(file)));
  return std::unique_ptr<SplitReader>(std::move(reader));
}

Status TextSplitReader::Start(std::shared_ptr<arrow::io::RandomAccessFile> file) {
  SLUICE_ASSIGN_OR_RETURN(framer_, spec_->format->make_framer(spec_->format_options));
  const Compression compression = CompressionOf(split_.file.name());
  whole_file_ = compression != Compression::kNone || split_.end >= split_.file.size_bytes;
  if (compression != Compression::kNone) {
    SLUICE_ASSIGN_OR_RETURN(stream_, MakeDecompressedStream(std::move(file), compression));
    // A position in a compressed file is found again by decompressing up to it.
    while (carry_begin_ < split_.position) {
      const auto step = std::min<int64_t>(split_.position - carry_begin_, kChunkBytes);
      SLUICE_RETURN_NOT_OK(ReadMore(static_cast<size_t>(step)));
      if (carry_.empty()) break;
      carry_begin_ += static_cast<int64_t>(carry_.size());
      carry_.clear();
    }
    return {};
  }
  const bool inside = !split_.started && split_.begin > 0;
  carry_begin_ = inside ? split_.begin - 1 : split_.position;
  plain_ = true;
  stream_ = MakePlainStream(std::move(file), carry_begin_, split_.file.size_bytes);
  return inside ? SkipToRecord() : Status();
}

Status TextSplitReader::SkipToRecord() {
  // From one byte before the range: if a record ends there, the next begins with the range.
  SLUICE_ASSIGN_OR_RETURN(const size_t skipped, FirstRecord());
  carry_.erase(0, skipped);
  carry_begin_ += static_cast<int64_t>(skipped);
  return {};
}

Status TextSplitReader::ReadMore(size_t size) {
  const size_t old_size = carry_.size();
  if (plain_) {
    // A small file needs no room for a whole chunk.
    const int64_t left = split_.file.size_bytes - carry_begin_ - static_cast<int64_t>(old_size);
    if (left <= static_cast<int64_t>(size)) at_end_ = true;
    size = static_cast<size_t>(std::clamp<int64_t>(left, 0, static_cast<int64_t>(size)));
  }
  carry_.resize(old_size + size);
  SLUICE_ASSIGN_OR_RETURN(const size_t count, stream_->Read(carry_.data() + old_size, size));
  carry_.resize(old_size + count);
  bytes_read_ += static_cast<int64_t>(count);
  if (count < size) at_end_ = true;
  return {};
}

Status TextSplitReader::TooLong() const {
  return Status::DataError(
      "The record at byte " + std::to_string(carry_begin_) + " of " + split_.file.path +
      " is longer than 'source.max-record-size' (" +
      std::to_string(spec_->options.max_record_bytes) +
      " bytes). Raise the option, or look for a missing line end or an open quote.");
}

size_t TextSplitReader::CompletePrefix(size_t length, bool at_end_of_file) {
  const std::string_view seen = std::string_view(carry_).substr(0, length);
  const size_t mark = carry_begin_ == 0 ? formats::text::ByteOrderMarkBytes(seen) : 0;
  const size_t complete = framer_->CompletePrefix(seen.substr(mark), at_end_of_file);
  return complete > 0 || at_end_of_file ? mark + complete : 0;
}

Result<size_t> TextSplitReader::FirstRecord() {
  size_t looked_at = 0;
  while (true) {
    for (; looked_at < carry_.size(); ++looked_at) {
      const char c = carry_[looked_at];
      if (c != '\n' && c != '\r') continue;
      if (c == '\r') {
        if (looked_at + 1 == carry_.size() && !at_end_) break;  // A line feed may follow.
        if (looked_at + 1 < carry_.size() && carry_[looked_at + 1] == '\n') continue;
      }
      const size_t length = looked_at + 1;
      if (CompletePrefix(length, false) == length) return length;
      // The framer may want to see that no line feed follows a carriage return.
      if (c == '\r' && length < carry_.size() && CompletePrefix(length + 1, false) == length)
        return length;
    }
    if (at_end_) return carry_.size();
    if (static_cast<int64_t>(carry_.size()) > spec_->options.max_record_bytes) return TooLong();
    SLUICE_RETURN_NOT_OK(ReadMore(kTailBytes));
  }
}

Result<FetchedUnit> TextSplitReader::Fetch() {
  FetchedUnit unit;
  size_t complete = 0;
  size_t step = kChunkBytes;
  while (true) {
    // Inside a range no byte behind it is read here: the framer finds the last record end of what
    // it sees.
    int64_t room = static_cast<int64_t>(step);
    if (!whole_file_)
      room = std::min(room, split_.end - carry_begin_ - static_cast<int64_t>(carry_.size()));
    if (room > 0 && !at_end_ && carry_.size() < step)
      SLUICE_RETURN_NOT_OK(ReadMore(static_cast<size_t>(room)));
    size_t seen = carry_.size();
    if (!whole_file_ && carry_begin_ + static_cast<int64_t>(seen) > split_.end) {
      seen = static_cast<size_t>(std::max<int64_t>(split_.end - carry_begin_, 0));
    }
    const bool range_seen = !whole_file_ && carry_begin_ + static_cast<int64_t>(seen) >= split_.end;
    complete = CompletePrefix(seen, at_end_ && seen == carry_.size());
    if (complete > 0 || seen == 0 || at_end_) break;
    if (range_seen) break;
    if (static_cast<int64_t>(carry_.size()) > spec_->options.max_record_bytes) return TooLong();
    step = carry_.size() + std::max(kChunkBytes, carry_.size());
  }
  const int64_t next = carry_begin_ + static_cast<int64_t>(complete);
  const bool range_read =
      !whole_file_ && carry_begin_ + static_cast<int64_t>(carry_.size()) >= split_.end;
  if (complete == 0 && range_read && next < split_.end && !carry_.empty()) {
    // The last record began in the range and ends behind it.
    SLUICE_ASSIGN_OR_RETURN(complete, FirstRecord());
  }
  unit.first_in_file = carry_begin_ == 0;
  unit.begin = carry_begin_;
  std::string rest = carry_.substr(complete);
  unit.bytes = std::move(carry_);
  unit.bytes.resize(complete);
  carry_ = std::move(rest);
  carry_begin_ += static_cast<int64_t>(complete);
  unit.position = carry_begin_;
  unit.bytes_read = std::exchange(bytes_read_, 0);
  unit.last = (at_end_ && carry_.empty()) || (!whole_file_ && carry_begin_ >= split_.end);
  if (complete == 0 && at_end_) unit.last = true;
  return unit;
}

}  // namespace sluice::connectors::filesystem
