#include "formats/changelog/message.h"

#include "common/text.h"
#include "formats/changelog/dialect.h"

namespace sluice::formats::changelog {
namespace {

enum Root { kSchema, kPayload };

std::vector<std::string_view> FieldNames(const json::FieldTable& fields) {
  std::vector<std::string_view> names;
  for (int i = 0; i < fields.field_count(); ++i) names.push_back(fields.name(i));
  return names;
}

}  // namespace

Message::Message(const Dialect& dialect, const ChangelogOptions& options, json::JsonReader* reader,
                 MetadataColumns* metadata)
    : dialect_(dialect),
      options_(options),
      reader_(*reader),
      metadata_(*metadata),
      envelope_(dialect.members),
      root_({"schema", "payload"}),
      row_fields_(FieldNames(reader->top())),
      forms_(reader->top(), options.decimals_as_bytes) {}

bool Message::Read(int64_t* row) {
  row_ = row;
  if (reader_.cursor().at_end()) return Ignore();  // An empty message.
  return ReadEnvelope() && dialect_.read(*this);
}

bool Message::ReadEnvelope() {
  json::JsonCursor& cursor = reader_.cursor();
  schema_ = {};
  if (!options_.schema_include) {
    if (!envelope_.Read(cursor)) return reader_.FailRecord();
    return reader_.ExpectEnd();
  }
  if (!root_.Read(cursor)) return reader_.FailRecord();
  if (!reader_.ExpectEnd()) return false;
  if (!root_.has_value(kPayload)) {
    return Reject("It has no \"payload\". Set '" + options_.json.prefix +
                  "schema-include' = 'false' for messages without their schema.");
  }
  schema_ = root_.text(kSchema);
  forms_.Follow(schema_);
  cursor.GoTo(root_.position(kPayload));
  return envelope_.Read(cursor) || reader_.FailRecord();
}

std::optional<std::string> Message::Text(int member) {
  if (!envelope_.has_value(member)) return std::nullopt;
  if (*position(member) != '"') return std::string(envelope_.text(member));
  reader_.cursor().GoTo(position(member));
  std::string_view text;
  bool had_escapes = false;
  // It was read over before and so is a string.
  return reader_.cursor().ReadString(&text, &had_escapes) ? std::string(text) : std::string();
}

bool Message::Elements(int member, std::vector<const char*>* positions) {
  positions->clear();
  json::JsonCursor& cursor = reader_.cursor();
  cursor.GoTo(position(member));
  if (!cursor.Take('[')) return false;
  cursor.SkipBlanks();
  if (cursor.Take(']')) return true;
  while (true) {
    positions->push_back(cursor.position());
    if (!cursor.SkipValue()) return false;
    cursor.SkipBlanks();
    if (!cursor.Take(',')) return true;  // The closing bracket: it was read over before.
    cursor.SkipBlanks();
  }
}

bool Message::Add(RowKind kind, const char* object) {
  if (!reader_.ReadRow(object, *row_)) return reader_.FailRecord();
  return FinishRow(kind);
}

bool Message::AddCompleted(RowKind kind, const char* old, const char* data) {
  if (!reader_.ReadSomeFields(old, *row_)) return reader_.FailRecord();
  const json::FieldTable& top = reader_.top();
  if (!top.all_seen()) {
    reader_.cursor().GoTo(data);
    if (!row_fields_.Read(reader_.cursor())) return reader_.FailRecord();
    for (int i = 0; i < top.field_count(); ++i) {
      if (top.seen(i)) continue;
      if (!row_fields_.has(i)) {
        top.column(i)->builder->AppendNull();
      } else if (!reader_.ReadColumn(row_fields_.position(i), *top.column(i))) {
        return reader_.FailRecord();
      }
    }
  }
  return FinishRow(kind);
}

bool Message::FinishRow(RowKind kind) {
  if (!metadata_.Append(envelope_, schema_, reader_)) return false;
  kinds_.push_back(static_cast<int8_t>(kind));
  ++*row_;
  return true;
}

bool Message::Ignore() {
  ++ignored_count_;
  return true;
}

bool Message::RejectUnknown(std::string_view member, std::string_view value) {
  return Reject("Unknown \"" + std::string(member) + "\" value \"" + Printable(value, 40) + "\".");
}

}  // namespace sluice::formats::changelog
