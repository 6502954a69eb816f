#include "connectors/filesystem/compression/compressed_part.h"

#include <array>
#include <limits>

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace sluice::connectors::filesystem {

namespace {

constexpr size_t kPieceBytes = 64 << 10;

Status Failed(std::string_view what) {
  return Status::Unavailable("Cannot compress (" + std::string(what) +
                             "): most likely there is not enough memory.");
}

// Gives an encoder room until it has taken all input and, at the end of a member, given all output.
// `step(out, size, produced)` returns true when it is done.
template <typename Step>
Status Drain(std::string* out, const Step& step) {
  std::array<char, kPieceBytes> piece;
  while (true) {
    size_t produced = 0;
    SLUICE_ASSIGN_OR_RETURN(const bool done, step(piece.data(), piece.size(), &produced));
    out->append(piece.data(), produced);
    if (done) return {};
  }
}

class ZlibEncoder final : public MemberEncoder {
 public:
  ~ZlibEncoder() override { deflateEnd(&stream_); }
  static Result<std::unique_ptr<MemberEncoder>> Make(bool gzip) {
    auto encoder = std::make_unique<ZlibEncoder>();
    // Level 6 in the largest window; 16 more asks for gzip's header.
    if (deflateInit2(&encoder->stream_, 6, Z_DEFLATED, gzip ? 15 + 16 : 15, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      return Failed("zlib");
    }
    return std::unique_ptr<MemberEncoder>(std::move(encoder));
  }
  Status Encode(std::string_view bytes, bool end, std::string* out) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    return Drain(out, [&](char* room, size_t size, size_t* produced) -> Result<bool> {
      stream_.next_out = reinterpret_cast<Bytef*>(room);
      stream_.avail_out = static_cast<uInt>(size);
      const int result = deflate(&stream_, end ? Z_FINISH : Z_NO_FLUSH);
      if (result == Z_STREAM_ERROR) return Failed("zlib");
      *produced = size - stream_.avail_out;
      return end ? result == Z_STREAM_END : stream_.avail_in == 0 && stream_.avail_out > 0;
    });
  }
  int64_t memory_bytes() const override { return 268 << 10; }  // zlib.h: deflateInit2.

 private:
  z_stream stream_{};
};

class Bzip2Encoder final : public MemberEncoder {
 public:
  ~Bzip2Encoder() override { BZ2_bzCompressEnd(&stream_); }
  static Result<std::unique_ptr<MemberEncoder>> Make() {
    auto encoder = std::make_unique<Bzip2Encoder>();
    if (BZ2_bzCompressInit(&encoder->stream_, 9, 0, 0) != BZ_OK) return Failed("bzip2");
    return std::unique_ptr<MemberEncoder>(std::move(encoder));
  }
  Status Encode(std::string_view bytes, bool end, std::string* out) override {
    stream_.next_in = const_cast<char*>(bytes.data());
    stream_.avail_in = static_cast<unsigned>(bytes.size());
    if (bytes.empty() && !end) return {};  // An error to bzip2.
    return Drain(out, [&](char* room, size_t size, size_t* produced) -> Result<bool> {
      stream_.next_out = room;
      stream_.avail_out = static_cast<unsigned>(size);
      const int result = BZ2_bzCompress(&stream_, end ? BZ_FINISH : BZ_RUN);
      if (result < 0) return Failed("bzip2");
      *produced = size - stream_.avail_out;
      return end ? result == BZ_STREAM_END : stream_.avail_in == 0 && stream_.avail_out > 0;
    });
  }
  int64_t memory_bytes() const override { return 7'600 << 10; }  // bzip2(1): 400k + 8 x 900k.

 private:
  bz_stream stream_{};
};

class XzEncoder final : public MemberEncoder {
 public:
  // A dictionary of 1 MiB. Presets above it take 17 to 674 MiB, for every open part file.
  static constexpr uint32_t kPreset = 1;
  ~XzEncoder() override { lzma_end(&stream_); }
  static Result<std::unique_ptr<MemberEncoder>> Make() {
    auto encoder = std::make_unique<XzEncoder>();
    if (lzma_easy_encoder(&encoder->stream_, kPreset, LZMA_CHECK_CRC64) != LZMA_OK) {
      return Failed("xz");
    }
    return std::unique_ptr<MemberEncoder>(std::move(encoder));
  }
  Status Encode(std::string_view bytes, bool end, std::string* out) override {
    stream_.next_in = reinterpret_cast<const uint8_t*>(bytes.data());
    stream_.avail_in = bytes.size();
    return Drain(out, [&](char* room, size_t size, size_t* produced) -> Result<bool> {
      stream_.next_out = reinterpret_cast<uint8_t*>(room);
      stream_.avail_out = size;
      const lzma_ret result = lzma_code(&stream_, end ? LZMA_FINISH : LZMA_RUN);
      if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR) {
        return Failed("xz");
      }
      *produced = size - stream_.avail_out;
      return end ? result == LZMA_STREAM_END : stream_.avail_in == 0 && stream_.avail_out > 0;
    });
  }
  int64_t memory_bytes() const override { return int64_t(lzma_easy_encoder_memusage(kPreset)); }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class ZstdEncoder final : public MemberEncoder {
 public:
  ~ZstdEncoder() override { ZSTD_freeCCtx(context_); }
  static Result<std::unique_ptr<MemberEncoder>> Make() {
    auto encoder = std::make_unique<ZstdEncoder>();
    encoder->context_ = ZSTD_createCCtx();
    if (encoder->context_ == nullptr ||
        ZSTD_isError(ZSTD_CCtx_setParameter(encoder->context_, ZSTD_c_checksumFlag, 1))) {
      return Failed("zstd");
    }
    return std::unique_ptr<MemberEncoder>(std::move(encoder));
  }
  Status Encode(std::string_view bytes, bool end, std::string* out) override {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    return Drain(out, [&](char* room, size_t size, size_t* produced) -> Result<bool> {
      ZSTD_outBuffer output{room, size, 0};
      const size_t left =
          ZSTD_compressStream2(context_, &output, &input, end ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left)) return Failed(ZSTD_getErrorName(left));
      *produced = output.pos;
      return end ? left == 0 : input.pos == input.size;
    });
  }
  int64_t memory_bytes() const override { return static_cast<int64_t>(ZSTD_sizeof_CCtx(context_)); }

 private:
  ZSTD_CCtx* context_ = nullptr;
};

class CompressedPart final : public fs::PartFileWriter {
 public:
  CompressedPart(std::unique_ptr<fs::PartFileWriter> writer, Compression compression)
      : writer_(std::move(writer)), compression_(compression) {}

  Status Append(std::string_view bytes) override {
    if (encoder_ == nullptr) {
      SLUICE_ASSIGN_OR_RETURN(encoder_, MakeMemberEncoder(compression_));
    }
    // The libraries count in 32 bits.
    constexpr size_t kMost = std::numeric_limits<int>::max();
    while (!bytes.empty()) {
      const std::string_view some = bytes.substr(0, kMost);
      SLUICE_RETURN_NOT_OK(encoder_->Encode(some, false, &pending_));
      bytes.remove_prefix(some.size());
    }
    return pending_.size() < kPieceBytes ? Status() : PassOn();
  }
  int64_t size_bytes() const override {
    return writer_->size_bytes() + static_cast<int64_t>(pending_.size());
  }
  int64_t buffered_bytes() const override {
    return writer_->buffered_bytes() + static_cast<int64_t>(pending_.capacity()) +
           (encoder_ == nullptr ? 0 : encoder_->memory_bytes());
  }
  Result<std::string> Persist() override {
    SLUICE_RETURN_NOT_OK(EndMember());
    return writer_->Persist();
  }
  Result<std::string> Close() override {
    SLUICE_RETURN_NOT_OK(EndMember());
    return writer_->Close();
  }
  Status Discard() override { return writer_->Discard(); }

 private:
  Status EndMember() {
    if (encoder_ != nullptr) {
      SLUICE_RETURN_NOT_OK(encoder_->Encode({}, true, &pending_));
      // An open file that nothing is written to keeps no encoder.
      encoder_.reset();
    }
    SLUICE_RETURN_NOT_OK(PassOn());
    pending_ = {};
    return {};
  }
  Status PassOn() {
    if (pending_.empty()) return {};
    SLUICE_RETURN_NOT_OK(writer_->Append(pending_));
    pending_.clear();
    return {};
  }

  const std::unique_ptr<fs::PartFileWriter> writer_;
  const Compression compression_;
  std::unique_ptr<MemberEncoder> encoder_;  // Of the member that is open.
  std::string pending_;                     // Compressed, not passed on.
};

}  // namespace

Result<std::unique_ptr<MemberEncoder>> MakeMemberEncoder(Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return ZlibEncoder::Make(true);
    case Compression::kDeflate:
      return ZlibEncoder::Make(false);
    case Compression::kBzip2:
      return Bzip2Encoder::Make();
    case Compression::kXz:
      return XzEncoder::Make();
    case Compression::kZstd:
      return ZstdEncoder::Make();
    case Compression::kNone:
      break;
  }
  return Status::Internal("an encoder for plain bytes");
}

std::unique_ptr<fs::PartFileWriter> CompressPart(std::unique_ptr<fs::PartFileWriter> writer,
                                                 Compression compression) {
  if (compression == Compression::kNone) return writer;
  return std::make_unique<CompressedPart>(std::move(writer), compression);
}

}  // namespace sluice::connectors::filesystem
