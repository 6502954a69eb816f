#include "formats/orc/metadata.h"

#include <algorithm>

#include "formats/orc/wire.h"

namespace sluice::formats::orc_format {

namespace {

constexpr uint64_t kBloomFiltersOfUtf8 = 1;  // Texts hashed as UTF-8, times in UTC.
constexpr std::string_view kMagic = "ORC";
// ORC-14, the newest known: nothing of the older writers' mistakes has to be corrected for.
constexpr uint64_t kWriterVersion = 9;
constexpr size_t kMostTypes = 100'000;
constexpr int kMostNesting = 100;

Status Damaged(std::string_view what) {
  return Status::DataError("The ORC file is damaged: " + std::string(what) + ".");
}

OrcType ParseType(std::string_view bytes, bool* ok) {
  OrcType type;
  WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        if (reader.number() > static_cast<uint64_t>(OrcKind::kTimestampInstant)) *ok = false;
        type.kind = static_cast<OrcKind>(reader.number());
        break;
      case 2:
        reader.AppendNumbers(&type.children);
        break;
      case 3:
        type.field_names.push_back(reader.text());
        break;
      case 4:
        type.length = reader.number();
        break;
      case 5:
        type.precision = reader.number();
        break;
      case 6:
        type.scale = reader.number();
        break;
      default:
        break;
    }
  }
  *ok = *ok && reader.ok();
  return type;
}

// Column ids are the numbers of the nodes in pre-order: children follow their parent, each subtree
// is a range.
bool CheckSubtree(const std::vector<OrcType>& types, size_t column, int depth, size_t* next) {
  if (column != *next || column >= types.size() || depth > kMostNesting) return false;
  ++*next;
  const OrcType& type = types[column];
  if (type.children.size() != ChildCount(type)) return false;
  return std::all_of(type.children.begin(), type.children.end(),
                     [&](uint64_t child) { return CheckSubtree(types, child, depth + 1, next); });
}

Status CheckTypes(const std::vector<OrcType>& types) {
  if (types.empty() || types.size() > kMostTypes) return Damaged("its footer has no usable types");
  size_t next = 0;
  if (!CheckSubtree(types, 0, 0, &next) || next != types.size())
    return Damaged("the types in its footer are no tree");
  if (types[0].kind != OrcKind::kStruct) {
    return Status::DataError("The ORC file has a " + TypeText(types, 0) +
                             " at its root; a table needs a struct.");
  }
  for (const OrcType& type : types) {
    if (type.kind == OrcKind::kDecimal && (type.precision > 38 || type.scale > 38))
      return Damaged("its footer has a decimal of more than 38 digits");
  }
  return {};
}

StripeInfo ParseStripe(std::string_view bytes, bool* ok) {
  StripeInfo stripe;
  WireReader reader(bytes);
  while (reader.Next()) {
    uint64_t* const fields[] = {nullptr,
                                &stripe.offset,
                                &stripe.index_bytes,
                                &stripe.data_bytes,
                                &stripe.footer_bytes,
                                &stripe.row_count};
    if (reader.field() >= 1 && reader.field() <= 5) *fields[reader.field()] = reader.number();
  }
  *ok = *ok && reader.ok();
  return stripe;
}

}  // namespace

Result<PostScript> ParsePostScript(std::string_view bytes) {
  PostScript postscript;
  WireReader reader(bytes);
  bool magic = false;
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        postscript.footer_bytes = reader.number();
        break;
      case 2:
        if (reader.number() > static_cast<uint64_t>(Compression::kBrotli))
          return Damaged("it has an unknown compression, number " +
                         std::to_string(reader.number()));
        postscript.compression = static_cast<Compression>(reader.number());
        break;
      case 3:
        postscript.block_bytes = reader.number();
        break;
      case 5:
        postscript.metadata_bytes = reader.number();
        break;
      case 6:
        postscript.writer_version = reader.number();
        break;
      case 8000:
        magic = reader.bytes() == kMagic;
        break;
      default:
        break;
    }
  }
  if (!reader.ok() || !magic)
    return Status::DataError("The file is not an ORC file: it does not end with the mark ORC.");
  return postscript;
}

Result<Footer> ParseFooter(std::string_view bytes) {
  Footer footer;
  bool ok = true;
  uint64_t rows_of_stripes = 0;
  WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 2:
        footer.content_bytes = reader.number();
        break;
      case 3:
        footer.stripes.push_back(ParseStripe(reader.bytes(), &ok));
        rows_of_stripes += footer.stripes.back().row_count;
        if (footer.stripes.back().row_count > uint64_t{1} << 50) ok = false;
        break;
      case 4:
        footer.types.push_back(ParseType(reader.bytes(), &ok));
        break;
      case 6:
        footer.row_count = reader.number();
        break;
      case 8:
        footer.row_index_stride = reader.number();
        break;
      case 9:
        footer.writer = reader.number();
        break;
      case 10:
        return Status::DataError("The ORC file is encrypted, which cannot be read.");
      case 11:
        if (reader.number() <= 2) footer.calendar = static_cast<Calendar>(reader.number());
        break;
      default:
        break;
    }
  }
  if (!ok || !reader.ok()) return Damaged("its footer cannot be read");
  SLUICE_RETURN_NOT_OK(CheckTypes(footer.types));
  if (rows_of_stripes != footer.row_count) {
    return Damaged("its footer counts " + std::to_string(footer.row_count) +
                   " rows, its stripes have " + std::to_string(rows_of_stripes));
  }
  return footer;
}

