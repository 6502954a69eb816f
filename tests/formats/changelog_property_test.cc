// Random changes of a keyed table: what other systems write of them is read as those changes, and
// after encode and decode the table that they leave is the same as an oracle's.
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "formats/changelog/changelog_formats.h"
#include "formats/json/json_format.h"
#include "formats/testing/render.h"

namespace sluice::formats {
namespace {

using testing::AllOf;
using testing::FirstBad;
using testing::Options;

/// The columns of a row as JSON texts.
using Row = std::vector<std::string>;

const std::vector<std::string> kNames = {"id", "k", "v", "r"};

Schema TableSchema() {
  return Schema(
      {{"id", SqlType::Int()},
       {"k", SqlType::String()},
       {"v", SqlType::Decimal(10, 2)},
       {"r", SqlType::Row({{"id", SqlType::Int()}, {"l", SqlType::Array(SqlType::String())}})}});
}

std::string Object(const Row& row, const Row* differs_from = nullptr) {
  std::string text;
  for (size_t i = 0; i < row.size(); ++i) {
    if (differs_from != nullptr && (*differs_from)[i] == row[i]) continue;
    text += (text.empty() ? "\"" : ",\"") + kNames[i] + "\":" + row[i];
  }
  return "{" + text + "}";
}

/// An insert has no `before`, a delete no `after`.
struct Change {
  std::optional<Row> before;
  std::optional<Row> after;
};

class RandomTable {
 public:
  explicit RandomTable(uint64_t seed) : random_(seed) {}

  Change Next() {
    const int id = static_cast<int>(Below(12));
    const auto at = rows_.find(id);
    if (at == rows_.end()) {
      rows_[id] = NewRow(id);
      return {std::nullopt, rows_[id]};
    }
    const Row before = at->second;
    if (Below(3) == 0) {
      rows_.erase(at);
      return {before, std::nullopt};
    }
    const Row other = NewRow(id);
    for (size_t i = 1; i < other.size(); ++i) {
      if (Below(2) == 0) at->second[i] = other[i];
    }
    return {before, at->second};
  }

  const std::map<int, Row>& rows() const { return rows_; }
  uint64_t Below(uint64_t bound) { return random_() % bound; }

 private:
  Row NewRow(int id) {
    static const std::string kTexts[] = {"null",         "\"\"",   "\"a\"",
                                         R"("q\"\\\n")", "\"é😀\"", R"("{\"id\":1}")"};
    static const std::string kNested[] = {"null", R"({"id":null,"l":[]})",
                                          R"({"id":7,"l":["x",null]})", R"({"id":8,"l":null})"};
    const std::string number = Below(4) == 0 ? "null" : std::to_string(Below(1000)) + ".25";
    return {std::to_string(id), kTexts[Below(std::size(kTexts))], number,
            kNested[Below(std::size(kNested))]};
  }

