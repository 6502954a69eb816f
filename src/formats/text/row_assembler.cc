#include "formats/text/row_assembler.h"

#include <algorithm>
#include <cstring>

namespace sluice::formats::text {
namespace {

constexpr size_t kWide = ColumnText::kWide;

std::string Padded(std::string_view text) {
  std::string padded(text);
  padded.append(kWide, '\0');
  return padded;
}

/// Copies `size` bytes; `from` has `kBytes` readable, `to` that many writable, whatever the size.
template <size_t kBytes>
inline void CopyWide(const char* from, size_t size, char* to) {
  std::memcpy(to, from, kBytes);
  if (size > kBytes) [[unlikely]]
    std::memcpy(to + kBytes, from + kBytes, size - kBytes);
}

}  // namespace

RowAssembler::RowAssembler(std::string_view row_end, char quote)
    : row_end_(Padded(row_end)),
      row_end_size_(row_end.size()),
      quote_(quote),
      row_bytes_(row_end.size()) {}

void RowAssembler::AddColumn(std::string_view prefix) {
  columns_.push_back({Padded(prefix), prefix.size(), std::make_unique<ColumnText>()});
  longest_prefix_ = std::max(longest_prefix_, prefix.size());
  row_bytes_ += prefix.size() + 2;
}

size_t RowAssembler::Room(int rows) const {
  size_t room = static_cast<size_t>(rows) * row_bytes_ + 2 * kWide;
  for (const Column& column : columns_) {
    size_t bytes = 0;
    for (int row = 0; row < rows; ++row) bytes += column.text->size(row);
    room += bytes;
  }
  return room;
}

template <size_t kPrefixBytes>
void RowAssembler::AppendRows(int rows, OutputBuffer* out, std::vector<size_t>* row_ends,
                              size_t before) const {
  char* const begin = out->Room(Room(rows));
  char* to = begin;
  before += out->size();
  for (int row = 0; row < rows; ++row) {
    for (const Column& column : columns_) {
      // Each field waits for the end of the one before it: offsets are summed up apart, so that
      // one addition is what it waits for.
      const ColumnText& text = *column.text;
      const size_t quoted = text.quoted(row);
      const size_t size = text.size(row);
      const size_t begin_of_text = column.prefix_size + quoted;
      const size_t end_of_text = begin_of_text + size;
      CopyWide<kPrefixBytes>(column.prefix.data(), column.prefix_size, to);
      to[column.prefix_size] = quote_;
      if (text.readable()) [[likely]] {
        CopyWide<kWide>(text.data(row), size, to + begin_of_text);
      } else {
        CopyShort(text.data(row), size, to + begin_of_text);
      }
      to[end_of_text] = quote_;
      to += end_of_text + quoted;
    }
    CopyWide<8>(row_end_.data(), row_end_size_, to);
    to += row_end_size_;
    if (row_ends != nullptr) row_ends->push_back(before + static_cast<size_t>(to - begin));
  }
  out->SetEnd(to);
}

void RowAssembler::Append(int rows, OutputBuffer* out, std::vector<size_t>* row_ends,
                          size_t before) const {
  if (longest_prefix_ <= 8) {
    AppendRows<8>(rows, out, row_ends, before);
  } else if (longest_prefix_ <= 16) {
    AppendRows<16>(rows, out, row_ends, before);
  } else {
    AppendRows<kWide>(rows, out, row_ends, before);
  }
}

}  // namespace sluice::formats::text
