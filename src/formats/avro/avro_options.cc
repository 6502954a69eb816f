#include "formats/avro/avro_options.h"

namespace sluice::formats::avro {
namespace {

const OptionSpec kSpecs[] = {
    {"codec", OptionType::kString, "snappy",
     "Compression of blocks, in files: null, deflate, snappy, bzip2, xz or zstandard."},
    {"encoding",
     OptionType::kEnum,
     "binary",
     "Form of messages: binary, or Avro's JSON encoding.",
     {"binary", "json"}},
    {"timestamp_mapping.legacy", OptionType::kBoolean, "true",
     "TIMESTAMP is written as timestamp-millis, as if it were UTC; false: local-timestamp-millis."},
    {"ignore-parse-errors", OptionType::kBoolean, "false",
     "Messages that cannot be decoded are dropped and counted instead of failing the read."},
    {"record-name", OptionType::kString, "record", "Name of the record in the schema written."},
    {"record-namespace", OptionType::kString, "org.apache.flink.avro.generated",
     "Namespace of the record in the schema written; may be empty."},
};

bool IsName(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!good) return false;
  }
  return true;
}

bool IsNamespace(std::string_view text) {
  while (!text.empty()) {
    const size_t dot = text.find('.');
    if (!IsName(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
    if (text.empty()) return false;
  }
  return true;
}

Status Refuse(const FormatOptions& options, std::string_view key, std::string_view reason) {
  if (options.options.find(key) == options.options.end()) return {};
  return Status::InvalidArgument("Unsupported options found for 'avro'.\n\nOption '" +
                                 options.prefix + std::string(key) + "' " + std::string(reason) +
                                 " Remove it.");
}

}  // namespace

std::span<const OptionSpec> OptionSpecs() { return kSpecs; }

Result<AvroOptions> ParseOptions(const FormatOptions& options) {
  const OptionReader reader(options.options, kSpecs);
  AvroOptions avro;
  avro.prefix = options.prefix;
  SLUICE_ASSIGN_OR_RETURN(avro.codec, FindCodec(*reader.Text("codec")));
  SLUICE_ASSIGN_OR_RETURN(const std::string encoding, reader.Enum("encoding"));
  avro.json_encoding = encoding == "json";
  SLUICE_ASSIGN_OR_RETURN(avro.legacy_timestamps, reader.Boolean("timestamp_mapping.legacy"));
  SLUICE_ASSIGN_OR_RETURN(avro.ignore_parse_errors, reader.Boolean("ignore-parse-errors"));
  avro.record_name = reader.Text("record-name").value_or("");
  avro.record_namespace = reader.Text("record-namespace").value_or("");
  if (!IsName(avro.record_name)) {
    return Status::InvalidArgument("Invalid value for option '" + options.prefix +
                                   "record-name': '" + avro.record_name +
                                   "' is no name of letters, digits and underscores.");
  }
  if (!IsNamespace(avro.record_namespace)) {
    return Status::InvalidArgument("Invalid value for option '" + options.prefix +
                                   "record-namespace': '" + avro.record_namespace +
                                   "' is no list of names with dots between.");
  }
  return avro;
}

Status CheckFileOptions(const FormatOptions& options) {
  SLUICE_RETURN_NOT_OK(
      Refuse(options, "encoding", "is for messages: a file is always a container in binary."));
  return Refuse(options, "ignore-parse-errors",
                "is for messages: a damaged file fails the read, which names the file.");
}

Status CheckMessageOptions(const FormatOptions& options) {
  return Refuse(options, "codec", "is for files: messages are not compressed by the format.");
}

}  // namespace sluice::formats::avro
