#include "connectors/filesystem/source/file_source.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/random.h"
#include "connectors/filesystem/source/source_test_support.h"
#include "expr/builder.h"

namespace sluice::connectors::filesystem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> ReadAll(TableSource& source, int parallelism = 2) {
  SourceDriver driver(source, parallelism);
  const Status started = driver.Start();
  EXPECT_TRUE(started.ok()) << started.ToString();
  const Status run = driver.Run();
  EXPECT_TRUE(run.ok()) << run.ToString();
  EXPECT_TRUE(driver.finished());
  return driver.rows();
}

Status ReadFailure(TableSource& source) {
  SourceDriver driver(source, 2);
  const Status started = driver.Start();
  return started.ok() ? driver.Run() : started;
}

// Captures log lines for the time of a test.
class LogCapture {
 public:
  LogCapture() {
    SetLogSink([this](LogLevel, std::string_view line) { lines.emplace_back(line); });
  }
  ~LogCapture() { SetLogSink(nullptr); }
  std::vector<std::string> lines;
};

TEST(FileSourceTest, ReadsVisibleFilesAtAnyDepth) {
  const TemporaryDirectory directory;
  directory.Write("_table/a", "1\n2");
  directory.Write("_table/deep/er/b", "3\n");
  directory.Write("_table/.hidden", "x\n");
  directory.Write("_table/_also", "x\n");
  directory.Write("_table/.staging/c", "x\n");
  directory.Write("_table/deep/_tmp/d", "x\n");
  directory.Write("_table/empty", "");
  // The root's own name may look hidden.
  const auto source = OpenTable(LinesTable(directory.Path("_table")));
  EXPECT_THAT(ReadAll(*source), UnorderedElementsAre("1", "2", "3"));
  const auto file = OpenTable(LinesTable(directory.Path("_table/_also")));
  EXPECT_THAT(ReadAll(*file), ElementsAre("x"));
}

TEST(FileSourceTest, MissingDirectoryIsAnErrorThatNamesIt) {
  const auto source = OpenTable(LinesTable("/nowhere/at/all"));
  const Status status = ReadFailure(*source);
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.ToString(),
              AllOf(HasSubstr("Could not enumerate file splits"), HasSubstr("/nowhere/at/all")));
}

TEST(FileSourceTest, PathPatternMatchesTheWholePath) {
  const TemporaryDirectory directory;
  directory.Write("t/a.csv", "1\n");
  directory.Write("t/sub/b.csv", "2\n");
  directory.Write("t/c.txt", "3\n");
  const auto rows = [&](const std::string& pattern) {
    const auto source =
        OpenTable(LinesTable(directory.Path("t"), {}, {{"source.path.regex-pattern", pattern}}));
    return ReadAll(*source);
  };
  EXPECT_THAT(rows(".*\\.csv"), UnorderedElementsAre("1", "2"));
  EXPECT_THAT(rows("a.csv"), IsEmpty());
  EXPECT_THAT(rows("file:/.*"), IsEmpty());
  EXPECT_THAT(rows(directory.Path("t") + "/(?!sub).*"), UnorderedElementsAre("1", "3"));
  const auto bad = ReadSourceOptions(LinesTable("/t", {}, {{"source.path.regex-pattern", "(a"}}));
  EXPECT_THAT(bad.status().message(),
              AllOf(HasSubstr("source.path.regex-pattern"), HasSubstr("(a")));
}

TEST(FileSourceTest, PartitionsAsTheyAreFound) {
  const TemporaryDirectory directory;
  directory.Write("t/a=1/b=x/f", "plain\n");
  directory.Write("t/b=y/a=2/f", "other order\n");
  directory.Write("t/a=03/b=%5a/f", "other escaping\n");
  directory.Write("t/a=4/b=__DEFAULT_PARTITION__/more/f", "null\n");
  directory.Write("t/a=__DEFAULT_PARTITION__/b=n/f", "null key\n");
  directory.Write("t/README", "stray\n");
  directory.Write("t/other/f", "stray\n");
  directory.Write("t/a=5/f", "wrong level\n");
  directory.Write("t/a=6/c=7/f", "unknown key\n");
  directory.Write("t/.staging_1/a=9/b=9/f", "hidden\n");
  LogCapture log;
  const auto source =
      OpenTable(LinesTable(directory.Path("t"), {{"a", SqlType::Int()}, {"b", SqlType::String()}}));
  EXPECT_THAT(ReadAll(*source),
              UnorderedElementsAre("plain|1|x", "other order|2|y", "other escaping|3|Z",
                                   "null|4|NULL", "null key|NULL|n"));
  EXPECT_EQ(log.lines.size(), 1u);
}

