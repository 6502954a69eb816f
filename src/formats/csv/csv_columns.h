// Turns the fields of one column, a block of rows at a time, into an Arrow array.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/csv/csv_options.h"
#include "formats/csv/csv_tokenizer.h"
#include "formats/text/column_builder.h"
#include "formats/text/scalar_text.h"

namespace sluice::formats::csv {

/// A field that does not parse.
struct BadField {
  int row;  // In the block.
  std::string reason;
  std::string text;
};

/// One column under construction. Virtual per block, not per value.
class CsvColumn {
 public:
  /// `name` is for messages. `options` must outlive the column.
  static std::unique_ptr<CsvColumn> Make(const std::string& name, const SqlType& type,
                                         const CsvOptions& options, arrow::MemoryPool* pool);
  virtual ~CsvColumn() = default;

  /// Appends rows [0, rows) of `fields`. `text_size`: bytes of `text` that may be read. With errors
  /// ignored bad fields become NULL, all are counted in bad_count() and those for which there is
  /// room are described in bad(); otherwise conversion stops at the first one, and fewer rows were
  /// appended.
  void Convert(const FieldRef* fields, int rows, const char* text, size_t text_size);

  const std::string& name() const { return name_; }
  text::ColumnBuilder& builder() { return builder_; }
  /// Bad fields of the last Convert.
  const std::vector<BadField>& bad() const { return bad_; }
  int64_t bad_count() const { return bad_count_; }

 protected:
  CsvColumn(const std::string& name, const SqlType& type, const CsvOptions& options,
            arrow::MemoryPool* pool);
  virtual void ConvertRows(const FieldRef* fields, int rows) = 0;

  std::string_view Raw(FieldRef field) const { return {text_ + field.begin, field.size()}; }
  /// The field's characters, quotes and escapes resolved into scratch_ where there are any.
  std::string_view Resolve(FieldRef field);
  /// True for what reads as NULL whatever the type: missing fields and the null literal.
  bool IsNullForAll(FieldRef field) const {
    if (field.missing()) return true;
    return has_literal_ && !field.quoted() && field.size() == literal_.size() &&
           std::memcmp(text_ + field.begin, literal_.data(), literal_.size()) == 0;
  }
  /// Notes a bad field. False: the read fails, stop here.
  bool Report(int row, std::string_view text, std::string reason);

  const CsvOptions& options_;
  const bool has_literal_;
  const std::string literal_;
  text::ScalarRules rules_;
  text::ColumnBuilder builder_;
  const char* text_ = nullptr;
  size_t text_size_ = 0;

 private:
  std::string name_;
  std::string scratch_;
  std::vector<BadField> bad_;
  int64_t bad_count_ = 0;
};

/// Resolves doubled quotes and escapes of `raw` into `out`, which has room for raw.size() bytes.
/// Returns the end.
char* ResolveEscapes(std::string_view raw, bool quoted, const CsvOptions& options, char* out);

/// Bad fields described per block and column; the rest is counted.
constexpr size_t kMaxDescribedFields = 64;

}  // namespace sluice::formats::csv
