#include "connectors/filesystem/compression/compression.h"

#include <array>

namespace sluice::connectors::filesystem {

namespace {

struct Entry {
  Compression compression;
  std::string_view name;
  std::string_view suffix;
};
constexpr std::array<Entry, 6> kEntries = {{
    {Compression::kNone, "none", ""},
    {Compression::kGzip, "gzip", ".gz"},
    {Compression::kDeflate, "deflate", ".deflate"},
    {Compression::kBzip2, "bzip2", ".bz2"},
    {Compression::kXz, "xz", ".xz"},
    {Compression::kZstd, "zstd", ".zst"},
}};

const Entry& EntryOf(Compression compression) {
  for (const Entry& entry : kEntries) {
    if (entry.compression == compression) return entry;
  }
  return kEntries.front();
}

}  // namespace

Compression CompressionOf(std::string_view file_name) {
  const size_t dot = file_name.rfind('.');
  if (dot == std::string_view::npos) return Compression::kNone;
  const std::string_view suffix = file_name.substr(dot);
  if (suffix == ".gzip") return Compression::kGzip;
  for (const Entry& entry : kEntries) {
    if (!entry.suffix.empty() && suffix == entry.suffix) return entry.compression;
  }
  return Compression::kNone;
}

std::string_view SuffixOf(Compression compression) { return EntryOf(compression).suffix; }

std::string_view NameOf(Compression compression) { return EntryOf(compression).name; }

std::optional<Compression> CompressionOfName(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.compression;
  }
  return std::nullopt;
}

bool CanBeContinued(Compression compression) { return compression != Compression::kDeflate; }

}  // namespace sluice::connectors::filesystem