TEST(FileSourceTest, EqualsSignsAndHashesAboveTheTableAreNoPartitions) {
  const TemporaryDirectory directory;
  directory.Write("env=prod,a b/#1/a=1/f", "row\n");
  const auto source =
      OpenTable(LinesTable(directory.Path("env=prod,a b/#1"), {{"a", SqlType::Int()}}));
  EXPECT_THAT(ReadAll(*source), ElementsAre("row|1"));
}

TEST(FileSourceTest, TextThatDoesNotFitItsColumn) {
  const TemporaryDirectory directory;
  directory.Write("t/a=abc/b=1/f", "bad\n");
  directory.Write("t/a=7/b=2/f", "good\n");
  const TableInfo table =
      LinesTable(directory.Path("t"), {{"a", SqlType::Int()}, {"b", SqlType::Int()}});
  const auto source = OpenTable(table);
  EXPECT_THAT(ReadFailure(*source).ToString(),
              AllOf(HasSubstr("a=abc"), HasSubstr("'a'"), HasSubstr("INT")));

  const auto equals = [](int column, int value) {
    return *expr::MakeComparison(expr::ComparisonOp::kEqual,
                                 expr::MakeColumn(column, SqlType::Int()), expr::MakeInt(value));
  };
  const auto pruned = [&](const expr::ExprPtr& predicate) {
    const auto planned = OpenTable(table);
    EXPECT_EQ((*planned->ListPartitions())->size(), 2u);
    const Status applied = planned->ApplyPartitions({{"7", "2"}}, predicate);
    return applied.ok() ? std::pair(applied, ReadAll(*planned))
                        : std::pair(applied, std::vector<std::string>());
  };
  // Left out by the other column: fine. By the bad one alone: nobody knows.
  EXPECT_THAT(pruned(equals(1, 2)).second, ElementsAre("good|7|2"));
  EXPECT_EQ(pruned(equals(0, 7)).first.code(), StatusCode::kDataError);
}

TEST(FileSourceTest, MetadataColumns) {
  const TemporaryDirectory directory;
  directory.Write("t/f 1.txt", "row\n");
  const auto source =
      OpenTable(LinesTable(directory.Path("t")), {"file.name", "file.size", "file.path"});
  EXPECT_THAT(ReadAll(*source), ElementsAre("row|f 1.txt|4|" + directory.Path("t/f 1.txt")));
  EXPECT_THAT(source->ApplyProjection({0}, {"file.owner"}).message(),
              HasSubstr("Invalid metadata key 'file.owner'"));
}

TEST(FileSourceTest, BadRecordsAreNamedOrCounted) {
  const TemporaryDirectory directory;
  directory.Write("t/f", "1\n2\nbad row\n4\n");
  const auto strict = OpenTable(LinesTable(directory.Path("t")));
  EXPECT_THAT(ReadFailure(*strict).ToString(),
              AllOf(HasSubstr("/t/f, line 3, byte 4, column 'line'"), HasSubstr("bad row"),
                    HasSubstr("ignore-parse-errors")));
  LogCapture log;
  const auto lenient =
      OpenTable(LinesTable(directory.Path("t"), {}, {{"lines.ignore-parse-errors", "true"}}));
  SourceDriver driver(*lenient, 1);
  ASSERT_TRUE(driver.Start().ok());
  ASSERT_TRUE(driver.Run().ok());
  EXPECT_THAT(driver.rows(), ElementsAre("1", "2", "4"));
  EXPECT_EQ(driver.metrics().Value(runtime::metric::kBadRecords), 1);
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("line 3")));
}

TEST(FileSourceTest, LimitEndsTheReadEarly) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 50; ++i) directory.Write("t/f" + std::to_string(i), "a\nb\n");
  const auto source = OpenTable(LinesTable(directory.Path("t")));
  EXPECT_TRUE(source->ApplyLimit(3));
  EXPECT_LE(ReadAll(*source).size(), 8u);
}

