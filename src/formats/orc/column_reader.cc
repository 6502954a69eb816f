#include "formats/orc/column_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <arrow/api.h>

#include "common/text.h"
#include "formats/orc/file_column.h"
#include "formats/orc/orc_times.h"
#include "formats/orc/run_length.h"
#include "types/arrow_status.h"
#include "types/calendar.h"
#include "types/map_keys.h"
#include "types/value_text.h"

namespace sluice::formats::orc_format {

namespace {

// Elements of the lists of one batch. Run lengths can tell of any number in a few bytes: without a
// bound a damaged file would ask for all memory.
constexpr int64_t kMostElements = int64_t{1} << 25;
// Entries of a dictionary, for the same reason.
constexpr uint64_t kMostDictionaryEntries = uint64_t{1} << 24;

class MissingColumn final : public ColumnReader {
 public:
  MissingColumn(const SqlType& type, arrow::MemoryPool* pool)
      : type_(type.ToArrow()), pool_(pool) {}
  Result<ArrayPtr> Read(int64_t row_count, const uint8_t*, int64_t*) override {
    return FromArrow(arrow::MakeArrayOfNull(type_, row_count, pool_));
  }
  bool CanSeek(size_t) const override { return true; }
  void Seek(size_t) override {}

 private:
  const std::shared_ptr<arrow::DataType> type_;
  arrow::MemoryPool* const pool_;
};

class BooleanReader final : public FileColumn {
 public:
  BooleanReader(const ReadNode& node, const StripeSource& source)
      : FileColumn(node, source), bits_(Open(StreamKind::kData)) {
    SeekWith(&bits_);
  }

 private:
  Result<ArrayPtr> ReadValues(const Presence& presence, int64_t*) override {
    arrow::TypedBufferBuilder<bool> values(source_.pool);
    SLUICE_RETURN_ARROW(values.Reserve(presence.row_count));
    for (int64_t row = 0; row < presence.row_count; ++row)
      values.UnsafeAppend(presence.at(row) && bits_.Next());
    SLUICE_ASSIGN_ARROW(BufferPtr buffer, values.Finish());
    return FixedArray(presence, std::move(buffer));
  }

  BitDecoder bits_;
};

// tinyint to bigint as any number type.
class IntegerReader final : public FileColumn {
 public:
  IntegerReader(const ReadNode& node, const StripeSource& source) : FileColumn(node, source) {
    if (file_type_.kind == OrcKind::kByte) {
      bytes_ = std::make_unique<ByteRunDecoder>(Open(StreamKind::kData));
      SeekWith(bytes_.get());
    } else {
      integers_ = OpenIntegers(StreamKind::kData, true);
      SeekWith(integers_.get());
    }
  }

 private:
  Result<ArrayPtr> ReadValues(const Presence& presence, int64_t* bad_row) override {
    const std::vector<int64_t> values = ReadFileValues(presence.value_count);
    switch (type_.kind()) {
      case TypeKind::kTinyint:
        return Narrowed<int8_t>(presence, values, bad_row);
      case TypeKind::kSmallint:
        return Narrowed<int16_t>(presence, values, bad_row);
      case TypeKind::kInt:
        return Narrowed<int32_t>(presence, values, bad_row);
      case TypeKind::kBigint:
        return Narrowed<int64_t>(presence, values, bad_row);
      case TypeKind::kFloat:
        return AsReal<float>(presence, values);
      case TypeKind::kDouble:
        return AsReal<double>(presence, values);
      default:
        return AsDecimal(presence, values, bad_row);
    }
  }

  std::vector<int64_t> ReadFileValues(int64_t count) {
    if (integers_ != nullptr) return ReadIntegers(integers_.get(), count);
    std::vector<int64_t> values(static_cast<size_t>(count));
    for (int64_t& value : values) value = static_cast<int8_t>(bytes_->Next());
    return values;
  }

  Status TooLarge(int64_t value, int64_t row, int64_t* bad_row) const {
    *bad_row = row;
    return Status::DataError("The value " + std::to_string(value) + " does not fit " +
                             type_.WithNullable(true).ToString());
  }

