#include "formats/orc/orc_options.h"

#include <charconv>

#include "common/text.h"
#include "formats/option_checks.h"

namespace sluice::formats::orc_format {

namespace {

const OptionSpec kSpecs[] = {
    {"compress", OptionType::kString, "ZLIB", "Codec of blocks: NONE, ZLIB, SNAPPY, LZ4, ZSTD."},
    {"stripe.size", OptionType::kLong, "67108864", "Bytes of a stripe."},
    {"compress.size", OptionType::kLong, "262144", "Bytes of a block before compression."},
    {"row.index.stride", OptionType::kLong, "10000",
     "Rows for which the index has an entry, at least 1000; 0: no index."},
    {"create.index", OptionType::kBoolean, "true", "Write the row index."},
    {"dictionary.key.threshold", OptionType::kDouble, "0.8",
     "Most distinct texts a value with which a dictionary is written; 0: never."},
    {"proleptic.gregorian.default", OptionType::kBoolean, "false",
     "Reading files of the library for Java that do not tell their calendar: dates and times "
     "before "
     "1582-10-15 are proleptic Gregorian (true: files of Hive 3.1) or hybrid (false)."},
    {"proleptic.gregorian.default.dates", OptionType::kBoolean, "",
     "The same for DATE alone, which Flink writes proleptic and its timestamps hybrid (true: files "
     "of Flink). As 'orc.proleptic.gregorian.default' unless given."},
    {"block.size", OptionType::kLong, "268435456",
     "Accepted for compatibility: stripes are not padded to blocks of HDFS."},
    {"block.padding", OptionType::kBoolean, "true", "Accepted for compatibility, as block.size."},
    {"block.padding.tolerance", OptionType::kDouble, "0.05",
     "Accepted for compatibility, as block.size."},
    {"encoding.strategy", OptionType::kString, "SPEED",
     "Accepted for compatibility: SPEED or COMPRESSION."},
    {"compression.strategy", OptionType::kString, "SPEED",
     "SPEED, or COMPRESSION for smaller files in more time."},
    {"write.format", OptionType::kString, "0.12", "Version of the format: 0.12."},
    {"bloom.filter.columns", OptionType::kString, "",
     "Columns with a bloom filter, separated by commas."},
    {"bloom.filter.fpp", OptionType::kDouble, "0.05",
     "Share of false answers of the bloom filters."},
};

class Parser {
 public:
  explicit Parser(const FormatOptions& options)
      : options_(options), reader_(options.options, kSpecs) {}

  Result<OrcOptions> Parse() {
    OrcOptions parsed;
    SLUICE_RETURN_NOT_OK(CheckOptionKeys("orc", kSpecs, options_));
    SLUICE_ASSIGN_OR_RETURN(parsed.compression, ParseCompression());
    SLUICE_ASSIGN_OR_RETURN(parsed.block_bytes, Ranged("compress.size", 1024, (8 << 20) - 1));
    SLUICE_ASSIGN_OR_RETURN(parsed.stripe_bytes, Ranged("stripe.size", 1024, int64_t{1} << 40));
    SLUICE_ASSIGN_OR_RETURN(parsed.row_index, reader_.Boolean("create.index"));
    SLUICE_RETURN_NOT_OK(ParseStride(&parsed));
    SLUICE_ASSIGN_OR_RETURN(parsed.dictionary_threshold, Share("dictionary.key.threshold"));
    SLUICE_RETURN_NOT_OK(ParseBloomFilters(&parsed));
    SLUICE_RETURN_NOT_OK(Share("block.padding.tolerance").status());
    SLUICE_ASSIGN_OR_RETURN(const bool proleptic, reader_.Boolean("proleptic.gregorian.default"));
    parsed.unmarked_times_are_hybrid = !proleptic;
    for (const std::string_view key :
         {"proleptic.gregorian.default.dates", "proleptic.gregorian.default"}) {
      if (!reader_.Has(key) || parsed.unmarked_dates_are_hybrid) continue;
      SLUICE_ASSIGN_OR_RETURN(const bool proleptic_dates, reader_.Boolean(key));
      parsed.unmarked_dates_are_hybrid = !proleptic_dates;
    }
    SLUICE_RETURN_NOT_OK(OneOf("encoding.strategy", {"SPEED", "COMPRESSION"}));
    SLUICE_RETURN_NOT_OK(OneOf("compression.strategy", {"SPEED", "COMPRESSION"}));
    parsed.thorough_compression =
        EqualsIgnoreCaseAscii(*reader_.Text("compression.strategy"), "COMPRESSION");
    SLUICE_RETURN_NOT_OK(OneOf("write.format", {"0.12"}));
    return parsed;
  }