Result<StripeFooter> ParseStripeFooter(std::string_view bytes, size_t column_count) {
  StripeFooter footer;
  bool ok = true;
  WireReader reader(bytes);
  while (reader.Next()) {
    WireReader inner(reader.bytes());
    if (reader.field() == 1) {
      StreamInfo& stream = footer.streams.emplace_back();
      while (inner.Next()) {
        if (inner.field() == 1) stream.kind = static_cast<uint32_t>(inner.number());
        if (inner.field() == 2) stream.column = inner.number();
        if (inner.field() == 3) stream.length = inner.number();
      }
    } else if (reader.field() == 2) {
      ColumnEncoding& encoding = footer.encodings.emplace_back();
      while (inner.Next()) {
        if (inner.field() == 1 && inner.number() > 3) ok = false;
        if (inner.field() == 1) encoding.kind = static_cast<EncodingKind>(inner.number() & 3);
        if (inner.field() == 2) encoding.dictionary_size = inner.number();
      }
    } else if (reader.field() == 3) {
      footer.writer_zone = reader.text();
    }
    ok = ok && (reader.field() > 2 || inner.ok());
  }
  if (!ok || !reader.ok() || footer.encodings.size() != column_count)
    return Damaged("the footer of a stripe cannot be read");
  return footer;
}

std::vector<std::vector<ColumnStatistics>> ParseStripeStatistics(
    std::string_view bytes, const std::vector<OrcType>& types) {
  std::vector<std::vector<ColumnStatistics>> of_stripes;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() != 1) continue;
    std::vector<ColumnStatistics>& columns = of_stripes.emplace_back();
    bool ok = true;
    WireReader inner(reader.bytes());
    while (inner.Next()) {
      if (inner.field() != 1 || columns.size() >= types.size()) continue;
      ColumnStatistics& statistics = columns.emplace_back();
      ok = ReadStatistics(inner.bytes(), types[columns.size() - 1], &statistics) && ok;
    }
    if (!ok || !inner.ok()) columns.clear();
  }
  if (!reader.ok()) of_stripes.clear();
  return of_stripes;
}

std::string SerializePostScript(const PostScript& postscript) {
  WireWriter out;
  out.Number(1, postscript.footer_bytes);
  out.Number(2, static_cast<uint64_t>(postscript.compression));
  out.Number(3, postscript.block_bytes);
  out.Packed(4, {0, 12});
  out.Number(5, postscript.metadata_bytes);
  out.Number(6, kWriterVersion);
  out.Bytes(8000, kMagic);
  return out.bytes();
}

std::string SerializeFooter(const Footer& footer) {
  WireWriter out;
  out.Number(1, kMagic.size());
  out.Number(2, footer.content_bytes);
  for (const StripeInfo& stripe : footer.stripes) {
    WireWriter inner;
    inner.Number(1, stripe.offset);
    inner.Number(2, stripe.index_bytes);
    inner.Number(3, stripe.data_bytes);
    inner.Number(4, stripe.footer_bytes);
    inner.Number(5, stripe.row_count);
    out.Message(3, inner);
  }
  for (const OrcType& type : footer.types) {
    WireWriter inner;
    inner.Number(1, static_cast<uint64_t>(type.kind));
    if (!type.children.empty()) inner.Packed(2, type.children);
    for (const std::string& name : type.field_names) inner.Bytes(3, name);
    if (type.length > 0) inner.Number(4, type.length);
    if (type.kind == OrcKind::kDecimal) {
      inner.Number(5, type.precision);
      inner.Number(6, type.scale);
    }
    out.Message(4, inner);
  }
  out.Number(6, footer.row_count);
  for (size_t i = 0; i < footer.statistics.size(); ++i) {
    WireWriter inner;
    WriteStatistics(footer.statistics[i], footer.types[i], &inner);
    out.Message(7, inner);
  }
  out.Number(8, footer.row_index_stride);
  out.Number(9, footer.writer);
  out.Number(11, static_cast<uint64_t>(footer.calendar));
  out.Bytes(12, "sluice 0.1.0");
  return out.bytes();
}

std::string SerializeStripeFooter(const StripeFooter& footer) {
  WireWriter out;
  for (const StreamInfo& stream : footer.streams) {
    WireWriter inner;
    inner.Number(1, stream.kind);
    inner.Number(2, stream.column);
    inner.Number(3, stream.length);
    out.Message(1, inner);
  }
  for (const ColumnEncoding& encoding : footer.encodings) {
    WireWriter inner;
    inner.Number(1, static_cast<uint64_t>(encoding.kind));
    const bool dictionary = encoding.kind == EncodingKind::kDictionaryV2;
    if (dictionary) inner.Number(2, encoding.dictionary_size);
    if (encoding.bloom_filters) inner.Number(3, kBloomFiltersOfUtf8);
    out.Message(2, inner);
  }
  out.Bytes(3, footer.writer_zone);
  return out.bytes();
}

std::string SerializeStripeStatistics(const std::vector<std::vector<ColumnStatistics>>& of_stripes,
                                      const std::vector<OrcType>& types) {
  WireWriter out;
  for (const std::vector<ColumnStatistics>& columns : of_stripes) {
    WireWriter stripe;
    for (size_t i = 0; i < columns.size(); ++i) {
      WireWriter inner;
      WriteStatistics(columns[i], types[i], &inner);
      stripe.Message(1, inner);
    }
    out.Message(1, stripe);
  }
  return out.bytes();
}

}  // namespace sluice::formats::orc_format