  template <typename T>
  Result<ArrayPtr> Narrowed(const Presence& presence, const std::vector<int64_t>& values,
                            int64_t* bad_row) const {
    SLUICE_ASSIGN_OR_RETURN(BufferPtr buffer, Slots<T>(presence.row_count));
    T* const out = buffer->mutable_data_as<T>();
    auto next = values.begin();
    for (int64_t row = 0; row < presence.row_count; ++row) {
      if (!presence.at(row)) continue;
      out[row] = static_cast<T>(*next);
      if (out[row] != *next) return TooLarge(*next, row, bad_row);
      ++next;
    }
    return FixedArray(presence, std::move(buffer));
  }

  template <typename T>
  Result<ArrayPtr> AsReal(const Presence& presence, const std::vector<int64_t>& values) const {
    SLUICE_ASSIGN_OR_RETURN(BufferPtr buffer, Slots<T>(presence.row_count));
    auto next = values.begin();
    for (int64_t row = 0; row < presence.row_count; ++row) {
      if (presence.at(row)) buffer->mutable_data_as<T>()[row] = static_cast<T>(*next++);
    }
    return FixedArray(presence, std::move(buffer));
  }

  Result<ArrayPtr> AsDecimal(const Presence& presence, const std::vector<int64_t>& values,
                             int64_t* bad_row) const {
    SLUICE_ASSIGN_OR_RETURN(BufferPtr buffer, Slots<arrow::Decimal128>(presence.row_count));
    auto next = values.begin();
    for (int64_t row = 0; row < presence.row_count; ++row) {
      if (!presence.at(row)) continue;
      const auto scaled = arrow::Decimal128(*next).Rescale(0, type_.scale());
      if (!scaled.ok() || !scaled->FitsInPrecision(type_.precision()))
        return TooLarge(*next, row, bad_row);
      scaled->ToBytes(buffer->mutable_data() + row * 16);
      ++next;
    }
    return FixedArray(presence, std::move(buffer));
  }

  std::unique_ptr<ByteRunDecoder> bytes_;
  std::unique_ptr<IntegerDecoder> integers_;
};

// float and double as FLOAT and DOUBLE.
template <typename Stored, typename Wanted>
class RealReader final : public FileColumn {
 public:
  RealReader(const ReadNode& node, const StripeSource& source)
      : FileColumn(node, source), input_(Open(StreamKind::kData)) {
    SeekWith(input_);
  }

 private:
  Result<ArrayPtr> ReadValues(const Presence& presence, int64_t*) override {
    static_assert(std::endian::native == std::endian::little);
    std::vector<Stored> values(static_cast<size_t>(presence.value_count));
    input_->Read(reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(Stored));
    SLUICE_ASSIGN_OR_RETURN(BufferPtr buffer, Slots<Wanted>(presence.row_count));
    auto next = values.begin();
    for (int64_t row = 0; row < presence.row_count; ++row) {
      if (presence.at(row)) buffer->mutable_data_as<Wanted>()[row] = static_cast<Wanted>(*next++);
    }
    return FixedArray(presence, std::move(buffer));
  }

  StreamInput* const input_;
};

// string, varchar, char and binary.
class BytesReader final : public FileColumn {
 public:
  BytesReader(const ReadNode& node, const StripeSource& source)
      : FileColumn(node, source),
        uses_dictionary_(encoding_.kind == EncodingKind::kDictionary ||
                         encoding_.kind == EncodingKind::kDictionaryV2),
        data_(Open(uses_dictionary_ ? StreamKind::kDictionaryData : StreamKind::kData)),
        lengths_(OpenIntegers(StreamKind::kLength, false)) {
    if (uses_dictionary_) {
      ids_ = OpenIntegers(StreamKind::kData, false);
      SeekWith(ids_.get());
    } else {
      SeekWith(data_);
      SeekWith(lengths_.get());
    }
  }

 private:
  Result<ArrayPtr> ReadValues(const Presence& presence, int64_t* bad_row) override {
    std::string bytes;
    std::vector<std::string_view> values;
    if (uses_dictionary_) {
      SLUICE_RETURN_NOT_OK(LoadDictionary());
      SLUICE_ASSIGN_OR_RETURN(values, LookUp(presence.value_count));
    } else {
      const std::vector<int64_t> lengths = ReadIntegers(lengths_.get(), presence.value_count);
      SLUICE_ASSIGN_OR_RETURN(values, ReadPieces(lengths, &bytes));
    }
    if (file_type_.kind == OrcKind::kChar) CutBlanks(&values);
    return Spread(presence, values, bad_row);
  }

