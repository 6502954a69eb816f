#include "formats/avro/block_codec.h"

#include <algorithm>

#include <arrow/util/compression.h>
#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "common/crc32.h"
#include "common/varint.h"
#include "types/arrow_status.h"

namespace sluice::formats::avro {
namespace {

constexpr std::string_view kNames[] = {"null", "deflate", "snappy", "bzip2", "xz", "zstandard"};
constexpr size_t kFirstOutputBytes = 64 << 10;

Status Damaged(CodecKind kind, std::string_view why) {
  return Status::DataError("The block's " + std::string(CodecName(kind)) +
                           " data is damaged: " + std::string(why) + ".");
}

Status NoMemory() { return Status::Unavailable("Out of memory for an Avro block."); }

Status TooLarge(CodecKind kind) {
  return Damaged(kind, "it unpacks to more than " + std::to_string(kMaxBlockBytes) + " bytes");
}

/// How one step of a decompressor ended.
enum class Step { kMore, kEnd, kDamaged, kNoMemory };

/// Calls `step(out, room, &produced)` with ever more room until it ends. The result grows with what
/// is really there, whatever the input claims.
template <typename StepFunction>
Status Unpack(CodecKind kind, size_t packed_bytes, std::string* out, StepFunction step) {
  size_t used = 0;
  out->resize(std::max(kFirstOutputBytes, std::min<size_t>(packed_bytes * 4, 4 << 20)));
  while (true) {
    if (used == out->size()) {
      if (used >= static_cast<size_t>(kMaxBlockBytes)) return TooLarge(kind);
      out->resize(std::min<size_t>(used * 2, kMaxBlockBytes));
    }
    size_t produced = 0;
    const size_t room = out->size() - used;
    const Step result = step(out->data() + used, room, &produced);
    used += produced;
    if (result == Step::kEnd) break;
    if (result == Step::kNoMemory) return NoMemory();
    // Without output though there was room, more room does not help.
    if (result == Step::kDamaged || produced == 0) {
      return Damaged(kind, "it ends early or holds other bytes");
    }
  }
  out->resize(used);
  return {};
}

class NullCodec final : public BlockCodec {
 public:
  Status Compress(std::string_view plain, std::string* out) override {
    out->assign(plain);
    return {};
  }
  Status Decompress(std::string_view packed, std::string* out) override {
    out->assign(packed);
    return {};
  }
};

// RFC 1951 without the header of zlib, as the specification wants it.
class DeflateCodec final : public BlockCodec {
 public:
  ~DeflateCodec() override {
    if (packing_) deflateEnd(&pack_);
    if (unpacking_) inflateEnd(&unpack_);
  }

  Status Compress(std::string_view plain, std::string* out) override {
    if (!packing_) {
      packing_ = deflateInit2(&pack_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8,
                              Z_DEFAULT_STRATEGY) == Z_OK;
      if (!packing_) return NoMemory();
    }
    deflateReset(&pack_);
    out->resize(deflateBound(&pack_, plain.size()));
    Start(&pack_, plain, out->data(), out->size());
    if (deflate(&pack_, Z_FINISH) != Z_STREAM_END) return NoMemory();
    out->resize(pack_.total_out);
    return {};
  }

  Status Decompress(std::string_view packed, std::string* out) override {
    if (!unpacking_) {
      unpacking_ = inflateInit2(&unpack_, -15) == Z_OK;
      if (!unpacking_) return NoMemory();
    }
    inflateReset(&unpack_);
    Start(&unpack_, packed, nullptr, 0);
    return Unpack(CodecKind::kDeflate, packed.size(), out,
                  [&](char* to, size_t room, size_t* produced) {
                    unpack_.next_out = reinterpret_cast<Bytef*>(to);
                    unpack_.avail_out = static_cast<uInt>(room);
                    const int result = inflate(&unpack_, Z_NO_FLUSH);
                    *produced = room - unpack_.avail_out;
                    if (result == Z_STREAM_END) {
                      return unpack_.avail_in <= kChecksumBytes ? Step::kEnd : Step::kDamaged;
                    }
                    if (result == Z_MEM_ERROR) return Step::kNoMemory;
                    return result == Z_OK || result == Z_BUF_ERROR ? Step::kMore : Step::kDamaged;
                  });
  }

 private:
  static void Start(z_stream* stream, std::string_view in, char* out, size_t out_bytes) {
    stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream->avail_in = static_cast<uInt>(in.size());
    stream->next_out = reinterpret_cast<Bytef*>(out);
    stream->avail_out = static_cast<uInt>(out_bytes);
  }
  // fastavro leaves a part of zlib's checksum behind the data.
  static constexpr uInt kChecksumBytes = 4;

