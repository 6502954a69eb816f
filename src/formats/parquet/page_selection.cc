#include "formats/parquet/page_selection.h"

#include <memory>

namespace sluice::formats::parquet_format {

namespace {

using pruning::RowRange;
using pruning::RowRanges;

// The pages of one leaf.
struct LeafPages {
  int leaf;
  int64_t begin;  // Of the chunk in the file.
  std::vector<::parquet::PageLocation> pages;
  std::vector<int64_t> first_rows;
};

// False when the pages do not lie in order within chunk and row group.
bool AreSound(const LeafPages& leaf, int64_t chunk_bytes, int64_t row_count) {
  constexpr int64_t kMostBytes = int64_t{1} << 50;  // Far from overflowing.
  if (leaf.begin < 0 || leaf.begin > kMostBytes || chunk_bytes < 0 || chunk_bytes > kMostBytes)
    return false;
  int64_t end = leaf.begin;
  const int64_t chunk_end = end + chunk_bytes;
  for (size_t i = 0; i < leaf.pages.size(); ++i) {
    const ::parquet::PageLocation& page = leaf.pages[i];
    if (page.offset < end || page.offset > chunk_end || page.compressed_page_size <= 0 ||
        page.compressed_page_size > chunk_end - page.offset)
      return false;
    end = page.offset + page.compressed_page_size;
    const bool follows = i == 0 ? page.first_row_index == 0
                                : page.first_row_index > leaf.pages[i - 1].first_row_index;
    if (!follows || page.first_row_index >= row_count) return false;
  }
  return !leaf.pages.empty();
}

// Empty pages when there is no index that can be used.
LeafPages LoadPages(const ::parquet::RowGroupMetaData& row_group,
                    ::parquet::RowGroupPageIndexReader* indexes, int leaf) {
  const auto chunk = row_group.ColumnChunk(leaf);
  LeafPages loaded{.leaf = leaf, .begin = ChunkBegin(*chunk)};
  const auto offsets = indexes->GetOffsetIndex(leaf);
  if (offsets == nullptr) return loaded;
  loaded.pages = offsets->page_locations();
  if (!AreSound(loaded, chunk->total_compressed_size(), row_group.num_rows())) loaded.pages.clear();
  for (const auto& page : loaded.pages) loaded.first_rows.push_back(page.first_row_index);
  return loaded;
}

void AddBytes(int64_t offset, int64_t length, std::vector<arrow::io::ReadRange>* bytes) {
  if (!bytes->empty() && bytes->back().offset + bytes->back().length == offset) {
    bytes->back().length += length;
  } else if (length > 0) {
    bytes->push_back({offset, length});
  }
}

SelectedPages Select(const LeafPages& leaf, int64_t row_count, const RowRanges& rows) {
  SelectedPages selected;
  // What is in front of the first data page is the dictionary.
  AddBytes(leaf.begin, leaf.pages[0].offset - leaf.begin, &selected.bytes);
  for (size_t i = 0; i < leaf.pages.size(); ++i) {
    const RowRange page{leaf.first_rows[i],
                        i + 1 < leaf.pages.size() ? leaf.first_rows[i + 1] : row_count};
    if (!pruning::Overlaps(rows, page)) continue;
    AddBytes(leaf.pages[i].offset, leaf.pages[i].compressed_page_size, &selected.bytes);
    selected.row_counts.push_back(page.row_count());
  }
  return selected;
}

}  // namespace

int64_t ChunkBegin(const ::parquet::ColumnChunkMetaData& chunk) {
  const int64_t data = chunk.data_page_offset();
  if (!chunk.has_dictionary_page()) return data;
  const int64_t dictionary = chunk.dictionary_page_offset();
  return dictionary > 0 && dictionary < data ? dictionary : data;
}

RowRanges SelectPages(const ::parquet::RowGroupMetaData& row_group,
                      ::parquet::RowGroupPageIndexReader* indexes, int first_leaf, int leaf_count,
                      const RowRanges& wanted, PageSelection* selection) {
  const int64_t row_count = row_group.num_rows();
  std::vector<LeafPages> leaves;
  for (int i = 0; i < leaf_count; ++i) {
    leaves.push_back(LoadPages(row_group, indexes, first_leaf + i));
    if (leaves.back().pages.empty()) return {{0, row_count}};
  }
  // Pages of different leaves end at different rows: whole pages of one ask for more of another.
  RowRanges rows = wanted;
  for (RowRanges before; before != rows;) {
    before = rows;
    for (const LeafPages& leaf : leaves)
      rows = pruning::WholePieces(leaf.first_rows, row_count, rows);
  }
  for (const LeafPages& leaf : leaves) (*selection)[leaf.leaf] = Select(leaf, row_count, rows);
  return rows;
}

}  // namespace sluice::formats::parquet_format
