// How a part file is written: format, options and columns. Kept in the state of writers whose
// containers stay open over checkpoints, so that a job that resumes with another layout can still
// finish them in theirs.
#pragma once

#include <string>
#include <string_view>

#include "common/byte_codec.h"
#include "connectors/connector.h"
#include "formats/file_operations.h"
#include "formats/format.h"

namespace sluice::connectors::filesystem {

struct FileLayout {
  const formats::Format* format = nullptr;
  const formats::FileOperations* operations = nullptr;  // Of the format.
  formats::FormatOptions options;
  Schema schema;
};

/// Of the files of a table: its columns without the partition keys. Fails for an unknown format.
Result<FileLayout> LayoutOfTable(const TableInfo& table);

std::string EncodeLayout(const FileLayout& layout);
/// Fails with kCorrupt, or kInvalidArgument when the format is not known to this program.
Result<FileLayout> DecodeLayout(std::string_view bytes);

void PutSchema(const Schema& schema, ByteWriter* out);
/// ok() of `in` turns false on anything that is no schema.
Result<Schema> ReadSchema(ByteReader* in);

}  // namespace sluice::connectors::filesystem
