// One message as its dialect sees it: the members of the envelope, and ways to make rows of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/changelog/changelog_options.h"
#include "formats/changelog/envelope.h"
#include "formats/changelog/metadata_columns.h"
#include "formats/changelog/schema_forms.h"
#include "formats/json/json_reader.h"
#include "types/batch.h"

namespace sluice::formats::changelog {

struct Dialect;

/// Rows are added in the order in which they take effect. Every method that adds or rejects returns
/// what the dialect's read function is to return: false when the message is bad.
class Message {
 public:
  Message(const Dialect& dialect, const ChangelogOptions& options, json::JsonReader* reader,
          MetadataColumns* metadata);

  /// Reads the message that `reader` has begun; rows come behind `*row` others.
  bool Read(int64_t* row);

  const ChangelogOptions& options() const { return options_; }
  bool has(int member) const { return envelope_.has(member); }
  bool has_value(int member) const { return envelope_.has_value(member); }
  const char* position(int member) const { return envelope_.position(member); }
  /// The characters of a string, the source of another value; nullopt when it is missing or null.
  std::optional<std::string> Text(int member);
  /// Where the elements of an array stand. False: it is none.
  bool Elements(int member, std::vector<const char*>* positions);

  /// The object at `object` is a row.
  bool Add(RowKind kind, const char* object);
  /// A row of which `old` holds the fields that were different; the others are those of `data`.
  bool AddCompleted(RowKind kind, const char* old, const char* data);
  /// The message is right and gives no row.
  bool Ignore();
  /// 'Unknown "op" value "x".' with what to do.
  bool RejectUnknown(std::string_view member, std::string_view value);
  bool Reject(std::string reason) { return reader_.Reject(std::move(reason)); }

  std::vector<int8_t>& kinds() { return kinds_; }
  int64_t ignored_count() const { return ignored_count_; }
  void ResetCounts() { ignored_count_ = 0; }

 private:
  bool ReadEnvelope();
  bool FinishRow(RowKind kind);

  const Dialect& dialect_;
  const ChangelogOptions& options_;
  json::JsonReader& reader_;
  MetadataColumns& metadata_;
  Envelope envelope_;
  Envelope root_;        // Schema and payload.
  Envelope row_fields_;  // Of a whole row that completes a partial one.
  SchemaForms forms_;
  std::string_view schema_;
  std::vector<int8_t> kinds_;  // Of every row since they were last taken.
  int64_t* row_ = nullptr;
  int64_t ignored_count_ = 0;
};

}  // namespace sluice::formats::changelog
