#include "connectors/filesystem/sink/file_merger.h"

#include <algorithm>
#include <numeric>

#include <arrow/buffer.h>

#include "common/crash_point.h"
#include "connectors/filesystem/compression/compression.h"
#include "connectors/filesystem/sink/merge_inputs.h"
#include "connectors/filesystem/sink/part_stream.h"
#include "formats/column_paths.h"
#include "formats/text/byte_order_mark.h"
#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr int64_t kPieceBytes = 4 << 20;
// Compressed columns of few values take this much when they are decoded, and row groups end at
// 128 MiB by default.
constexpr int64_t kDecodedFactor = 8;
constexpr int64_t kMostToRewriteBytes = 512 << 20;
// A record that is longer has lost its end; it is looked at anew with each piece.
constexpr size_t kMostOpenBytes = 64 << 20;

using Input = MergeInputs::File;

class Merger {
 public:
  Merger(fs::FileSystem& file_system, const MergeRequest& request)
      : file_system_(file_system), request_(request), layout_(*request.layout) {}

  Status Run(PartStream* out) {
    // Before the inputs are opened: those that wait for their turn hold no descriptors either.
    MergeGate::Place place = Enter(kPieceBytes);
    SLUICE_ASSIGN_OR_RETURN(auto opened, OpenInputs());
    const std::vector<Input>& inputs = opened->files();
    if (inputs.size() == 1) {
      return CopyBytes(inputs.front().get(), 0, out).WithContext(While(0));
    }
    if (layout_.operations->join_files != nullptr) {
      const Status joined =
          layout_.operations->join_files(layout_.options, layout_.schema, inputs, out, Context());
      if (joined.code() != StatusCode::kUnsupported) return NameInput(inputs, out->Explain(joined));
    }
    if (layout_.format->encoding == formats::Encoding::kRow) return Concatenate(inputs, out);
    SLUICE_ASSIGN_OR_RETURN(const int64_t bytes, BytesToRewrite(inputs));
    opened.reset();
    place.Leave();
    place = Enter(bytes);
    SLUICE_ASSIGN_OR_RETURN(opened, OpenInputs());
    SLUICE_RETURN_NOT_OK(CheckNothingLost(opened->files()));
    return Rewrite(opened->files(), out);
  }

 private:
  Result<std::unique_ptr<MergeInputs>> OpenInputs() {
    auto inputs = MergeInputs::Open(&file_system_, request_.inputs, request_.most_open);
    if (inputs.ok()) return inputs;
    return std::move(inputs).status().WithContext("While merging files into " + request_.target +
                                                  ".");
  }

  MergeGate::Place Enter(int64_t bytes) const {
    return request_.gate != nullptr ? request_.gate->Enter(bytes) : MergeGate::Place();
  }

  /// An estimate of the memory: a part of one input decoded, and the open row group of the result.
  static Result<int64_t> BytesToRewrite(const std::vector<Input>& inputs) {
    int64_t bytes = kPieceBytes;
    for (const Input& input : inputs) {
      SLUICE_ASSIGN_ARROW(const int64_t size, input->GetSize());
      bytes += size * kDecodedFactor;
    }
    return std::min(bytes, kMostToRewriteBytes);
  }

  formats::FormatContext Context() const {
    return {.session_zone = request_.session_zone, .pool = request_.pool};
  }

  std::string While(size_t input) const {
    return "While reading " + request_.inputs[input] + " to merge it into " + request_.target + ".";
  }