  Result<std::vector<std::string_view>> ReadPieces(const std::vector<int64_t>& lengths,
                                                   std::string* bytes) {
    int64_t total = 0;
    for (const int64_t length : lengths) {
      if (length < 0 || length > INT32_MAX - total) {
        return Status::DataError(
            "The stripe is damaged or a batch of it has more than 2 GiB of text: a value has the "
            "length " +
            std::to_string(length));
      }
      total += length;
    }
    data_->AppendTo(bytes, static_cast<size_t>(total));
    SLUICE_RETURN_NOT_OK(StreamStatus());
    std::vector<std::string_view> pieces;
    pieces.reserve(lengths.size());
    std::string_view rest = *bytes;
    for (const int64_t length : lengths) {
      pieces.push_back(rest.substr(0, static_cast<size_t>(length)));
      rest.remove_prefix(static_cast<size_t>(length));
    }
    return pieces;
  }

  Status LoadDictionary() {
    if (std::exchange(dictionary_loaded_, true)) return {};
    if (encoding_.dictionary_size > kMostDictionaryEntries) {
      return Status::DataError("The stripe is damaged: it tells of a dictionary of " +
                               std::to_string(encoding_.dictionary_size) + " texts");
    }
    const std::vector<int64_t> lengths =
        ReadIntegers(lengths_.get(), static_cast<int64_t>(encoding_.dictionary_size));
    SLUICE_RETURN_NOT_OK(StreamStatus());
    SLUICE_ASSIGN_OR_RETURN(dictionary_, ReadPieces(lengths, &dictionary_bytes_));
    return {};
  }

  Result<std::vector<std::string_view>> LookUp(int64_t count) {
    const std::vector<int64_t> ids = ReadIntegers(ids_.get(), count);
    SLUICE_RETURN_NOT_OK(StreamStatus());
    std::vector<std::string_view> values;
    values.reserve(ids.size());
    for (const int64_t id : ids) {
      if (static_cast<uint64_t>(id) >= dictionary_.size()) {
        return Status::DataError("The stripe is damaged: a value is number " + std::to_string(id) +
                                 " of a dictionary of " + std::to_string(dictionary_.size()));
      }
      values.push_back(dictionary_[static_cast<size_t>(id)]);
    }
    return values;
  }

  // CHAR(n) is stored with its blanks and read without them.
  static void CutBlanks(std::vector<std::string_view>* values) {
    for (std::string_view& value : *values)
      value = value.substr(0, value.find_last_not_of(' ') + 1);
  }

  Result<ArrayPtr> Spread(const Presence& presence, const std::vector<std::string_view>& values,
                          int64_t* bad_row) const {
    int64_t total = 0;
    for (const std::string_view value : values) total += static_cast<int64_t>(value.size());
    if (total > INT32_MAX) return Status::DataError("A batch of rows has more than 2 GiB of text");
    SLUICE_ASSIGN_OR_RETURN(BufferPtr offsets, Slots<int32_t>(presence.row_count + 1));
    SLUICE_ASSIGN_OR_RETURN(BufferPtr bytes, Slots<uint8_t>(total));
    int32_t at = 0;
    auto next = values.begin();
    for (int64_t row = 0; row < presence.row_count; ++row) {
      offsets->mutable_data_as<int32_t>()[row] = at;
      if (!presence.at(row)) continue;
      const std::string_view value = *next++;
      if (type_.is_character() && !IsValidUtf8(value)) {
        *bad_row = row;
        return Status::DataError("The text is not UTF-8: '" + Printable(value, 60) +
                                 "'. Declare the column as BYTES to read it as it is");
      }
      std::memcpy(bytes->mutable_data() + at, value.data(), value.size());
      at += static_cast<int32_t>(value.size());
    }
    offsets->mutable_data_as<int32_t>()[presence.row_count] = at;
    SLUICE_ASSIGN_OR_RETURN(BufferPtr bitmap, Bitmap(presence));
    return arrow::MakeArray(arrow::ArrayData::Make(
        arrow_type_, presence.row_count, {std::move(bitmap), std::move(offsets), std::move(bytes)},
        presence.row_count - presence.value_count));
  }

  const bool uses_dictionary_;
  StreamInput* const data_;
  const std::unique_ptr<IntegerDecoder> lengths_;
  std::unique_ptr<IntegerDecoder> ids_;
  bool dictionary_loaded_ = false;
  std::string dictionary_bytes_;
  std::vector<std::string_view> dictionary_;
};

class DecimalReader final : public FileColumn {
 public:
  DecimalReader(const ReadNode& node, const StripeSource& source)
      : FileColumn(node, source),
        digits_(Open(StreamKind::kData)),
        scales_(OpenIntegers(StreamKind::kSecondary, true)) {
    SeekWith(digits_);
    SeekWith(scales_.get());
  }

