#include "formats/parquet/parquet_options.h"

#include <charconv>

#include "common/text.h"
#include "formats/option_checks.h"

namespace sluice::formats::parquet_format {

namespace {

const OptionSpec kSpecs[] = {
    {"utc-timezone", OptionType::kBoolean, "false",
     "TIMESTAMP in INT96 is stored as an instant: through UTC (true) or through the zone of the "
     "process (false, as Hive "
     "before 3)."},
    {"timestamp.time.unit", OptionType::kString, "micros",
     "Unit of INT64 timestamps: nanos, micros or millis."},
    {"write.int64.timestamp", OptionType::kBoolean, "false",
     "Write timestamps as INT64 instead of INT96."},
    {"batch-size", OptionType::kInt, "", "Rows read at a time."},
    {"compression", OptionType::kString, "SNAPPY",
     "Page codec: UNCOMPRESSED, SNAPPY, GZIP, LZ4, ZSTD, LZ4_RAW."},
    {"compression.codec.zstd.level", OptionType::kInt, "3", "Level of ZSTD, 1 to 22."},
    {"block.size", OptionType::kLong, "134217728", "Bytes of a row group."},
    {"page.size", OptionType::kLong, "1048576", "Bytes of a page before compression."},
    {"dictionary.page.size", OptionType::kLong, "1048576",
     "Bytes of a dictionary before a column goes on without."},
    {"enable.dictionary", OptionType::kBoolean, "true",
     "Dictionary-encode columns with few values."},
    {"writer.max-padding", OptionType::kLong, "8388608",
     "Accepted for compatibility; row groups are not padded."},
    {"validation", OptionType::kBoolean, "false",
     "Accepted for compatibility; values are always checked."},
    {"writer.version", OptionType::kString, "PARQUET_1_0",
     "PARQUET_1_0 (v1 pages) or PARQUET_2_0 (v2 pages)."},
    {"bloom.filter.enabled", OptionType::kBoolean, "false",
     "Write a bloom filter for every column."},
    {"bloom.filter.enabled#*", OptionType::kBoolean, "", "… for the column behind the '#'."},
    {"bloom.filter.expected.ndv#*", OptionType::kLong, "",
     "Expected distinct values of the column behind the '#'."},
    {"bloom.filter.fpp#*", OptionType::kDouble, "",
     "False positives wanted for the column behind the '#'."},
};

class Parser {
 public:
  explicit Parser(const FormatOptions& options)
      : options_(options), reader_(options.options, kSpecs) {}

  Result<ParquetOptions> Parse() {
    ParquetOptions parsed;
    SLUICE_RETURN_NOT_OK(CheckOptionKeys("parquet", kSpecs, options_));
    SLUICE_ASSIGN_OR_RETURN(const bool utc, reader_.Boolean("utc-timezone"));
    if (!utc) parsed.wall_clock_zone = TimeZone::Local();
    SLUICE_ASSIGN_OR_RETURN(parsed.int64_unit, Unit());
    SLUICE_ASSIGN_OR_RETURN(parsed.write_int64, reader_.Boolean("write.int64.timestamp"));
    if (reader_.Has("batch-size")) {
      SLUICE_ASSIGN_OR_RETURN(parsed.batch_rows, Positive("batch-size", 1, 1 << 20));
    }
    SLUICE_ASSIGN_OR_RETURN(parsed.compression, Compression());
    SLUICE_ASSIGN_OR_RETURN(const int64_t level, Positive("compression.codec.zstd.level", 1, 22));
    parsed.zstd_level = static_cast<int>(level);
    SLUICE_ASSIGN_OR_RETURN(parsed.row_group_bytes, Positive("block.size", 1024, int64_t{1} << 40));
    SLUICE_ASSIGN_OR_RETURN(parsed.page_bytes, Positive("page.size", 64, int64_t{1} << 30));
    SLUICE_ASSIGN_OR_RETURN(parsed.dictionary_page_bytes,
                            Positive("dictionary.page.size", 64, int64_t{1} << 30));
    SLUICE_ASSIGN_OR_RETURN(parsed.dictionary, reader_.Boolean("enable.dictionary"));
    SLUICE_ASSIGN_OR_RETURN(parsed.version_2, WriterVersion());
    SLUICE_RETURN_NOT_OK(BloomFilter(&parsed.bloom_filter));
    return parsed;
  }