  std::mt19937_64 random_;
  std::map<int, Row> rows_;
};

/// The rows as json reads them.
std::vector<std::string> Rendered(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += Object(row) + "\n";
  auto decoder = kJsonFormat.make_decoder(Options(kJsonFormat, {}), AllOf(TableSchema()), {});
  const auto decoded = (*decoder)->DecodeChunk(text, true);
  EXPECT_EQ(FirstBad(*decoded), "");
  return testing::RenderRows(decoded->rows);
}

std::vector<std::string> ExpectedChanges(const std::vector<Change>& changes) {
  std::vector<Row> rows;
  std::vector<std::string> kinds;
  for (const Change& change : changes) {
    if (change.before) {
      rows.push_back(*change.before);
      kinds.push_back(change.after ? "-U " : "-D ");
    }
    if (change.after) {
      rows.push_back(*change.after);
      kinds.push_back(change.before ? "+U " : "+I ");
    }
  }
  std::vector<std::string> texts = Rendered(rows);
  for (size_t i = 0; i < texts.size(); ++i) texts[i].insert(0, kinds[i]);
  return texts;
}

std::string WithBeforeAndAfter(const Change& change, std::string_view op) {
  return "{\"before\":" + (change.before ? Object(*change.before) : "null") +
         ",\"after\":" + (change.after ? Object(*change.after) : "null") + "," + std::string(op) +
         "}\n";
}

std::string AsDebezium(const Change& change) {
  const char* op = !change.before ? "\"op\":\"c\"" : change.after ? "\"op\":\"u\"" : "\"op\":\"d\"";
  return WithBeforeAndAfter(change, op);
}

std::string AsOgg(const Change& change) {
  const char* op = !change.before ? "\"op_type\":\"I\""
                   : change.after ? "\"op_type\":\"U\""
                                  : "\"op_type\":\"D\"";
  return WithBeforeAndAfter(change, op);
}

std::string AsMaxwell(const Change& change) {
  if (!change.before) return "{\"type\":\"insert\",\"data\":" + Object(*change.after) + "}\n";
  if (!change.after) return "{\"type\":\"delete\",\"data\":" + Object(*change.before) + "}\n";
  return "{\"data\":" + Object(*change.after) +
         ",\"old\":" + Object(*change.before, &*change.after) + ",\"type\":\"update\"}\n";
}

/// Neighbours of one kind share a message.
std::string AsCanal(const std::vector<Change>& changes) {
  std::string text;
  const auto type_of = [](const Change& change) {
    return !change.before ? "INSERT" : change.after ? "UPDATE" : "DELETE";
  };
  for (size_t i = 0; i < changes.size();) {
    const std::string type = type_of(changes[i]);
    std::string data;
    std::string old;
    for (; i < changes.size() && type_of(changes[i]) == type; ++i) {
      const Change& change = changes[i];
      if (!data.empty()) data += ',';
      data += Object(change.after ? *change.after : *change.before);
      if (type != "UPDATE") continue;
      if (!old.empty()) old += ',';
      old += Object(*change.before, &*change.after);
    }
    text += "{\"data\":[" + data + "],\"old\":" + (old.empty() ? "null" : "[" + old + "]") +
            ",\"type\":\"" + type + "\"}\n";
  }
  return text;
}

std::string Written(const Format& format, const std::vector<Change>& changes) {
  if (format.name == "canal-json") return AsCanal(changes);
  std::string text;
  for (const Change& change : changes) {
    text += format.name == "debezium-json" ? AsDebezium(change)
            : format.name == "ogg-json"    ? AsOgg(change)
                                           : AsMaxwell(change);
  }
  return text;
}

Batch Decode(const Format& format, const OptionMap& options, std::string_view text) {
  auto decoder = format.make_decoder(Options(format, options), AllOf(TableSchema()), {});
  auto decoded = (*decoder)->DecodeChunk(text, true);
  EXPECT_EQ(FirstBad(*decoded), "");
  EXPECT_TRUE(decoded->rows.rows()->ValidateFull().ok());
  return decoded->rows;
}

std::vector<std::string> Changes(const Batch& batch) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < batch.row_count(); ++i) {
    texts.push_back(std::string(RowKindText(batch.row_kind(i))) + " " +
                    testing::RenderRow(*batch.rows(), i));
  }
  return texts;
}

/// The rows that are left. A row taken back must have been there.
std::multiset<std::string> Fold(const Batch& batch) {
  std::multiset<std::string> left;
  for (int64_t i = 0; i < batch.row_count(); ++i) {
    const std::string row = testing::RenderRow(*batch.rows(), i);
    const RowKind kind = batch.row_kind(i);
    if (kind == RowKind::kInsert || kind == RowKind::kUpdateAfter) {
      left.insert(row);
    } else {
      const auto at = left.find(row);
      EXPECT_NE(at, left.end()) << row;
      if (at != left.end()) left.erase(at);
    }
  }
  return left;
}

class ChangelogProperty : public ::testing::TestWithParam<const Format*> {};

TEST_P(ChangelogProperty, ReadsWhatWasDone) {
  const Format& format = *GetParam();
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomTable table(seed);
    std::vector<Change> changes;
    for (int i = 0; i < 120; ++i) changes.push_back(table.Next());
    const Batch read = Decode(format, {}, Written(format, changes));
    ASSERT_EQ(Changes(read), ExpectedChanges(changes)) << format.name << " seed " << seed;
  }
}

TEST_P(ChangelogProperty, WritesWhatLeavesTheSameTable) {
  const Format& format = *GetParam();
  const OptionMap cases[] = {
      {}, {{"encode.ignore-null-fields", "true"}}, {{"encode.decimal-as-plain-number", "true"}}};
  uint64_t seed = 100;
  for (const OptionMap& options : cases) {
    for (int round = 0; round < 15; ++round, ++seed) {
      RandomTable table(seed);
      std::vector<Change> changes;
      for (int i = 0; i < 150; ++i) changes.push_back(table.Next());
      const Batch done = Decode(format, {}, Written(format, changes));
      auto encoder =
          format.make_encoder(Options(format, options), TableSchema(), Framing::kFile, {});
      std::string text;
      for (int64_t at = 0; at < done.row_count();) {
        const auto size = static_cast<int64_t>(1 + table.Below(40));
        ASSERT_TRUE((*encoder)->Encode(done.Slice(at, size), &text, nullptr).ok());
        at += size;
      }
      std::vector<Row> left;
      for (const auto& [id, row] : table.rows()) left.push_back(row);
      const std::vector<std::string> oracle = Rendered(left);
      ASSERT_EQ(Fold(Decode(format, {}, text)),
                std::multiset<std::string>(oracle.begin(), oracle.end()))
          << format.name << " seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ChangelogProperty,
                         ::testing::Values(&kDebeziumJsonFormat, &kCanalJsonFormat,
                                           &kMaxwellJsonFormat, &kOggJsonFormat),
                         [](const auto& info) {
                           std::string name(info.param->name);
                           return name.substr(0, name.find('-'));
                         });

}  // namespace
}  // namespace sluice::formats