  z_stream pack_{};
  z_stream unpack_{};
  bool packing_ = false;
  bool unpacking_ = false;
};

// Snappy's raw form, followed by the CRC-32 of the plain bytes, most significant byte first.
class SnappyCodec final : public BlockCodec {
 public:
  Status Compress(std::string_view plain, std::string* out) override {
    SLUICE_RETURN_NOT_OK(Prepare());
    const auto* from = reinterpret_cast<const uint8_t*>(plain.data());
    const auto size = static_cast<int64_t>(plain.size());
    const int64_t bound = codec_->MaxCompressedLen(size, from);
    out->resize(static_cast<size_t>(bound) + 4);
    SLUICE_ASSIGN_ARROW(
        const int64_t packed,
        codec_->Compress(size, from, bound, reinterpret_cast<uint8_t*>(out->data())));
    StoreCrc(Crc32(plain), out->data() + packed);
    out->resize(static_cast<size_t>(packed) + 4);
    return {};
  }

  Status Decompress(std::string_view packed, std::string* out) override {
    SLUICE_RETURN_NOT_OK(Prepare());
    if (packed.size() < 5) return Damaged(CodecKind::kSnappy, "it is too short");
    const std::string_view data = packed.substr(0, packed.size() - 4);
    std::string_view length = data;
    uint32_t claimed_bytes = 0;
    if (ReadVarint(&length, &claimed_bytes) != VarintRead::kWhole) {
      return Damaged(CodecKind::kSnappy, "its length cannot be read");
    }
    const int64_t plain_bytes = claimed_bytes;
    if (plain_bytes > kMaxBlockBytes) return TooLarge(CodecKind::kSnappy);
    // Snappy's longest copy is 64 bytes of 3: what claims more is not believed.
    if (plain_bytes > static_cast<int64_t>(data.size()) * 64) {
      return Damaged(CodecKind::kSnappy, "its length cannot be right");
    }
    out->resize(static_cast<size_t>(plain_bytes));
    const auto unpacked = codec_->Decompress(static_cast<int64_t>(data.size()),
                                             reinterpret_cast<const uint8_t*>(data.data()),
                                             plain_bytes, reinterpret_cast<uint8_t*>(out->data()));
    if (!unpacked.ok() || *unpacked != plain_bytes) {
      return Damaged(CodecKind::kSnappy, "it holds other bytes");
    }
    char crc[4];
    StoreCrc(Crc32(*out), crc);
    if (packed.substr(packed.size() - 4) != std::string_view(crc, 4)) {
      return Damaged(CodecKind::kSnappy, "its checksum does not match");
    }
    return {};
  }

 private:
  Status Prepare() {
    if (codec_ != nullptr) return {};
    SLUICE_ASSIGN_ARROW(codec_, arrow::util::Codec::Create(arrow::Compression::SNAPPY));
    return {};
  }
  static void StoreCrc(uint32_t crc, char* to) {
    for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(crc >> (24 - 8 * i));
  }
  std::unique_ptr<arrow::util::Codec> codec_;
};

class Bzip2Codec final : public BlockCodec {
 public:
  Status Compress(std::string_view plain, std::string* out) override {
    out->resize(plain.size() + plain.size() / 100 + 601);  // The bound that the library gives.
    auto size = static_cast<unsigned>(out->size());
    const int result = BZ2_bzBuffToBuffCompress(out->data(), &size, const_cast<char*>(plain.data()),
                                                static_cast<unsigned>(plain.size()), 9, 0, 0);
    if (result != BZ_OK) return NoMemory();
    out->resize(size);
    return {};
  }

  Status Decompress(std::string_view packed, std::string* out) override {
    bz_stream stream{};
    if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) return NoMemory();
    stream.next_in = const_cast<char*>(packed.data());
    stream.avail_in = static_cast<unsigned>(packed.size());
    Status status =
        Unpack(CodecKind::kBzip2, packed.size(), out, [&](char* to, size_t room, size_t* produced) {
          stream.next_out = to;
          stream.avail_out = static_cast<unsigned>(room);
          const int result = BZ2_bzDecompress(&stream);
          *produced = room - stream.avail_out;
          if (result == BZ_STREAM_END) {
            return stream.avail_in == 0 ? Step::kEnd : Step::kDamaged;
          }
          if (result == BZ_MEM_ERROR) return Step::kNoMemory;
          return result == BZ_OK ? Step::kMore : Step::kDamaged;
        });
    BZ2_bzDecompressEnd(&stream);
    return status;
  }
};

class XzCodec final : public BlockCodec {
 public:
  ~XzCodec() override { lzma_end(&stream_); }