 private:
  Result<ArrayPtr> ReadValues(const Presence& presence, int64_t* bad_row) override {
    const std::vector<int64_t> scales = ReadIntegers(scales_.get(), presence.value_count);
    SLUICE_ASSIGN_OR_RETURN(BufferPtr buffer, Slots<arrow::Decimal128>(presence.row_count));
    auto scale = scales.begin();
    for (int64_t row = 0; row < presence.row_count; ++row) {
      if (!presence.at(row)) continue;
      const arrow::Decimal128 value = ReadDigits();
      if (digits_->failed()) break;
      const Result<arrow::Decimal128> rescaled = Rescaled(value, *scale++);
      if (!rescaled.ok()) {
        *bad_row = row;
        return rescaled.status();
      }
      rescaled->ToBytes(buffer->mutable_data() + row * 16);
    }
    return FixedArray(presence, std::move(buffer));
  }

  // In zigzag form.
  arrow::Decimal128 ReadDigits() {
    const auto bits = digits_->ReadVarint<unsigned __int128>();
    const unsigned __int128 value = bits >> 1 ^ (~(bits & 1) + 1);
    return {static_cast<int64_t>(value >> 64), static_cast<uint64_t>(value)};
  }

  Result<arrow::Decimal128> Rescaled(const arrow::Decimal128& value, int64_t scale) const {
    const bool possible = scale >= 0 && scale <= 38;
    if (possible) {
      const auto rescaled = value.Rescale(static_cast<int32_t>(scale), type_.scale());
      if (rescaled.ok() && rescaled->FitsInPrecision(type_.precision())) return *rescaled;
    }
    return Status::DataError("The value " +
                             (possible ? value.ToString(static_cast<int32_t>(scale))
                                       : "of scale " + std::to_string(scale)) +
                             " does not fit " + type_.WithNullable(true).ToString());
  }

  StreamInput* const digits_;
  const std::unique_ptr<IntegerDecoder> scales_;
};

class DateReader final : public FileColumn {
 public:
  DateReader(const ReadNode& node, const StripeSource& source)
      : FileColumn(node, source), days_(OpenIntegers(StreamKind::kData, true)) {
    SeekWith(days_.get());
  }

 private:
  Result<ArrayPtr> ReadValues(const Presence& presence, int64_t* bad_row) override {
    const std::vector<int64_t> values = ReadIntegers(days_.get(), presence.value_count);
    SLUICE_ASSIGN_OR_RETURN(BufferPtr buffer, Slots<int32_t>(presence.row_count));
    auto next = values.begin();
    const bool hybrid = source_.calendar->hybrid_dates();
    for (int64_t row = 0; row < presence.row_count; ++row) {
      if (!presence.at(row)) continue;
      source_.calendar->TellOfDay(*next);
      const int64_t days = hybrid ? HybridToProlepticDays(*next) : *next;
      ++next;
      if (days != static_cast<int32_t>(days)) {
        *bad_row = row;
        return Status::DataError("The day number " + std::to_string(days) + " is no date");
      }
      buffer->mutable_data_as<int32_t>()[row] = static_cast<int32_t>(days);
    }
    return FixedArray(presence, std::move(buffer));
  }

  const std::unique_ptr<IntegerDecoder> days_;
};

class TimestampReader final : public FileColumn {
 public:
  TimestampReader(const ReadNode& node, const StripeSource& source)
      : FileColumn(node, source),
        seconds_(OpenIntegers(StreamKind::kData, true)),
        nanos_(OpenIntegers(StreamKind::kSecondary, false)),
        stored_instants_(file_type_.kind == OrcKind::kTimestampInstant),
        wants_instants_(type_.kind() == TypeKind::kTimestampLtz),
        base_seconds_(stored_instants_ || source.writer_zone.is_utc()
                          ? kBaseSeconds
                          : source.writer_zone.LocalToInstantSeconds(kBaseSeconds)) {
    SeekWith(seconds_.get());
    SeekWith(nanos_.get());
  }

