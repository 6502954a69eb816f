// What all readers of a file's columns share: streams, presence, buffers.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <arrow/api.h>

#include "formats/orc/column_reader.h"
#include "formats/orc/run_length.h"
#include "types/arrow_status.h"

namespace sluice::formats::orc_format {

using ArrayPtr = std::shared_ptr<arrow::Array>;
using BufferPtr = std::shared_ptr<arrow::Buffer>;

// Which rows of a batch have a value.
struct Presence {
  int64_t row_count = 0;
  std::vector<uint8_t> valid;  // One byte a row; empty: all.
  int64_t value_count = 0;

  bool at(int64_t row) const { return valid.empty() || valid[static_cast<size_t>(row)] != 0; }
  const uint8_t* data() const { return valid.empty() ? nullptr : valid.data(); }
};

// A column of the file: its streams and its bits of presence.
class FileColumn : public ColumnReader {
 public:
  Result<ArrayPtr> Read(int64_t row_count, const uint8_t* parent_valid, int64_t* bad_row) final {
    SLUICE_ASSIGN_OR_RETURN(const Presence presence,
                            ReadPresence(row_count, parent_valid, bad_row));
    SLUICE_ASSIGN_OR_RETURN(ArrayPtr array, ReadValues(presence, bad_row));
    SLUICE_RETURN_NOT_OK(StreamStatus());
    return array;
  }
  bool CanSeek(size_t stride_count) const override {
    size_t wanted = 0;
    for (const Seekable& seekable : seekables_)
      wanted += std::visit([](const auto* one) { return one->position_count(); }, seekable);
    return positions_.size() == stride_count &&
           std::all_of(positions_.begin(), positions_.end(),
                       [wanted](const auto& of_stride) { return of_stride.size() == wanted; });
  }
  void Seek(size_t stride) override {
    PositionCursor cursor(positions_[stride]);
    for (const Seekable& seekable : seekables_)
      std::visit([&cursor](auto* one) { one->Seek(&cursor); }, seekable);
  }

 protected:
  FileColumn(const ReadNode& node, const StripeSource& source)
      : source_(source),
        type_(node.type),
        arrow_type_(node.type.ToArrow()),
        column_(static_cast<uint64_t>(node.column)),
        file_type_((*source.types)[column_]),
        encoding_(source.footer.encodings[column_]) {
    if (source.streams.contains({column_, StreamKind::kPresent})) {
      present_input_ = Open(StreamKind::kPresent);
      present_ = std::make_unique<BitDecoder>(present_input_);
      SeekWith(present_.get());
    }
    const auto index = source.streams.find({column_, StreamKind::kRowIndex});
    if (index == source.streams.end()) return;
    positions_ = ParsePositions(*source.codec, {index->second->data_as<char>(),
                                                static_cast<size_t>(index->second->size())});
  }

  /// Called by the constructors of readers, in the order in which row indexes tell of streams.
  using Seekable = std::variant<StreamInput*, IntegerDecoder*, ByteRunDecoder*, BitDecoder*>;
  void SeekWith(Seekable seekable) { seekables_.push_back(seekable); }

  /// `value_count` values, spread over the rows.
  virtual Result<ArrayPtr> ReadValues(const Presence& presence, int64_t* bad_row) = 0;

  /// The stream, empty when the stripe does not have it.
  StreamInput* Open(StreamKind kind) {
    const auto found = source_.streams.find({column_, kind});
    inputs_.push_back(std::make_unique<StreamInput>(
        found == source_.streams.end() ? nullptr : found->second, source_.codec));
    return inputs_.back().get();
  }

  std::unique_ptr<IntegerDecoder> OpenIntegers(StreamKind kind, bool is_signed) {
    return MakeIntegerDecoder(Open(kind), encoding_.kind, is_signed);
  }

  Status StreamStatus() const {
    for (const auto& input : inputs_) {
      if (input->failed())
        return Status::DataError("The stripe is damaged: " + input->status().message() + ".");
    }
    return {};
  }

  Result<BufferPtr> Bitmap(const Presence& presence) const {
    if (presence.valid.empty()) return BufferPtr();
    arrow::TypedBufferBuilder<bool> bits(source_.pool);
    SLUICE_RETURN_ARROW(bits.Append(presence.valid.data(), presence.row_count));
    return FromArrow(bits.Finish());
  }

  /// An array of fixed width; `values` has a slot for every row.
  Result<ArrayPtr> FixedArray(const Presence& presence, BufferPtr values) const {
    SLUICE_ASSIGN_OR_RETURN(BufferPtr bitmap, Bitmap(presence));
    return arrow::MakeArray(arrow::ArrayData::Make(arrow_type_, presence.row_count,
                                                   {std::move(bitmap), std::move(values)},
                                                   presence.row_count - presence.value_count));
  }

  /// Zeros for every row.
  template <typename T>
  Result<BufferPtr> Slots(int64_t row_count) const {
    SLUICE_ASSIGN_ARROW(BufferPtr buffer, arrow::AllocateBuffer(std::max<int64_t>(row_count, 1) *
                                                                    static_cast<int64_t>(sizeof(T)),
                                                                source_.pool));
    std::memset(buffer->mutable_data(), 0, static_cast<size_t>(buffer->size()));
    return buffer;
  }

  std::vector<int64_t> ReadIntegers(IntegerDecoder* decoder, int64_t count) {
    std::vector<int64_t> values(static_cast<size_t>(count));
    decoder->Read(values.data(), count);
    return values;
  }

  const StripeSource& source_;
  const SqlType type_;
  const std::shared_ptr<arrow::DataType> arrow_type_;
  const uint64_t column_;
  const OrcType& file_type_;
  const ColumnEncoding encoding_;

 private:
  Result<Presence> ReadPresence(int64_t row_count, const uint8_t* parent_valid, int64_t* bad_row) {
    Presence presence{.row_count = row_count, .value_count = row_count};
    if (present_ == nullptr && parent_valid == nullptr) return presence;
    presence.valid.resize(static_cast<size_t>(row_count));
    presence.value_count = 0;
    for (int64_t row = 0; row < row_count; ++row) {
      if (parent_valid != nullptr && parent_valid[row] == 0) continue;
      const bool valid = present_ == nullptr || present_->Next();
      if (!valid && !type_.nullable() && !present_input_->failed()) {
        *bad_row = row;
        return Status::DataError("A value is NULL, but the table declares " + type_.ToString() +
                                 ". Declare it without NOT NULL");
      }
      presence.valid[static_cast<size_t>(row)] = valid ? 1 : 0;
      presence.value_count += valid ? 1 : 0;
    }
    if (presence.value_count == row_count) presence.valid.clear();
    return presence;
  }

  std::vector<std::unique_ptr<StreamInput>> inputs_;
  StreamInput* present_input_ = nullptr;
  std::unique_ptr<BitDecoder> present_;
  std::vector<Seekable> seekables_;
  StridePositions positions_;
};

}  // namespace sluice::formats::orc_format
