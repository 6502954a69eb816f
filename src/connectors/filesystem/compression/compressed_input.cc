#include "connectors/filesystem/compression/compressed_input.h"

#include <vector>

#include <arrow/buffer.h>
#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {

namespace {

constexpr size_t kInputBytes = 256 << 10;

class PlainStream final : public ByteStream {
 public:
  PlainStream(std::shared_ptr<arrow::io::RandomAccessFile> file, int64_t offset, int64_t end)
      : file_(std::move(file)), position_(offset), end_(end) {}

  Result<size_t> Read(char* out, size_t size) override {
    auto wanted = static_cast<int64_t>(size);
    if (end_ >= 0) wanted = std::min(wanted, end_ - position_);
    if (wanted <= 0) return size_t{0};
    SLUICE_ASSIGN_ARROW(const int64_t count, file_->ReadAt(position_, wanted, out));
    position_ += count;
    return static_cast<size_t>(count);
  }

 private:
  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  int64_t position_;
  const int64_t end_;
};

// What a codec did with its input.
struct Progress {
  size_t consumed = 0;
  size_t produced = 0;
  bool member_ended = false;
  const char* error = nullptr;
};

class Codec {
 public:
  virtual ~Codec() = default;
  /// Makes it ready for a new member; false when memory is short.
  virtual bool Start() = 0;
  virtual Progress Decode(const char* in, size_t in_size, char* out, size_t out_size) = 0;
};

// zlib and gzip; the header tells which.
class ZlibCodec final : public Codec {
 public:
  ~ZlibCodec() override { End(); }
  bool Start() override {
    End();
    stream_ = {};
    open_ = inflateInit2(&stream_, 15 + 32) == Z_OK;
    return open_;
  }
  Progress Decode(const char* in, size_t in_size, char* out, size_t out_size) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in));
    stream_.avail_in = static_cast<uInt>(in_size);
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(out_size);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    Progress progress{in_size - stream_.avail_in, out_size - stream_.avail_out,
                      result == Z_STREAM_END, nullptr};
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      progress.error = stream_.msg != nullptr ? stream_.msg : "damaged data";
    }
    return progress;
  }

 private:
  void End() {
    if (open_) inflateEnd(&stream_);
    open_ = false;
  }
  z_stream stream_{};
  bool open_ = false;
};

class Bzip2Codec final : public Codec {
 public:
  ~Bzip2Codec() override { End(); }
  bool Start() override {
    End();
    stream_ = {};
    open_ = BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK;
    return open_;
  }
  Progress Decode(const char* in, size_t in_size, char* out, size_t out_size) override {
    stream_.next_in = const_cast<char*>(in);
    stream_.avail_in = static_cast<unsigned>(in_size);
    stream_.next_out = out;
    stream_.avail_out = static_cast<unsigned>(out_size);
    const int result = BZ2_bzDecompress(&stream_);
    return {in_size - stream_.avail_in, out_size - stream_.avail_out, result == BZ_STREAM_END,
            result == BZ_OK || result == BZ_STREAM_END ? nullptr : "damaged data"};
  }

 private:
  void End() {
    if (open_) BZ2_bzDecompressEnd(&stream_);
    open_ = false;
  }
  bz_stream stream_{};
  bool open_ = false;
};