TEST(FileSourceTest, RecordsOfManyMegabytesAndTheirLimit) {
  const TemporaryDirectory directory;
  const std::string huge(5 << 20, 'x');
  directory.Write("t/f", "1\n" + huge + "\n3\n");
  const auto source = OpenTable(LinesTable(directory.Path("t")));
  EXPECT_THAT(ReadAll(*source, 1), ElementsAre("1", huge, "3"));
  const auto limited =
      OpenTable(LinesTable(directory.Path("t"), {}, {{"source.max-record-size", "2 mb"}}));
  EXPECT_THAT(ReadFailure(*limited).ToString(),
              AllOf(HasSubstr("source.max-record-size"), HasSubstr("byte 2")));
}

// Rows of a bounded read with a checkpoint and a restart after any number of steps come out exactly
// once.
TEST(FileSourceTest, RestartsAnywhereKeepEveryRowOnce) {
  const TemporaryDirectory directory;
  std::vector<std::string> expected;
  Random random(5);
  for (int file = 0; file < 6; ++file) {
    std::string bytes;
    for (int line = 0; line < 3000; ++line) {
      std::string text =
          std::to_string(file) + "-" + std::to_string(line) + std::string(random.Below(600), '.');
      bytes += text + "\n";
      expected.push_back(text + "|" + std::to_string(file % 2));
    }
    directory.Write("t/p=" + std::to_string(file % 2) + "/f" + std::to_string(file), bytes);
  }
  std::sort(expected.begin(), expected.end());
  for (const int parallelism : {1, 4}) {
    const auto source = OpenTable(LinesTable(directory.Path("t"), {{"p", SqlType::Int()}}));
    std::vector<std::string> rows;
    std::optional<SourceDriver::State> state;
    for (int life = 0; life < 40; ++life) {
      SourceDriver driver(*source, parallelism);
      ASSERT_TRUE(driver.Start(state ? &*state : nullptr).ok());
      const Status run = driver.Run(life == 39 ? 1'000'000 : static_cast<int>(random.Below(12)));
      ASSERT_TRUE(run.ok()) << run.ToString();
      state = driver.Checkpoint();
      rows.insert(rows.end(), driver.rows().begin(), driver.rows().end());
    }
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, expected);
  }
}

// Small files are fetched and decoded many at a time; nobody can tell but by the speed.
TEST(FileSourceTest, SmallFilesThatAreReadTogetherKeepTheirBounds) {
  const TemporaryDirectory directory;
  std::vector<std::string> expected;
  for (int i = 0; i < 300; ++i) {
    const std::string name = std::to_string(1000 + i);
    const std::string partition = std::to_string(i % 2);
    // The last line of a file needs no end.
    directory.Write("t/p=" + partition + "/f" + name, name + "\nsecond" + (i % 3 == 0 ? "" : "\n"));
    expected.push_back(name + "|" + partition);
    expected.push_back("second|" + partition);
  }
  std::sort(expected.begin(), expected.end());
  const std::vector<Column> partitions = {{"p", SqlType::Int()}};
  for (const int parallelism : {1, 2, 8}) {
    const auto source = OpenTable(LinesTable(directory.Path("t"), partitions));
    std::vector<std::string> rows = ReadAll(*source, parallelism);
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, expected);
  }
  // Rows that name their file.
  const auto named = OpenTable(LinesTable(directory.Path("t"), partitions), {"file.name"});
  for (const std::string& row : ReadAll(*named)) {
    if (!row.starts_with("second")) {
      EXPECT_THAT(row, HasSubstr("|f" + row.substr(0, 4)));
    }
  }
  // A bad record is told with its file and its place there.
  directory.Write("t/p=1/f1077", "1077\nbad one\nsecond\n");
  const auto strict = OpenTable(LinesTable(directory.Path("t"), partitions));
  EXPECT_THAT(ReadFailure(*strict).ToString(),
              AllOf(HasSubstr("/p=1/f1077, line 2, byte 5"), HasSubstr("bad one")));
  LogCapture log;
  const auto lenient = OpenTable(
      LinesTable(directory.Path("t"), partitions, {{"lines.ignore-parse-errors", "true"}}));
  SourceDriver driver(*lenient, 2);
  ASSERT_TRUE(driver.Start().ok());
  ASSERT_TRUE(driver.Run().ok());
  std::vector<std::string> rows = driver.rows();
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(driver.metrics().Value(runtime::metric::kBadRecords), 1);
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("/p=1/f1077, line 2")));
}