  /// Joining says what is wrong, but not in which of the files: the first that cannot be opened.
  Status NameInput(const std::vector<Input>& inputs, Status failure) const {
    if (failure.ok() || layout_.format->open_bulk_file == nullptr) return failure;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto opened =
          layout_.format->open_bulk_file(layout_.options, AllColumns(), inputs[i], Context());
      if (!opened.ok()) return opened.status().WithContext(While(i));
    }
    return failure;
  }

  formats::ReadSchema AllColumns() const {
    formats::ReadSchema schema{layout_.schema, {}};
    schema.projection.resize(static_cast<size_t>(layout_.schema.column_count()));
    std::iota(schema.projection.begin(), schema.projection.end(), 0);
    return schema;
  }

  Status CopyBytes(arrow::io::RandomAccessFile* input, int64_t begin, PartStream* out) {
    SLUICE_ASSIGN_ARROW(const int64_t size, input->GetSize());
    while (begin < size) {
      SLUICE_ASSIGN_ARROW(const auto piece, input->ReadAt(begin, kPieceBytes));
      if (piece->size() == 0) return Status::IoError("A file got shorter while it was read.");
      last_byte_ = piece->data()[piece->size() - 1];
      const arrow::Status written = out->Write(piece);
      if (!written.ok()) return out->Explain(FromArrow(written));
      begin += piece->size();
    }
    return {};
  }

  Status Concatenate(const std::vector<Input>& inputs, PartStream* out) {
    for (const std::string& path : request_.inputs) {
      if (CompressionOf(path) == CompressionOf(request_.inputs.front())) continue;
      return Status::Unsupported("The files " + request_.inputs.front() + " and " + path +
                                 " are compressed differently and cannot be merged. Set "
                                 "'sink.compression' back until the partition is committed, or "
                                 "'auto-compaction' = 'false'.");
    }
    bool has_header = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      // Compressed files of ours are whole members that end in a whole record.
      const Status copied = request_.compressed ? CopyBytes(inputs[i].get(), 0, out)
                                                : CopyText(inputs[i].get(), &has_header, out);
      if (!copied.ok()) return Status(copied).WithContext(While(i));
    }
    return {};
  }

  /// Leaves out what only the first file may have: a mark, and a header unless there is none yet.
  Status CopyText(arrow::io::RandomAccessFile* input, bool* has_header, PartStream* out) {
    SLUICE_ASSIGN_ARROW(const int64_t size, input->GetSize());
    SLUICE_ASSIGN_ARROW(const auto start, input->ReadAt(0, kPieceBytes));
    const std::string_view bytes(reinterpret_cast<const char*>(start->data()),
                                 static_cast<size_t>(start->size()));
    const size_t mark =
        layout_.format->skips_byte_order_mark ? formats::text::ByteOrderMarkBytes(bytes) : 0;
    if (size == static_cast<int64_t>(mark)) return {};
    SLUICE_RETURN_NOT_OK(CheckLastRecord(input, static_cast<int64_t>(mark)));
    SLUICE_ASSIGN_ARROW(const int64_t written, out->Tell());
    if (written == 0) {
      *has_header = request_.header_records;
      return CopyBytes(input, 0, out);
    }
    size_t begin = mark;
    if (*has_header) {
      SLUICE_ASSIGN_OR_RETURN(const size_t header, HeaderBytes(bytes.substr(mark)));
      begin += header;
    }
    // The last record of a file needs no line end; two records do. A carriage return alone is none
    // where lines end in line feeds, and half of one where the next file begins with a line feed.
    if (last_byte_ != '\n') {
      const arrow::Status ended = out->Write("\n", 1);
      if (!ended.ok()) return out->Explain(FromArrow(ended));
    }
    return CopyBytes(input, static_cast<int64_t>(begin), out);
  }

  /// `text` is the start of a file.
  Result<size_t> HeaderBytes(std::string_view text) const {
    if (layout_.format->make_framer == nullptr) return size_t{0};
    SLUICE_ASSIGN_OR_RETURN(const auto framer, layout_.format->make_framer(layout_.options));
    // The first prefix that ends with a line and holds a whole record: a header may span lines.
    for (size_t end = text.find_first_of("\r\n"); end != std::string_view::npos;
         end = text.find_first_of("\r\n", end + 1)) {
      if (text.substr(end, 2) == "\r\n") ++end;
      const size_t record = framer->CompletePrefix(text.substr(0, end + 1), false);
      if (record > 0) return record;
    }
    if (static_cast<int64_t>(text.size()) < kPieceBytes - 3) return text.size();  // Only a header.
    return Status::DataError("The first record of a file is longer than " +
                             std::to_string(kPieceBytes) + " bytes: it cannot be a header.");
  }

  /// An open quote at the end of a file of another program would take in the rows of the next one.
  Status CheckLastRecord(arrow::io::RandomAccessFile* input, int64_t begin) const {
    if (!request_.foreign || layout_.format->make_framer == nullptr) return {};
    SLUICE_ASSIGN_OR_RETURN(const auto framer, layout_.format->make_framer(layout_.options));
    if (framer->splittable()) return {};
    std::string open;  // Behind the last record end.
    while (true) {
      SLUICE_ASSIGN_ARROW(const auto piece, input->ReadAt(begin, kPieceBytes));
      if (piece->size() == 0) break;
      open.append(reinterpret_cast<const char*>(piece->data()), static_cast<size_t>(piece->size()));
      begin += piece->size();
      open.erase(0, framer->CompletePrefix(open, false));
      if (open.size() > kMostOpenBytes) break;
    }
    const size_t open_bytes = open.size();
    // What stands before a header ends no record: the second time there is one.
    for (const std::string before : {"", "x\n"}) {
      const std::string text = before + open + '\n';
      if (open_bytes > kMostOpenBytes) break;
      if (framer->CompletePrefix(text, false) == text.size()) return {};
    }
    return Status::DataError(
        "The record at byte " + std::to_string(begin - static_cast<int64_t>(open_bytes)) +
        " has no end: a quote is never closed, or the file was cut. Rows of other files would "
        "become a part of it. Nothing was replaced. Mend the file, or give it a name that begins "
        "with '.' or '_'.");
  }

  /// Files of other programs may have columns that the table does not name.
  Status CheckNothingLost(const std::vector<Input>& inputs) const {
    if (!request_.foreign || layout_.operations->column_paths == nullptr) return {};
    const std::vector<std::string> kept = formats::ColumnPaths(*layout_.schema.ToArrow());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto there =
          layout_.operations->column_paths(layout_.options, layout_.schema, inputs[i], Context());
      if (!there.ok()) return Status(there.status()).WithContext(While(i));
      for (const std::string& path : *there) {
        if (std::find(kept.begin(), kept.end(), path) != kept.end()) continue;
        return Status::DataError("It has the column '" + path +
                                 "', which the table does not, and which the merged file would "
                                 "not have. Nothing was replaced. Add the column to the table.")
            .WithContext(While(i));
      }
    }
    return {};
  }

  Status Rewrite(const std::vector<Input>& inputs, PartStream* out) {
    const std::shared_ptr<arrow::io::OutputStream> stream(out, [](auto*) {});
    SLUICE_ASSIGN_OR_RETURN(
        const auto writer,
        layout_.format->make_bulk_writer(layout_.options, layout_.schema, stream, Context()));
    const formats::ReadSchema schema = AllColumns();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Status copied = CopyRows(inputs[i], schema, *writer);
      if (!copied.ok()) {
        return out->Explain(copied).WithContext(While(i));
      }
    }
    return out->Explain(writer->Finish());
  }

  Status CopyRows(const Input& input, const formats::ReadSchema& schema,
                  formats::BulkWriter& writer) {
    SLUICE_ASSIGN_OR_RETURN(
        const auto file, layout_.format->open_bulk_file(layout_.options, schema, input, Context()));
    for (int part = 0; part < file->part_count(); ++part) {
      SLUICE_ASSIGN_OR_RETURN(const auto rows, file->ReadPart(part));
      while (true) {
        SLUICE_ASSIGN_OR_RETURN(const std::optional<Batch> batch, rows->Next());
        if (!batch) break;
        SLUICE_RETURN_NOT_OK(writer.Write(*batch));
      }
    }
    return {};
  }

  fs::FileSystem& file_system_;
  const MergeRequest& request_;
  const FileLayout& layout_;
  uint8_t last_byte_ = '\n';
};

}  // namespace

Result<MergedFile> MergeFiles(fs::FileSystem& file_system, const MergeRequest& request) {
  SLUICE_CRASH_POINT("compact.before_merge");
  SLUICE_ASSIGN_OR_RETURN(const auto writer,
                          file_system.publisher().Open(request.target, request.tag));
  PartStream out(writer.get(), request.rate);
  const Status status = Merger(file_system, request).Run(&out);
  if (!status.ok()) {
    (void)writer->Discard();
    return status;
  }
  MergedFile merged;
  auto handle = writer->Close();
  if (!handle.ok()) {
    (void)writer->Discard();
    return handle.status();
  }
  merged.handle = std::move(*handle);
  merged.size_bytes = writer->size_bytes();
  SLUICE_CRASH_POINT("compact.after_merge");
  return merged;
}

}  // namespace sluice::connectors::filesystem
