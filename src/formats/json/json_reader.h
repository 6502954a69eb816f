// Reads one record after the other into the builders of a table's columns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_columns.h"
#include "formats/json/json_cursor.h"
#include "formats/json/json_options.h"

namespace sluice::formats::json {

/// What was wrong with a record or, with errors ignored, with a field of it.
struct JsonError {
  std::string column;  // Empty: the record.
  std::string reason;
  std::string text;  // Of the field; empty for the record.
};

class JsonReader {
 public:
  /// `options` and the columns of `top` must outlive the reader. Every column of `top` has as many
  /// values as there are rows.
  JsonReader(const JsonOptions& options, FieldTable* top) : options_(options), top_(top) {}

  /// Reads `text`: an object, or an array of objects, one row each; `row` is the number of rows
  /// before. `text` as JsonCursor wants it. True: `*row` counts the new rows too. False:
  /// errors().back() is why the record is bad, and the columns may have more than `*row` values.
  bool ReadRecord(std::string_view text, int64_t* row);

  /// Of the last record. With errors ignored also the fields that became NULL, at most kMaxErrors
  /// of them, all counted.
  const std::vector<JsonError>& errors() const { return errors_; }
  int64_t error_count() const { return error_count_; }
  static constexpr size_t kMaxErrors = 64;

  // For envelopes around rows: Begin a record, walk over it with cursor(), read what was found.
  // Each of them returns false for a bad record; FailRecord then notes the reason, unless a field
  // was at fault and is noted already.

  /// Starts on `text` and goes to its first character that is no blank.
  void Begin(std::string_view text);
  JsonCursor& cursor() { return cursor_; }
  FieldTable& top() { return *top_; }
  /// The object at `position` becomes row `row` of the columns.
  bool ReadRow(const char* position, int64_t row);
  /// The same, but columns that the object does not name get no value: see top().seen().
  bool ReadSomeFields(const char* position, int64_t row);
  /// The value at `position`, which is not blank, is appended to `column`.
  bool ReadColumn(const char* position, JsonColumn& column);
  /// Nothing but blanks may follow.
  bool ExpectEnd();
  /// The record is bad for `reason`. Returns false.
  bool Reject(std::string reason);
  /// Notes what the cursor complains about. Returns false.
  bool FailRecord();

 private:
  bool ReadTopArray(int64_t* row);
  bool ReadObject(FieldTable& table, int64_t row);
  bool ReadFields(FieldTable& table, int64_t row);
  bool ReadField(FieldTable& table, int field, int64_t row);
  bool FillMissing(FieldTable& table);

  bool ReadValue(JsonColumn& column);
  // Quick…: false, with nothing done, when the value is not of the simple form.
  template <typename T>
  bool QuickInteger(JsonColumn& column);
  bool QuickFixedPoint(JsonColumn& column);
  bool CopyText(JsonColumn& column);
  bool ReadTimestamp(JsonColumn& column);
  bool ReadAnyValue(JsonColumn& column);
  bool ReadText(JsonColumn& column);
  bool AppendDecimalBytes(JsonColumn& column, std::string_view base64, int scale);
  bool ReadNumberValue(JsonColumn& column);
  bool ReadBoolean(JsonColumn& column);
  bool ReadNested(JsonColumn& column);
  bool ReadArray(JsonColumn& column);
  bool ReadMap(JsonColumn& column);
  bool ReadMapEntries(JsonColumn& column, const std::vector<bool>* dropped);
  bool FindRepeatedKeys(const JsonColumn& column, std::vector<bool>* dropped) const;
  bool ReadWrongStructure(JsonColumn& column);
  bool AppendNumber(JsonColumn& column, const NumberToken& number);
  bool AppendEpoch(JsonColumn& column, const NumberToken& number);
  bool AppendCutInteger(JsonColumn& column, const NumberToken& number);
  void AppendCompact(JsonColumn& column, std::string_view source);

  /// The value does not fit the column: NULL with errors ignored (true), else the record is bad.
  bool BadField(JsonColumn& column, std::string_view text, std::string reason);
  bool BadRecord(std::string reason);
  void AddError(JsonError error);

  const JsonOptions& options_;
  FieldTable* top_;
  JsonCursor cursor_;
  std::vector<JsonError> errors_;
  int64_t error_count_ = 0;
};

}  // namespace sluice::formats::json
