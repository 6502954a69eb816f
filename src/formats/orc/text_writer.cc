#include "formats/orc/text_writer.h"

#include <algorithm>
#include <unordered_map>

#include <arrow/api.h>

namespace sluice::formats::orc_format {

namespace {

// CHAR, VARCHAR and STRING. Values wait for the end of the stripe as numbers of distinct texts,
// until the first stride shows that they rarely repeat: then the column goes on without a
// dictionary.
class TextWriter final : public ColumnWriter {
 public:
  TextWriter(uint64_t column, const OrcType& type, const EncodeSettings* settings)
      : ColumnWriter(column, type, settings),
        data_(settings->codec.get()),
        lengths_(settings->codec.get(), false),
        ids_(settings->codec.get(), false) {
    use_dictionary_ = may_use_dictionary();
  }
  size_t size() const override {
    return present_size() + data_.size() + lengths_.size() + text_bytes_ +
           texts_.size() * kEntryBytes + rows_.size() * sizeof(uint32_t);
  }

 private:
  static constexpr size_t kEntryBytes = 64;  // Of a hash table's entry, about.
  static constexpr size_t kDecisionRows = 10'000;

  bool may_use_dictionary() const { return settings_.dictionary_threshold > 0; }

  Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) override {
    const auto& texts = static_cast<const arrow::StringArray&>(values);
    std::string padded;
    for (int64_t row = begin; row < end; ++row) {
      std::string_view text = texts.GetView(row);
      if (type_.kind == OrcKind::kChar) text = Padded(text, &padded);
      stride_.total_bytes += text.size();
      AddText(text);
      if (bloom() != nullptr) bloom()->Add(HashOfBytes(text));
      if (use_dictionary_) {
        Remember(text);
        if (rows_.size() == kDecisionRows && RarelyRepeat()) SLUICE_RETURN_NOT_OK(Abandon());
      } else {
        SLUICE_RETURN_NOT_OK(AppendDirect(text));
      }
    }
    return {};
  }

  // Hive stores CHAR(n) with its blanks.
  std::string_view Padded(std::string_view text, std::string* padded) const {
    const auto characters = static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
    if (characters >= type_.length) return text;
    padded->assign(text);
    padded->append(type_.length - characters, ' ');
    return *padded;
  }

  void AddText(std::string_view text) {
    if (!stride_.texts) {
      stride_.texts = Range<std::string>{std::string(text), std::string(text)};
    } else if (text < stride_.texts->min) {
      stride_.texts->min = text;
    } else if (text > stride_.texts->max) {
      stride_.texts->max = text;
    }
  }

  void Remember(std::string_view text) {
    auto found = numbers_.find(text);
    if (found == numbers_.end()) {
      texts_.push_back(std::make_unique<std::string>(text));
      text_bytes_ += text.size();
      found = numbers_.emplace(*texts_.back(), static_cast<uint32_t>(texts_.size() - 1)).first;
    }
    rows_.push_back(found->second);
  }

  bool RarelyRepeat() const {
    return static_cast<double>(texts_.size()) >
           settings_.dictionary_threshold * static_cast<double>(rows_.size());
  }

  Status AppendDirect(std::string_view text) {
    SLUICE_RETURN_NOT_OK(data_.Append(text));
    return lengths_.Append(static_cast<int64_t>(text.size()));
  }

  // Calls `at_stride` before the first value of each stride and `append` for each value.
  template <typename Append>
  Status Replay(const Append& append, StreamOutput* first, IntegerEncoder* second) {
    size_t stride = 0;
    for (size_t i = 0; i <= rows_.size(); ++i) {
      for (; stride < stride_starts_.size() && stride_starts_[stride] == i; ++stride) {
        std::vector<uint64_t>& positions = strides_[stride].positions;
        if (first != nullptr) first->AppendPosition(&positions);
        SLUICE_RETURN_NOT_OK(second->AppendPosition(&positions));
      }
      if (i < rows_.size()) SLUICE_RETURN_NOT_OK(append(rows_[i]));
    }
    return {};
  }

  // Goes on without a dictionary.
  Status Abandon() {
    SLUICE_RETURN_NOT_OK(
        Replay([this](uint32_t row) { return AppendDirect(*texts_[row]); }, &data_, &lengths_));
    use_dictionary_ = false;
    Forget();
    return {};
  }

  void Forget() {
    numbers_.clear();
    texts_.clear();
    rows_.clear();
    stride_starts_.clear();
    text_bytes_ = 0;
  }

  Status AppendPositions(std::vector<uint64_t>* positions) override {
    if (use_dictionary_) {
      stride_starts_.push_back(rows_.size());  // FixPositions knows them.
      return {};
    }
    data_.AppendPosition(positions);
    return lengths_.AppendPosition(positions);
  }

  Status FixPositions() override {
    if (!use_dictionary_) return {};
    if (rows_.empty() || RarelyRepeat()) return Abandon();
    // Readers compare by bytes: the dictionary is sorted as Java's writer sorts it.
    std::vector<uint32_t> order(texts_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [this](uint32_t a, uint32_t b) { return *texts_[a] < *texts_[b]; });
    std::vector<uint32_t> place(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      SLUICE_RETURN_NOT_OK(AppendDirect(*texts_[order[i]]));
    }
    return Replay([&](uint32_t row) { return ids_.Append(place[row]); }, nullptr, &ids_);
  }

  Status FinishStreams(StripeContent* stripe) override {
    SLUICE_ASSIGN_OR_RETURN(std::string bytes, data_.Finish());
    SLUICE_ASSIGN_OR_RETURN(std::string lengths, lengths_.Finish());
    if (use_dictionary_) {
      SLUICE_ASSIGN_OR_RETURN(std::string ids, ids_.Finish());
      AddStream(StreamKind::kData, std::move(ids), stripe);
      AddStream(StreamKind::kDictionaryData, std::move(bytes), stripe);
    } else {
      AddStream(StreamKind::kData, std::move(bytes), stripe);
    }
    AddStream(StreamKind::kLength, std::move(lengths), stripe);
    encoding_ = use_dictionary_ ? ColumnEncoding{EncodingKind::kDictionaryV2, texts_.size()}
                                : ColumnEncoding{EncodingKind::kDirectV2, 0};
    Forget();
    use_dictionary_ = may_use_dictionary();
    return {};
  }

  ColumnEncoding encoding() const override { return encoding_; }

  StreamOutput data_;  // Texts, or those of the dictionary.
  IntegerEncoder lengths_;
  IntegerEncoder ids_;
  bool use_dictionary_ = true;
  std::vector<std::unique_ptr<std::string>> texts_;  // Distinct, in order of appearance.
  std::unordered_map<std::string_view, uint32_t> numbers_;
  std::vector<uint32_t> rows_;         // Number of the text of each value.
  std::vector<size_t> stride_starts_;  // Index into rows_.
  size_t text_bytes_ = 0;
  ColumnEncoding encoding_;
};

}  // namespace

std::unique_ptr<ColumnWriter> MakeTextWriter(uint64_t column, const OrcType& type,
                                             const EncodeSettings* settings) {
  return std::make_unique<TextWriter>(column, type, settings);
}

}  // namespace sluice::formats::orc_format