 private:
  Result<ArrayPtr> ReadValues(const Presence& presence, int64_t* bad_row) override {
    const std::vector<int64_t> seconds = ReadIntegers(seconds_.get(), presence.value_count);
    const std::vector<int64_t> nanos = ReadIntegers(nanos_.get(), presence.value_count);
    SLUICE_RETURN_NOT_OK(StreamStatus());
    SLUICE_ASSIGN_OR_RETURN(BufferPtr buffer, Slots<int64_t>(presence.row_count));
    size_t next = 0;
    for (int64_t row = 0; row < presence.row_count; ++row) {
      if (!presence.at(row)) continue;
      const StoredTime stored{seconds[next], static_cast<uint64_t>(nanos[next])};
      ++next;
      const bool sane = stored.seconds > -kMostSeconds && stored.seconds < kMostSeconds;
      const Moment moment = sane ? Shifted(FromStored(stored, base_seconds_)) : Moment{};
      int64_t* const out = buffer->mutable_data_as<int64_t>() + row;
      if (sane && JoinTimestamp(moment.seconds, moment.nanos, type_.precision(), out)) continue;
      *bad_row = row;
      return Status::DataError("The time " + std::to_string(moment.seconds) +
                               " seconds from 1970 does not fit " +
                               type_.WithNullable(true).ToString() +
                               (type_.precision() > 6 ? ": with more than six digits it reaches "
                                                        "from 1677 to 2262 only"
                                                      : ""));
    }
    return FixedArray(presence, std::move(buffer));
  }

  // From the file's frame to the column's: wall clock of the writer, of the session, or instant.
  Moment Shifted(Moment moment) const {
    if (!stored_instants_ && !source_.writer_zone.is_utc())
      moment.seconds += source_.writer_zone.OffsetSecondsAt(moment.seconds);
    if (source_.calendar->hybrid_times()) {
      const int64_t days = FloorDiv(moment.seconds, kSecondsPerDay);
      moment.seconds += (HybridToProlepticDays(days) - days) * kSecondsPerDay;
    }
    if (stored_instants_ == wants_instants_) return moment;
    moment.seconds = wants_instants_
                         ? source_.session_zone.LocalToInstantSeconds(moment.seconds)
                         : moment.seconds + source_.session_zone.OffsetSecondsAt(moment.seconds);
    return moment;
  }

  const std::unique_ptr<IntegerDecoder> seconds_;
  const std::unique_ptr<IntegerDecoder> nanos_;
  const bool stored_instants_;
  const bool wants_instants_;
  const int64_t base_seconds_;
};

// A column with others below it.
class ParentReader : public FileColumn {
 public:
  ParentReader(const ReadNode& node, const StripeSource& source,
               std::vector<std::unique_ptr<ColumnReader>> children)
      : FileColumn(node, source), children_(std::move(children)) {}
  bool CanSeek(size_t stride_count) const final {
    return FileColumn::CanSeek(stride_count) &&
           std::all_of(children_.begin(), children_.end(),
                       [stride_count](const auto& child) { return child->CanSeek(stride_count); });
  }
  void Seek(size_t stride) final {
    FileColumn::Seek(stride);
    for (const auto& child : children_) child->Seek(stride);
  }

 protected:
  const std::vector<std::unique_ptr<ColumnReader>> children_;
};

class StructReader final : public ParentReader {
 public:
  using ParentReader::ParentReader;

 private:
  Result<ArrayPtr> ReadValues(const Presence& presence, int64_t* bad_row) override {
    arrow::ArrayDataVector fields;
    for (size_t i = 0; i < children_.size(); ++i) {
      auto field = children_[i]->Read(presence.row_count, presence.data(), bad_row);
      if (!field.ok())
        return field.status().WithContext("In field '" + type_.fields()[i].name + "':");
      fields.push_back((*field)->data());
    }
    SLUICE_ASSIGN_OR_RETURN(BufferPtr bitmap, Bitmap(presence));
    return arrow::MakeArray(arrow::ArrayData::Make(arrow_type_, presence.row_count,
                                                   {std::move(bitmap)}, std::move(fields),
                                                   presence.row_count - presence.value_count));
  }
};

// ARRAY and MAP.
class ListReader final : public ParentReader {
 public:
  ListReader(const ReadNode& node, const StripeSource& source,
             std::vector<std::unique_ptr<ColumnReader>> children)
      : ParentReader(node, source, std::move(children)),
        lengths_(OpenIntegers(StreamKind::kLength, false)) {
    SeekWith(lengths_.get());
  }

