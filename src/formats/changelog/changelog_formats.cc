#include "formats/changelog/changelog_formats.h"

#include "formats/changelog/changelog_decoder.h"
#include "formats/changelog/changelog_encoder.h"
#include "formats/changelog/dialect.h"
#include "formats/text/line_framer.h"

namespace sluice::formats {
namespace {

using changelog::ChangelogOptions;
using changelog::Dialect;

/// Lines as json has them. A file is read as a whole: its changes have an order.
class ChangeFramer final : public RowFramer {
 public:
  size_t CompletePrefix(std::string_view bytes, bool at_end_of_file) override {
    return lines_.CompletePrefix(bytes, at_end_of_file);
  }
  bool splittable() const override { return false; }

 private:
  text::LineFramer lines_;
};

/// The functions of a `Format` for one dialect.
template <const Dialect& (*dialect)()>
struct Entry {
  static std::span<const OptionSpec> Options() {
    static const std::vector<OptionSpec> kSpecs =
        changelog::ChangelogOptionSpecs(dialect().options);
    return kSpecs;
  }

  static Result<ChangelogOptions> Parse(const FormatOptions& options, Direction direction) {
    SLUICE_ASSIGN_OR_RETURN(ChangelogOptions parsed,
                            changelog::ParseChangelogOptions(options, Options()));
    parsed.json.epoch_times = dialect().epoch_times;
    if (dialect().validate != nullptr) {
      SLUICE_RETURN_NOT_OK(dialect().validate(parsed, direction));
    }
    return parsed;
  }

  static Status Validate(const FormatOptions& options, const Schema& physical,
                         Direction direction) {
    SLUICE_RETURN_NOT_OK(Parse(options, direction).status());
    for (const Column& column : physical.columns())
      SLUICE_RETURN_NOT_OK(json::CheckJsonType(column.type));
    return {};
  }

  static Schema Metadata() { return changelog::MetadataSchema(dialect().metadata); }

  static Result<std::unique_ptr<RowDecoder>> MakeDecoder(const FormatOptions& options,
                                                         const ReadSchema& schema,
                                                         const FormatContext& context) {
    SLUICE_RETURN_NOT_OK(Validate(options, schema.physical, Direction::kRead));
    SLUICE_ASSIGN_OR_RETURN(ChangelogOptions parsed, Parse(options, Direction::kRead));
    parsed.json.keep_bad_records = context.keep_bad_records;
    parsed.json.ignore_parse_errors |= context.keep_bad_records;
    return changelog::ChangelogDecoder::Make(dialect(), std::move(parsed), schema, context);
  }

  static Result<std::unique_ptr<RowFramer>> MakeFramer(const FormatOptions&) {
    return std::make_unique<ChangeFramer>();
  }

  static Result<std::unique_ptr<RowEncoder>> MakeEncoder(const FormatOptions& options,
                                                         const Schema& schema, Framing framing,
                                                         const FormatContext&) {
    SLUICE_RETURN_NOT_OK(Validate(options, schema, Direction::kWrite));
    SLUICE_ASSIGN_OR_RETURN(const ChangelogOptions parsed, Parse(options, Direction::kWrite));
    return std::make_unique<changelog::ChangelogEncoder>(dialect(), parsed.json, schema, framing);
  }

  static Format Make() {
    return {
        .name = dialect().name,
        .encoding = Encoding::kRow,
        .rolls_on_checkpoint = false,
        .options = Options(),
        .read_kinds = RowKindSet::All(),
        .write_kinds = RowKindSet::All(),
        .metadata = &Metadata,
        .validate = &Validate,
        .make_decoder = &MakeDecoder,
        .make_framer = &MakeFramer,
        .make_encoder = &MakeEncoder,
    };
  }
};

}  // namespace

const Format kDebeziumJsonFormat = Entry<&changelog::DebeziumDialect>::Make();
const Format kCanalJsonFormat = Entry<&changelog::CanalDialect>::Make();
const Format kMaxwellJsonFormat = Entry<&changelog::MaxwellDialect>::Make();
const Format kOggJsonFormat = Entry<&changelog::OggDialect>::Make();

}  // namespace sluice::formats