  Status Compress(std::string_view plain, std::string* out) override {
    lzma_options_lzma preset;
    if (lzma_lzma_preset(&preset, 6)) return NoMemory();
    // A dictionary beyond the block buys nothing and costs ten times its size in memory.
    preset.dict_size = std::clamp<uint32_t>(static_cast<uint32_t>(plain.size()), LZMA_DICT_SIZE_MIN,
                                            preset.dict_size);
    const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &preset}, {LZMA_VLI_UNKNOWN, nullptr}};
    out->resize(lzma_stream_buffer_bound(plain.size()));
    size_t size = 0;
    const lzma_ret result =
        lzma_stream_buffer_encode(const_cast<lzma_filter*>(filters), LZMA_CHECK_CRC64, nullptr,
                                  reinterpret_cast<const uint8_t*>(plain.data()), plain.size(),
                                  reinterpret_cast<uint8_t*>(out->data()), &size, out->size());
    if (result != LZMA_OK) return NoMemory();
    out->resize(size);
    return {};
  }

  Status Decompress(std::string_view packed, std::string* out) override {
    // Enough for a dictionary of 64 MiB, which is what the highest preset asks for.
    constexpr uint64_t kMemoryLimit = 80 << 20;
    if (lzma_stream_decoder(&stream_, kMemoryLimit, 0) != LZMA_OK) return NoMemory();
    stream_.next_in = reinterpret_cast<const uint8_t*>(packed.data());
    stream_.avail_in = packed.size();
    return Unpack(CodecKind::kXz, packed.size(), out, [&](char* to, size_t room, size_t* produced) {
      stream_.next_out = reinterpret_cast<uint8_t*>(to);
      stream_.avail_out = room;
      const lzma_ret result = lzma_code(&stream_, LZMA_RUN);
      *produced = room - stream_.avail_out;
      if (result == LZMA_STREAM_END) {
        return stream_.avail_in == 0 ? Step::kEnd : Step::kDamaged;
      }
      if (result == LZMA_MEM_ERROR) return Step::kNoMemory;
      return result == LZMA_OK || result == LZMA_BUF_ERROR ? Step::kMore : Step::kDamaged;
    });
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class ZstandardCodec final : public BlockCodec {
 public:
  ~ZstandardCodec() override {
    ZSTD_freeCCtx(pack_);
    ZSTD_freeDCtx(unpack_);
  }

  Status Compress(std::string_view plain, std::string* out) override {
    if (pack_ == nullptr) pack_ = ZSTD_createCCtx();
    if (pack_ == nullptr) return NoMemory();
    out->resize(ZSTD_compressBound(plain.size()));
    const size_t size =
        ZSTD_compressCCtx(pack_, out->data(), out->size(), plain.data(), plain.size(), 3);
    if (ZSTD_isError(size)) return NoMemory();
    out->resize(size);
    return {};
  }

  Status Decompress(std::string_view packed, std::string* out) override {
    if (unpack_ == nullptr) unpack_ = ZSTD_createDCtx();
    if (unpack_ == nullptr) return NoMemory();
    ZSTD_DCtx_reset(unpack_, ZSTD_reset_session_only);
    ZSTD_inBuffer input{packed.data(), packed.size(), 0};
    return Unpack(CodecKind::kZstandard, packed.size(), out,
                  [&](char* to, size_t room, size_t* produced) {
                    ZSTD_outBuffer output{to, room, 0};
                    const size_t result = ZSTD_decompressStream(unpack_, &output, &input);
                    *produced = output.pos;
                    if (ZSTD_isError(result)) return Step::kDamaged;
                    if (result == 0) return input.pos == input.size ? Step::kEnd : Step::kDamaged;
                    return Step::kMore;
                  });
  }

 private:
  ZSTD_CCtx* pack_ = nullptr;
  ZSTD_DCtx* unpack_ = nullptr;
};

}  // namespace

std::string_view CodecName(CodecKind kind) { return kNames[static_cast<size_t>(kind)]; }

Result<CodecKind> FindCodec(std::string_view name) {
  std::string list;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<CodecKind>(i);
    list += (i == 0 ? "" : ", ") + std::string(kNames[i]);
  }
  return Status::InvalidArgument("Unrecognized codec: " + std::string(name) + ". The codecs are " +
                                 list + ".");
}

std::unique_ptr<BlockCodec> BlockCodec::Make(CodecKind kind) {
  switch (kind) {
    case CodecKind::kDeflate:
      return std::make_unique<DeflateCodec>();
    case CodecKind::kSnappy:
      return std::make_unique<SnappyCodec>();
    case CodecKind::kBzip2:
      return std::make_unique<Bzip2Codec>();
    case CodecKind::kXz:
      return std::make_unique<XzCodec>();
    case CodecKind::kZstandard:
      return std::make_unique<ZstandardCodec>();
    case CodecKind::kNull:
      break;
  }
  return std::make_unique<NullCodec>();
}

}  // namespace sluice::formats::avro