TEST(FileSourceTest, SmallFilesSurviveRestartsAnywhere) {
  const TemporaryDirectory directory;
  std::vector<std::string> expected;
  for (int i = 0; i < 500; ++i) {
    directory.Write("t/f" + std::to_string(i), std::to_string(i) + "a\n" + std::to_string(i) + "b");
    expected.push_back(std::to_string(i) + "a");
    expected.push_back(std::to_string(i) + "b");
  }
  std::sort(expected.begin(), expected.end());
  Random random(9);
  for (const bool watching : {false, true}) {
    OptionMap options;
    if (watching) options = {{"source.monitor-interval", "1 s"}, {"source.watch.mode", "listing"}};
    const auto source = OpenTable(LinesTable(directory.Path("t"), {}, options));
    std::vector<std::string> rows;
    std::optional<SourceDriver::State> state;
    for (int life = 0; life < 30; ++life) {
      SourceDriver driver(*source, 2);
      ASSERT_TRUE(driver.Start(state ? &*state : nullptr).ok());
      ASSERT_TRUE(driver.Run(life == 29 ? 1'000'000 : static_cast<int>(random.Below(6))).ok());
      state = driver.Checkpoint();
      rows.insert(rows.end(), driver.rows().begin(), driver.rows().end());
    }
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, expected) << watching;
  }
}

// A file that vanishes between its neighbours.
TEST(FileSourceTest, AVanishedSmallFileTakesNobodyWithIt) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 100; ++i) directory.Write("t/f" + std::to_string(100 + i), "row\n");
  const auto source =
      OpenTable(LinesTable(directory.Path("t"), {},
                           {{"source.monitor-interval", "1 s"}, {"source.watch.mode", "listing"}}));
  LogCapture log;
  SourceDriver driver(*source, 1);
  ASSERT_TRUE(driver.Start().ok());
  std::filesystem::remove(directory.Path("t/f140"));
  ASSERT_TRUE(driver.Run().ok());
  EXPECT_EQ(driver.rows().size(), 99u);
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("/t/f140 was gone")));
}

class WatchTest : public ::testing::Test {
 protected:
  std::unique_ptr<TableSource> Watch(const std::vector<Column>& partitions = {},
                                     OptionMap more = {}) {
    more["source.monitor-interval"] = "1 s";
    more.emplace("source.watch.mode", "listing");  // Notifications come when they come.
    return OpenTable(LinesTable(directory_.Path("t"), partitions, more));
  }
  /// Lets the interval pass and reads what is new.
  void Look(SourceDriver& driver) {
    clock_.AdvanceMillis(1'001);
    ASSERT_TRUE(driver.Run().ok());
    ASSERT_TRUE(driver.Run().ok());
  }

  TemporaryDirectory directory_;
  VirtualClock clock_{4'000'000'000'000};
};

TEST_F(WatchTest, FindsNewFilesOnceAndReportsChangesOnce) {
  directory_.Write("t/a", "1\n");
  const auto source = Watch();
  LogCapture log;
  SourceDriver driver(*source, 2, &clock_);
  ASSERT_TRUE(driver.Start().ok());
  ASSERT_TRUE(driver.Run().ok());
  EXPECT_THAT(driver.rows(), ElementsAre("1"));
  EXPECT_FALSE(driver.finished());

  directory_.Write("t/.b", "2\n");
  directory_.Write("t/sub/c", "3\n");
  Look(driver);
  EXPECT_THAT(driver.rows(), ElementsAre("1", "3"));
  std::filesystem::rename(directory_.Path("t/.b"), directory_.Path("t/b"));
  Look(driver);
  EXPECT_THAT(driver.rows(), ElementsAre("1", "3", "2"));

  EXPECT_THAT(log.lines, IsEmpty());
  directory_.Write("t/a", "1\nappended\n");
  Look(driver);
  Look(driver);
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("/t/a has changed")));
  EXPECT_EQ(driver.rows().size(), 3u);
}

