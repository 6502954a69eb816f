// How the bytes of a text file are compressed, by the name of the file (formats.md §0.6).
#pragma once

#include <optional>
#include <string_view>

namespace sluice::connectors::filesystem {

/// kDeflate is a zlib stream (RFC 1950), as Hadoop and Flink write under that name.
enum class Compression { kNone, kDeflate, kGzip, kBzip2, kXz, kZstd };

/// By the text behind the last dot, case-sensitive: deflate, gz, gzip, bz2, xz, zst.
Compression CompressionOf(std::string_view file_name);
/// What our files' names end in: ".gz"; "" for kNone.
std::string_view SuffixOf(Compression compression);
/// "gzip", "none"; the values of 'sink.compression'.
std::string_view NameOf(Compression compression);
std::optional<Compression> CompressionOfName(std::string_view name);
/// Whether complete streams one after another are one file for every reader: what a file that stays
/// open over checkpoints needs. A zlib stream has an end and nothing behind it.
bool CanBeContinued(Compression compression);

}  // namespace sluice::connectors::filesystem