 private:
  Status Invalid(std::string_view key, std::string_view value, std::string_view expected) const {
    return InvalidOption(options_, key, value, expected);
  }

  Status ParseBloomFilters(OrcOptions* parsed) const {
    SLUICE_ASSIGN_OR_RETURN(parsed->bloom_share, Share("bloom.filter.fpp"));
    if (parsed->bloom_share <= 0 || parsed->bloom_share >= 1) {
      return Invalid("bloom.filter.fpp", *reader_.Text("bloom.filter.fpp"),
                     "a share above 0 and below 1");
    }
    const std::string columns = reader_.Text("bloom.filter.columns").value_or("");
    std::string_view rest = columns;
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      const std::string_view name = TrimAscii(rest.substr(0, comma));
      if (!name.empty()) parsed->bloom_columns.emplace_back(name);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    if (parsed->bloom_columns.empty() || parsed->row_index) return {};
    return Invalid("bloom.filter.columns", columns,
                   "nothing while there is no row index, to whose strides bloom filters belong");
  }

  Result<int64_t> Ranged(std::string_view key, int64_t low, int64_t high) const {
    return RangedOption(options_, reader_, key, low, high);
  }

  Status ParseStride(OrcOptions* parsed) const {
    SLUICE_ASSIGN_OR_RETURN(parsed->row_index_stride, Ranged("row.index.stride", 0, 1 << 30));
    // ORC's own bound: shorter strides make an index larger than its data.
    if (parsed->row_index_stride > 0 && parsed->row_index_stride < 1000) {
      return Invalid("row.index.stride", std::to_string(parsed->row_index_stride),
                     "0 or a number from 1000");
    }
    if (parsed->row_index_stride == 0) parsed->row_index = false;
    return {};
  }

  Result<double> Share(std::string_view key) const {
    const std::string text = *reader_.Text(key);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 0 && value <= 1)
      return value;
    return Invalid(key, text, "a share from 0 to 1");
  }

  Status OneOf(std::string_view key, std::initializer_list<std::string_view> allowed) const {
    const std::string text = *reader_.Text(key);
    std::string list;
    for (const std::string_view value : allowed) {
      if (EqualsIgnoreCaseAscii(text, value)) return {};
      if (!list.empty()) list += ", ";
      list += value;
    }
    return Invalid(key, text, "one of " + list);
  }

  Result<Compression> ParseCompression() const {
    static constexpr std::pair<std::string_view, Compression> kCodecs[] = {
        {"NONE", Compression::kNone},     {"ZLIB", Compression::kZlib},
        {"SNAPPY", Compression::kSnappy}, {"LZ4", Compression::kLz4},
        {"ZSTD", Compression::kZstd},
    };
    const std::string text = *reader_.Text("compress");
    for (const auto& [name, codec] : kCodecs) {
      if (EqualsIgnoreCaseAscii(text, name)) return codec;
    }
    constexpr std::string_view kList = "one of NONE, ZLIB, SNAPPY, LZ4, ZSTD";
    if (EqualsIgnoreCaseAscii(text, "LZO") || EqualsIgnoreCaseAscii(text, "BROTLI"))
      return Invalid("compress", text, std::string(kList) + " (" + text + " is not available)");
    return Invalid("compress", text, kList);
  }

  const FormatOptions& options_;
  OptionReader reader_;
};

}  // namespace

std::span<const OptionSpec> OptionSpecs() { return kSpecs; }

Result<OrcOptions> ParseOptions(const FormatOptions& options) { return Parser(options).Parse(); }

}  // namespace sluice::formats::orc_format