 private:
  Status Invalid(std::string_view key, std::string_view value, std::string_view expected) const {
    return InvalidOption(options_, key, value, expected);
  }

  Result<int64_t> Positive(std::string_view key, int64_t low, int64_t high) const {
    return RangedOption(options_, reader_, key, low, high);
  }

  Result<arrow::TimeUnit::type> Unit() const {
    const std::string text = *reader_.Text("timestamp.time.unit");
    if (EqualsIgnoreCaseAscii(text, "nanos")) return arrow::TimeUnit::NANO;
    if (EqualsIgnoreCaseAscii(text, "micros")) return arrow::TimeUnit::MICRO;
    if (EqualsIgnoreCaseAscii(text, "millis")) return arrow::TimeUnit::MILLI;
    return Invalid("timestamp.time.unit", text, "one of nanos, micros, millis");
  }

  Result<arrow::Compression::type> Compression() const {
    using Codec = arrow::Compression;
    static const std::pair<std::string_view, Codec::type> kCodecs[] = {
        {"UNCOMPRESSED", Codec::UNCOMPRESSED},
        {"SNAPPY", Codec::SNAPPY},
        {"GZIP", Codec::GZIP},
        {"LZ4", Codec::LZ4_HADOOP},
        {"ZSTD", Codec::ZSTD},
        {"LZ4_RAW", Codec::LZ4},
        {"NONE", Codec::UNCOMPRESSED},
    };
    const std::string text = ToUpperAscii(*reader_.Text("compression"));
    for (const auto& [name, codec] : kCodecs) {
      if (text == name) return codec;
    }
    constexpr std::string_view kList = "one of UNCOMPRESSED, SNAPPY, GZIP, LZ4, ZSTD, LZ4_RAW";
    if (text == "LZO" || text == "BROTLI") {
      return Invalid("compression", text, std::string(kList) + " (" + text + " is not available)");
    }
    return Invalid("compression", *reader_.Text("compression"), kList);
  }

  Result<bool> WriterVersion() const {
    const std::string text = ToUpperAscii(*reader_.Text("writer.version"));
    if (text == "PARQUET_1_0" || text == "V1") return false;
    if (text == "PARQUET_2_0" || text == "V2") return true;
    return Invalid("writer.version", text, "PARQUET_1_0 or PARQUET_2_0");
  }

  Status BloomFilter(BloomFilterOptions* filter) const {
    SLUICE_ASSIGN_OR_RETURN(filter->enabled, reader_.Boolean("bloom.filter.enabled"));
    for (const auto& [key, value] : options_.options) {
      const size_t hash = key.find('#');
      if (hash == std::string::npos) continue;
      const std::string_view name = std::string_view(key).substr(0, hash);
      const std::string column = key.substr(hash + 1);
      if (name == "bloom.filter.enabled") {
        SLUICE_ASSIGN_OR_RETURN(filter->enabled_of_column[column], ParseBooleanOption(value));
      } else if (name == "bloom.filter.expected.ndv") {
        const auto count = ParseInt64(value);
        if (!count || *count <= 0 || *count > INT32_MAX)
          return Invalid(key, value, "a count above zero");
        filter->distinct_of_column[column] = *count;
      } else if (name == "bloom.filter.fpp") {
        double share = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), share);
        if (error != std::errc() || end != value.data() + value.size() ||
            !(share > 0 && share < 1)) {
          return Invalid(key, value, "a share between 0 and 1");
        }
        filter->false_positives_of_column[column] = share;
      }
    }
    return {};
  }

  const FormatOptions& options_;
  OptionReader reader_;
};

}  // namespace

std::span<const OptionSpec> OptionSpecs() { return kSpecs; }

Result<ParquetOptions> ParseOptions(const FormatOptions& options) {
  return Parser(options).Parse();
}

}  // namespace sluice::formats::parquet_format
