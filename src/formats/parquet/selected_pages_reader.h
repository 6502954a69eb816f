// A Parquet file of which one row group is seen through a selection of its pages.
#pragma once

#include <memory>

#include <arrow/io/interfaces.h>
#include <parquet/file_reader.h>

#include "formats/parquet/page_selection.h"

namespace sluice::formats::parquet_format {

/// A reader for that row group: a selected leaf gives the values of its selected pages as if there
/// were no others. Nothing else of the chunk is read from `file`. Borrows `whole`. A page that does
/// not have the rows that the offset index promises is an error of the library.
std::unique_ptr<::parquet::ParquetFileReader> OpenSelectedPages(
    ::parquet::ParquetFileReader* whole, std::shared_ptr<arrow::io::RandomAccessFile> file,
    const ::parquet::ReaderProperties& properties, PageSelection selection);

}  // namespace sluice::formats::parquet_format