 private:
  Result<ArrayPtr> ReadValues(const Presence& presence, int64_t* bad_row) override {
    SLUICE_ASSIGN_OR_RETURN(BufferPtr offsets, ReadOffsets(presence));
    const int64_t total = offsets->data_as<int32_t>()[presence.row_count];
    arrow::ArrayDataVector elements;
    for (const auto& child : children_) {
      auto read = child->Read(total, nullptr, bad_row);
      *bad_row = -1;  // It counted elements.
      if (!read.ok()) return read.status();
      elements.push_back((*read)->data());
    }
    if (type_.kind() == TypeKind::kMap) {
      SLUICE_ASSIGN_OR_RETURN(const ArrayPtr keys,
                              ToMapKeys(type_.key(), arrow::MakeArray(elements[0]), source_.pool));
      elements[0] = keys->data();
      elements = {
          arrow::ArrayData::Make(static_cast<const arrow::MapType&>(*arrow_type_).value_type(),
                                 total, {nullptr}, std::move(elements), 0)};
    }
    SLUICE_ASSIGN_OR_RETURN(BufferPtr bitmap, Bitmap(presence));
    return arrow::MakeArray(arrow::ArrayData::Make(
        arrow_type_, presence.row_count, {std::move(bitmap), std::move(offsets)},
        std::move(elements), presence.row_count - presence.value_count));
  }

  Result<BufferPtr> ReadOffsets(const Presence& presence) {
    const std::vector<int64_t> lengths = ReadIntegers(lengths_.get(), presence.value_count);
    SLUICE_RETURN_NOT_OK(StreamStatus());
    SLUICE_ASSIGN_OR_RETURN(BufferPtr offsets, Slots<int32_t>(presence.row_count + 1));
    int64_t at = 0;
    auto next = lengths.begin();
    for (int64_t row = 0; row < presence.row_count; ++row) {
      offsets->mutable_data_as<int32_t>()[row] = static_cast<int32_t>(at);
      if (!presence.at(row)) continue;
      const int64_t length = *next++;
      if (length < 0 || length > kMostElements - at) {
        return Status::DataError("The stripe is damaged, or lists of a batch have more than " +
                                 std::to_string(kMostElements) + " elements");
      }
      at += length;
    }
    offsets->mutable_data_as<int32_t>()[presence.row_count] = static_cast<int32_t>(at);
    return offsets;
  }

  const std::unique_ptr<IntegerDecoder> lengths_;
};

template <typename Stored>
std::unique_ptr<ColumnReader> MakeRealReader(const ReadNode& node, const StripeSource& source) {
  if (node.type.kind() == TypeKind::kFloat)
    return std::make_unique<RealReader<Stored, float>>(node, source);
  return std::make_unique<RealReader<Stored, double>>(node, source);
}

}  // namespace

Result<std::unique_ptr<ColumnReader>> MakeColumnReader(const ReadNode& node,
                                                       const StripeSource& source) {
  using Made = std::unique_ptr<ColumnReader>;
  if (node.column < 0) return Made(std::make_unique<MissingColumn>(node.type, source.pool));
  std::vector<Made> children;
  for (const ReadNode& child : node.children) {
    SLUICE_ASSIGN_OR_RETURN(Made made, MakeColumnReader(child, source));
    children.push_back(std::move(made));
  }
  switch ((*source.types)[static_cast<size_t>(node.column)].kind) {
    case OrcKind::kBoolean:
      return Made(std::make_unique<BooleanReader>(node, source));
    case OrcKind::kByte:
    case OrcKind::kShort:
    case OrcKind::kInt:
    case OrcKind::kLong:
      return Made(std::make_unique<IntegerReader>(node, source));
    case OrcKind::kFloat:
      return MakeRealReader<float>(node, source);
    case OrcKind::kDouble:
      return MakeRealReader<double>(node, source);
    case OrcKind::kDecimal:
      return Made(std::make_unique<DecimalReader>(node, source));
    case OrcKind::kDate:
      return Made(std::make_unique<DateReader>(node, source));
    case OrcKind::kTimestamp:
    case OrcKind::kTimestampInstant:
      return Made(std::make_unique<TimestampReader>(node, source));
    case OrcKind::kList:
    case OrcKind::kMap:
      return Made(std::make_unique<ListReader>(node, source, std::move(children)));
    case OrcKind::kStruct:
      return Made(std::make_unique<StructReader>(node, source, std::move(children)));
    default:
      return Made(std::make_unique<BytesReader>(node, source));
  }
}

}  // namespace sluice::formats::orc_format
