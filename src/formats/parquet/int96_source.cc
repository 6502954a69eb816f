#include "formats/parquet/int96_source.h"

namespace sluice::formats::parquet_format {

namespace {

constexpr int64_t kLevelsAtOnce = 4096;

}  // namespace

void Int96Source::Add(int leaf, std::shared_ptr<::parquet::ColumnReader> reader) {
  leaves_[leaf].reader = std::static_pointer_cast<::parquet::Int96Reader>(std::move(reader));
}

Result<std::vector<::parquet::Int96>> Int96Source::Take(int leaf, int64_t count) {
  Leaf& source = leaves_.at(leaf);
  std::vector<int16_t> definition(kLevelsAtOnce);
  std::vector<int16_t> repetition(kLevelsAtOnce);
  const auto wanted = static_cast<size_t>(count);
  while (source.pending.size() < wanted) {
    const size_t before = source.pending.size();
    source.pending.resize(before + kLevelsAtOnce);
    int64_t read = 0;
    const int64_t levels = source.reader->ReadBatch(
        kLevelsAtOnce, definition.data(), repetition.data(), source.pending.data() + before, &read);
    source.pending.resize(before + static_cast<size_t>(read));
    if (levels == 0) {
      return Status::DataError("The column ends after " + std::to_string(before) + " of " +
                               std::to_string(count) + " values: the file is damaged");
    }
  }
  const auto end = source.pending.begin() + static_cast<std::ptrdiff_t>(wanted);
  std::vector<::parquet::Int96> taken(source.pending.begin(), end);
  source.pending.erase(source.pending.begin(), end);
  return taken;
}

}  // namespace sluice::formats::parquet_format
