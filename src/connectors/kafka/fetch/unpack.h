// Compression of record batches (KIP-98, attribute bits 0 to 2).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>

#include "common/result.h"

namespace sluice::connectors::kafka::fetch {

enum class Compression : uint8_t { kNone, kGzip, kSnappy, kLz4, kZstd };

/// What one record batch may unpack to. Brokers take at most message.max.bytes packed, 1 MiB by
/// default; a batch that unpacks to more than this is an attack or a mistake.
constexpr int64_t kMaxUnpackedBytes = int64_t{256} << 20;

/// Fails with kDataError for damaged bytes and for more than `limit_bytes`, never with more than
/// that allocated. Snappy is read plain and in the blocks that Java's library writes.
Result<std::shared_ptr<arrow::Buffer>> Unpack(Compression compression, std::string_view packed,
                                              arrow::MemoryPool* pool,
                                              int64_t limit_bytes = kMaxUnpackedBytes);

}  // namespace sluice::connectors::kafka::fetch
