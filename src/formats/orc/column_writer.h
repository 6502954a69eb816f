// Encodes one column of a stripe and what is below it.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>

#include "common/result.h"
#include "formats/orc/block_stream.h"
#include "formats/orc/bloom_filter.h"
#include "formats/orc/metadata.h"
#include "formats/orc/run_length.h"
#include "types/sql_type.h"

namespace sluice::formats::orc_format {

/// What all columns of a file share. Must outlive their writers.
struct EncodeSettings {
  std::shared_ptr<const BlockCodec> codec;
  bool row_index = true;
  double dictionary_threshold =
      0.8;  // Most distinct values a value, above it there is no dictionary.
  std::set<uint64_t> bloom_columns;  // Ids of columns with a bloom filter a stride.
  int64_t bloom_values = 0;          // That each filter has room for.
  double bloom_share = 0.05;
};

/// An encoded stripe, column after column in the order of their ids.
struct StripeContent {
  struct Stream {
    StreamKind kind;
    uint64_t column;
    std::string bytes;
  };
  std::vector<Stream> indexes;
  std::vector<Stream> data;
  std::vector<ColumnEncoding> encodings;
  std::vector<ColumnStatistics> statistics;
};

/// Not thread-safe. Rows of one stripe are appended between calls of Finish; BeginStride is called
/// before the first row of each stride (also the first) when a row index is written.
class ColumnWriter {
 public:
  virtual ~ColumnWriter() = default;

  /// Appends rows [begin, end) of `values`, whose type is that of the column's SQL type. Fails with
  /// kDataError for a value that the format cannot hold.
  Status Append(const arrow::Array& values, int64_t begin, int64_t end);
  Status BeginStride();
  /// Encodes what is held, adds it to `stripe`, and begins anew.
  Status Finish(StripeContent* stripe);
  /// Bytes held, encoded or not.
  virtual size_t size() const = 0;

 protected:
  ColumnWriter(uint64_t column, const OrcType& type, const EncodeSettings* settings)
      : settings_(*settings),
        column_(column),
        type_(type),
        has_bloom_(settings->bloom_columns.contains(column)),
        present_(settings->codec.get()) {}

  /// Appends rows [begin, end), all of them valid.
  virtual Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) = 0;
  /// Appends the positions of the next value in the streams behind the presence bits.
  virtual Status AppendPositions(std::vector<uint64_t>* positions) = 0;
  virtual Status BeginChildStrides() { return {}; }
  /// Adds the streams behind the presence bits.
  virtual Status FinishStreams(StripeContent* stripe) = 0;
  virtual Status FinishChildren(StripeContent*) { return {}; }
  virtual ColumnEncoding encoding() const { return {EncodingKind::kDirect, 0}; }
  /// Called before the index is written: positions that are known only now (dictionaries).
  virtual Status FixPositions() { return {}; }

  void AddStream(StreamKind kind, std::string bytes, StripeContent* stripe) const {
    stripe->data.push_back({kind, column_, std::move(bytes)});
  }
  size_t present_size() const { return present_.size(); }
  /// The filter of the open stride, null for a column without one.
  BloomFilter* bloom() { return has_bloom_ ? &*strides_.back().bloom : nullptr; }

  struct Stride {
    std::vector<uint64_t> present_positions;
    std::vector<uint64_t> positions;
    ColumnStatistics statistics;
    std::optional<BloomFilter> bloom;
  };

  const EncodeSettings& settings_;
  const uint64_t column_;
  const OrcType type_;
  ColumnStatistics stride_;  // Of the open stride.
  std::vector<Stride> strides_;

 private:
  void EndStride();
  Status AddIndex(StripeContent* stripe);
  Status AddBloomFilters(StripeContent* stripe);

  const bool has_bloom_;
  BitEncoder present_;
  ColumnStatistics stripe_;  // Of the ended strides.
};

/// Writers for the columns of a file: the root struct. `types` as MakeOrcTypes gave them.
std::unique_ptr<ColumnWriter> MakeRootWriter(const std::vector<SqlType>& columns,
                                             const std::vector<OrcType>& types,
                                             const EncodeSettings* settings);

}  // namespace sluice::formats::orc_format