class XzCodec final : public Codec {
 public:
  ~XzCodec() override { lzma_end(&stream_); }
  bool Start() override {
    lzma_end(&stream_);
    stream_ = LZMA_STREAM_INIT;
    return lzma_stream_decoder(&stream_, UINT64_MAX, 0) == LZMA_OK;
  }
  Progress Decode(const char* in, size_t in_size, char* out, size_t out_size) override {
    stream_.next_in = reinterpret_cast<const uint8_t*>(in);
    stream_.avail_in = in_size;
    stream_.next_out = reinterpret_cast<uint8_t*>(out);
    stream_.avail_out = out_size;
    const lzma_ret result = lzma_code(&stream_, LZMA_RUN);
    const bool good = result == LZMA_OK || result == LZMA_STREAM_END || result == LZMA_BUF_ERROR;
    return {in_size - stream_.avail_in, out_size - stream_.avail_out, result == LZMA_STREAM_END,
            good ? nullptr : "damaged data"};
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class ZstdCodec final : public Codec {
 public:
  ~ZstdCodec() override { ZSTD_freeDCtx(context_); }
  bool Start() override {
    if (context_ == nullptr) context_ = ZSTD_createDCtx();
    return context_ != nullptr && !ZSTD_isError(ZSTD_DCtx_reset(context_, ZSTD_reset_session_only));
  }
  Progress Decode(const char* in, size_t in_size, char* out, size_t out_size) override {
    ZSTD_inBuffer input{in, in_size, 0};
    ZSTD_outBuffer output{out, out_size, 0};
    const size_t result = ZSTD_decompressStream(context_, &output, &input);
    return {input.pos, output.pos, result == 0,
            ZSTD_isError(result) ? ZSTD_getErrorName(result) : nullptr};
  }

 private:
  ZSTD_DCtx* context_ = nullptr;
};

std::unique_ptr<Codec> MakeCodec(Compression compression) {
  switch (compression) {
    case Compression::kBzip2:
      return std::make_unique<Bzip2Codec>();
    case Compression::kXz:
      return std::make_unique<XzCodec>();
    case Compression::kZstd:
      return std::make_unique<ZstdCodec>();
    default:
      return std::make_unique<ZlibCodec>();
  }
}

class DecompressedStream final : public ByteStream {
 public:
  DecompressedStream(std::unique_ptr<ByteStream> input, Compression compression)
      : input_(std::move(input)),
        compression_(compression),
        codec_(MakeCodec(compression)),
        buffer_(kInputBytes) {}

  Result<size_t> Read(char* out, size_t size) override {
    size_t filled = 0;
    while (filled < size) {
      if (begin_ == end_) SLUICE_RETURN_NOT_OK(FillInput());
      if (begin_ == end_) {
        if (in_member_) return Damaged("the stream ends in the middle", filled);
        break;
      }
      if (!in_member_) {
        if (!codec_->Start()) return Status::Unavailable("Not enough memory to decompress.");
        in_member_ = true;
      }
      const Progress progress =
          codec_->Decode(buffer_.data() + begin_, end_ - begin_, out + filled, size - filled);
      begin_ += progress.consumed;
      filled += progress.produced;
      if (progress.error != nullptr) return Damaged(progress.error, filled);
      if (progress.member_ended) in_member_ = false;
      if (progress.consumed == 0 && progress.produced == 0 && begin_ != end_ && in_member_) {
        return Damaged("it makes no progress", filled);
      }
    }
    offset_ += filled;
    return filled;
  }

 private:
  Status FillInput() {
    SLUICE_ASSIGN_OR_RETURN(end_, input_->Read(buffer_.data(), buffer_.size()));
    begin_ = 0;
    return {};
  }

  Status Damaged(std::string_view reason, size_t more) const {
    return Status::DataError("The " + std::string(NameOf(compression_)) +
                             " data is damaged behind decompressed byte " +
                             std::to_string(offset_ + more) + ": " + std::string(reason) + ".");
  }

  const std::unique_ptr<ByteStream> input_;
  const Compression compression_;
  const std::unique_ptr<Codec> codec_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t offset_ = 0;
  bool in_member_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> MakePlainStream(std::shared_ptr<arrow::io::RandomAccessFile> file,
                                            int64_t offset, int64_t end) {
  return std::make_unique<PlainStream>(std::move(file), offset, end);
}

Result<std::unique_ptr<ByteStream>> MakeDecompressedStream(
    std::shared_ptr<arrow::io::RandomAccessFile> file, Compression compression) {
  if (compression == Compression::kNone) return MakePlainStream(std::move(file), 0, -1);
  return std::unique_ptr<ByteStream>(
      std::make_unique<DecompressedStream>(MakePlainStream(std::move(file), 0, -1), compression));
}

}  // namespace sluice::connectors::filesystem