TEST_F(WatchTest, OlderPartitionsThatAppearLaterAreReadAcrossARestart) {
  directory_.Write("t/dt=2024-01-03/a", "1\n");
  const auto source = Watch({{"dt", SqlType::Date()}});
  SourceDriver first(*source, 1, &clock_);
  ASSERT_TRUE(first.Start().ok());
  ASSERT_TRUE(first.Run().ok());
  directory_.Write("t/dt=2024-01-01/b", "2\n");
  std::filesystem::last_write_time(
      directory_.Path("t/dt=2024-01-01/b"),
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  Look(first);
  EXPECT_THAT(first.rows(), ElementsAre("1|2024-01-03", "2|2024-01-01"));
  const auto state = first.Checkpoint();

  SourceDriver second(*source, 3, &clock_);
  directory_.Write("t/dt=2024-01-03/c", "3\n");
  ASSERT_TRUE(second.Start(&state).ok());
  ASSERT_TRUE(second.Run().ok());
  Look(second);
  EXPECT_THAT(second.rows(), ElementsAre("3|2024-01-03"));
}

TEST_F(WatchTest, LaterPartitionsPassThePredicate) {
  directory_.Write("t/p=1/a", "1\n");
  const auto source = Watch({{"p", SqlType::Int()}});
  ASSERT_TRUE(source->ListPartitions().ok());
  const auto below_three = *expr::MakeComparison(
      expr::ComparisonOp::kLess, expr::MakeColumn(0, SqlType::Int()), expr::MakeInt(3));
  ASSERT_TRUE(source->ApplyPartitions({{"1"}}, below_three).ok());
  SourceDriver driver(*source, 1, &clock_);
  ASSERT_TRUE(driver.Start().ok());
  directory_.Write("t/p=2/a", "2\n");
  directory_.Write("t/p=3/a", "3\n");
  Look(driver);
  EXPECT_THAT(driver.rows(), ElementsAre("1|1", "2|2"));
}

TEST_F(WatchTest, VanishedFilesAreToldAndSkipped) {
  directory_.Write("t/a", "1\n");
  directory_.Write("t/b", "2\n");
  const auto source = Watch();
  LogCapture log;
  SourceDriver driver(*source, 1, &clock_);
  ASSERT_TRUE(driver.Start().ok());
  std::filesystem::remove(directory_.Path("t/a"));
  ASSERT_TRUE(driver.Run().ok());
  EXPECT_THAT(driver.rows(), ElementsAre("2"));
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("/t/a was gone")));
}

TEST_F(WatchTest, MinimumAgeWaitsForSlowWriters) {
  clock_.AdvanceMillis(Clock::System().NowMillis() - clock_.NowMillis());
  directory_.Write("t/a", "1\n");
  const auto source = Watch({}, {{"source.file.min-age", "10 s"}});
  SourceDriver driver(*source, 1, &clock_);
  ASSERT_TRUE(driver.Start().ok());
  Look(driver);
  EXPECT_THAT(driver.rows(), IsEmpty());
  directory_.Write("t/a", "1\n2\n");
  clock_.AdvanceMillis(20'000);
  Look(driver);
  EXPECT_THAT(driver.rows(), ElementsAre("1", "2"));
}

// Known pitfalls 6.1: a file of an archive, or by a clock that is ahead, is not left for years.
TEST_F(WatchTest, AMinimumAgeCountsFromTheFirstLookWhereTheTimeIsStillToCome) {
  clock_.AdvanceMillis(Clock::System().NowMillis() - clock_.NowMillis());
  directory_.Write("t/a", "1\n");
  const std::filesystem::path path = directory_.Path("t/a");
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() + std::chrono::hours(24 * 365));
  const auto source = Watch({}, {{"source.file.min-age", "10 s"}});
  SourceDriver driver(*source, 1, &clock_);
  ASSERT_TRUE(driver.Start().ok());
  clock_.AdvanceMillis(5'000);
  Look(driver);
  EXPECT_THAT(driver.rows(), IsEmpty());
  clock_.AdvanceMillis(6'000);
  Look(driver);
  EXPECT_THAT(driver.rows(), ElementsAre("1"));
}

TEST(SourceOptionsTest, IntervalMustBeAboveZero) {
  const auto options =
      ReadSourceOptions(LinesTable("/t", {}, {{"source.monitor-interval", "0 s"}}));
  EXPECT_THAT(options.status().message(), HasSubstr("discoveryInterval must be > 0"));
}

}  // namespace
}  // namespace sluice::connectors::filesystem
