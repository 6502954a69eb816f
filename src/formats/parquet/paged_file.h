// A Parquet file whose pages are read by ChunkPageReader, of one row group only those selected.
#pragma once

#include <memory>

#include <arrow/io/interfaces.h>
#include <parquet/file_reader.h>

#include "formats/parquet/page_selection.h"

namespace sluice::formats::parquet_format {

/// A reader for row groups: a leaf of `selection` gives the values of its selected pages as if
/// there were no others, and nothing else of the chunk is read from `file`; one that is not there
/// gives all. Borrows `whole`. A page that does not have the rows that the offset index promises is
/// an error of the library.
std::unique_ptr<::parquet::ParquetFileReader> OpenPagedFile(
    ::parquet::ParquetFileReader* whole, std::shared_ptr<arrow::io::RandomAccessFile> file,
    const ::parquet::ReaderProperties& properties, PageSelection selection);

}  // namespace sluice::formats::parquet_format
