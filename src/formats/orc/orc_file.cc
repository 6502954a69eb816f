#include "formats/orc/orc_file.h"

#include <algorithm>

#include <arrow/api.h>

#include "formats/orc/stride_judge.h"
#include "formats/orc/stripe_bounds.h"
#include "formats/orc/stripe_rows.h"
#include "formats/pruning/bounds.h"
#include "types/arrow_status.h"

namespace sluice::formats::orc_format {

namespace {

constexpr int64_t kTailReadBytes = 16 << 10;  // Holds the whole tail of most files.
constexpr int64_t kSmallestFileBytes = 4;
constexpr size_t kMostTailContent = 256 << 20;
// Gaps up to this are read over: one request more costs more than the bytes.
constexpr uint64_t kReadOverBytes = 64 << 10;

std::string_view View(const arrow::Buffer& buffer) {
  return {buffer.data_as<char>(), static_cast<size_t>(buffer.size())};
}

Status Damaged(const std::string& what) {
  return Status::DataError("The ORC file is damaged or cut off: " + what + ".");
}

}  // namespace

Result<std::unique_ptr<BulkFile>> OrcFile::Open(const OrcOptions& options, ReadSchema schema,
                                                std::shared_ptr<arrow::io::RandomAccessFile> file,
                                                const FormatContext& context) {
  std::unique_ptr<OrcFile> opened(
      new OrcFile(options, std::move(schema), std::move(file), context));
  SLUICE_RETURN_NOT_OK(opened->LoadTail());
  SLUICE_ASSIGN_OR_RETURN(opened->nodes_, PlanColumns(opened->schema_, opened->footer_.types));
  opened->touched_ = TouchedColumns(opened->nodes_, opened->footer_.types.size());
  return std::unique_ptr<BulkFile>(std::move(opened));
}

Result<std::shared_ptr<arrow::Buffer>> OrcFile::ReadBytes(uint64_t offset, uint64_t length) const {
  SLUICE_ASSIGN_ARROW(std::shared_ptr<arrow::Buffer> bytes,
                      file_->ReadAt(static_cast<int64_t>(offset), static_cast<int64_t>(length)));
  if (bytes->size() == static_cast<int64_t>(length)) return bytes;
  return Damaged("it ends at byte " + std::to_string(static_cast<int64_t>(offset) + bytes->size()) +
                 " while it is read");
}

Status OrcFile::LoadTail() {
  SLUICE_ASSIGN_ARROW(const int64_t size, file_->GetSize());
  if (size < kSmallestFileBytes) {
    return Status::DataError(
        "The file is not an ORC file (length is too low: " + std::to_string(size) + ").");
  }
  const auto file_bytes = static_cast<uint64_t>(size);
  const auto tail_bytes = static_cast<uint64_t>(std::min(size, kTailReadBytes));
  SLUICE_ASSIGN_OR_RETURN(auto tail, ReadBytes(file_bytes - tail_bytes, tail_bytes));
  const auto postscript_bytes = static_cast<size_t>(tail->data()[tail->size() - 1]);
  if (postscript_bytes + 1 > tail_bytes) return Damaged("it has no postscript");
  SLUICE_ASSIGN_OR_RETURN(
      const PostScript postscript,
      ParsePostScript(View(*tail).substr(tail_bytes - 1 - postscript_bytes, postscript_bytes)));
  writer_version_ = postscript.writer_version;
  const uint64_t footer_end = file_bytes - 1 - postscript_bytes;
  if (postscript.footer_bytes > footer_end ||
      postscript.metadata_bytes > footer_end - postscript.footer_bytes) {
    return Damaged("its postscript tells of a footer that is longer than the file");
  }
  SLUICE_ASSIGN_OR_RETURN(codec_, BlockCodec::Make(postscript.compression, postscript.block_bytes));
  const uint64_t metadata_start = footer_end - postscript.footer_bytes - postscript.metadata_bytes;
  if (metadata_start < file_bytes - tail_bytes) {
    SLUICE_ASSIGN_OR_RETURN(tail, ReadBytes(metadata_start, file_bytes - metadata_start));
  }
  const std::string_view bytes =
      View(*tail).substr(static_cast<size_t>(tail->size()) - (file_bytes - metadata_start));
  const auto footer = codec_->DecodeAll(
      bytes.substr(postscript.metadata_bytes, postscript.footer_bytes), kMostTailContent);
  if (!footer.ok()) return Damaged("its footer cannot be read, " + footer.status().message());
  SLUICE_ASSIGN_OR_RETURN(footer_, ParseFooter(*footer));
  calendar_ = FileCalendar(footer_, options_, schema_.physical);
  // Statistics that cannot be read prove nothing; the rows can.
  const auto metadata =
      codec_->DecodeAll(bytes.substr(0, postscript.metadata_bytes), kMostTailContent);
  if (metadata.ok()) stripe_statistics_ = ParseStripeStatistics(*metadata, footer_.types);
  return CheckStripes(metadata_start);
}

Status OrcFile::CheckStripes(uint64_t content_end) const {
  uint64_t end = 0;
  for (size_t i = 0; i < footer_.stripes.size(); ++i) {
    const StripeInfo& stripe = footer_.stripes[i];
    const uint64_t parts[] = {stripe.index_bytes, stripe.data_bytes, stripe.footer_bytes};
    bool fits = stripe.offset >= end && stripe.offset <= content_end;
    end = stripe.offset;
    for (const uint64_t part : parts) {
      fits = fits && part <= content_end - end;
      if (fits) end += part;
    }
    if (!fits)
      return Damaged("stripe " + std::to_string(i) + " does not lie between others and the footer");
  }
  return {};
}

Result<StripeFooter> OrcFile::ReadStripeFooter(const StripeInfo& stripe) const {
  SLUICE_ASSIGN_OR_RETURN(
      const auto bytes,
      ReadBytes(stripe.offset + stripe.index_bytes + stripe.data_bytes, stripe.footer_bytes));
  const auto content = codec_->DecodeAll(View(*bytes), kMostTailContent);
  if (!content.ok())
    return Damaged("the footer of a stripe cannot be read, " + content.status().message());
  return ParseStripeFooter(*content, footer_.types.size());
}

Status OrcFile::LoadStreams(const StripeInfo& stripe, bool with_row_indexes,
                            StripeSource* source) const {
  struct Wanted {
    const StreamInfo* stream;
    uint64_t offset;
  };
  std::vector<Wanted> wanted;
  uint64_t offset = stripe.offset;
  const uint64_t end = stripe.offset + stripe.index_bytes + stripe.data_bytes;
  for (const StreamInfo& stream : source->footer.streams) {
    if (stream.length > end - offset) return Damaged("a stream does not fit its stripe");
    const bool kind_needed =
        stream.kind <= static_cast<uint32_t>(StreamKind::kSecondary) ||
        (with_row_indexes && stream.kind == static_cast<uint32_t>(StreamKind::kRowIndex));
    const bool needed = kind_needed && stream.column < touched_.size() && touched_[stream.column];
    if (needed && stream.length > 0) wanted.push_back({&stream, offset});
    offset += stream.length;
  }
  for (size_t i = 0; i < wanted.size();) {
    size_t last = i;
    uint64_t read_end = wanted[i].offset + wanted[i].stream->length;
    while (last + 1 < wanted.size() && wanted[last + 1].offset - read_end <= kReadOverBytes) {
      ++last;
      read_end = wanted[last].offset + wanted[last].stream->length;
    }
    const uint64_t begin = wanted[i].offset;
    SLUICE_ASSIGN_OR_RETURN(const auto bytes, ReadBytes(begin, read_end - begin));
    for (; i <= last; ++i) {
      const StreamInfo& stream = *wanted[i].stream;
      source->streams[{stream.column, static_cast<StreamKind>(stream.kind)}] =
          arrow::SliceBuffer(bytes, static_cast<int64_t>(wanted[i].offset - begin),
                             static_cast<int64_t>(stream.length));
    }
  }
  return {};
}

const pruning::RowRanges& OrcFile::Judge(int part, std::span<const expr::ExprPtr> filters) const {
  if (judged_part_ == part &&
      std::equal(filters.begin(), filters.end(), judged_filters_.begin(), judged_filters_.end()))
    return judged_rows_;
  const StripeBounds bounds(*this, part);
  const auto may_match = [&](const expr::ExprPtr& filter) {
    return pruning::MayMatch(*filter, bounds);
  };
  judged_rows_.clear();
  if (std::all_of(filters.begin(), filters.end(), may_match))
    judged_rows_ = MatchingStrides(*this, part, filters);
  judged_part_ = part;
  judged_filters_.assign(filters.begin(), filters.end());
  return judged_rows_;
}

ColumnFacts OrcFile::Facts(int part, int column) const {
  return StripeBounds(*this, part).Facts(column);
}

bool OrcFile::MayMatch(int part, std::span<const expr::ExprPtr> filters) const {
  return row_count(part) > 0 && !Judge(part, filters).empty();
}

Result<std::unique_ptr<BulkFile::Rows>> OrcFile::ReadPart(int part,
                                                          std::span<const expr::ExprPtr> filters) {
  WantedRows wanted{.row_count = row_count(part), .stride_rows = stride_rows(part)};
  if (wanted.row_count > 0) wanted.ranges = Judge(part, filters);
  const StripeInfo& stripe = footer_.stripes[static_cast<size_t>(part)];
  auto source = std::make_unique<StripeSource>();
  source->types = &footer_.types;
  source->codec = codec_;
  source->calendar = &calendar_;
  source->session_zone = session_zone_;
  source->pool = pool_;
  const auto load = [&]() -> Status {
    SLUICE_ASSIGN_OR_RETURN(source->footer, ReadStripeFooter(stripe));
    if (!source->footer.writer_zone.empty() && source->footer.writer_zone != "GMT") {
      SLUICE_ASSIGN_OR_RETURN(source->writer_zone, TimeZone::Find(source->footer.writer_zone));
    }
    return LoadStreams(stripe, !wanted.all(), source.get());
  };
  Status loaded = load();
  if (!loaded.ok())
    return std::move(loaded).WithContext("Cannot read stripe " + std::to_string(part) + ".");
  return StripeRows::Make(std::move(source), nodes_, schema_.output(), part, std::move(wanted));
}

}  // namespace sluice::formats::orc_format
