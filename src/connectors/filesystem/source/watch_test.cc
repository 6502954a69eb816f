// Watched directories: the system's notifications, and what becomes of files that are read.
#include <chrono>
#include <thread>

#include "common/log.h"
#include "connectors/filesystem/source/source_test_support.h"
#include "fs/faulty/faulty_file_systems.h"

namespace sluice::connectors::filesystem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class LogCapture {
 public:
  LogCapture() {
    SetLogSink([this](LogLevel level, std::string_view line) {
      const std::lock_guard lock(mutex_);
      if (level != LogLevel::kInfo) lines_.emplace_back(line);
    });
  }
  ~LogCapture() { SetLogSink(nullptr); }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// With a monitor interval of an hour whatever is read was told by the system.
class NotificationTest : public ::testing::Test {
 protected:
  NotificationTest() { std::filesystem::create_directory(directory_.Path("t")); }

  std::unique_ptr<TableSource> Watch(const std::vector<Column>& partitions = {},
                                     OptionMap more = {}) {
    more.emplace("source.monitor-interval", "1 h");
    return OpenTable(LinesTable(directory_.Path("t"), partitions, more));
  }
  /// False where this machine's disk for temporary files tells nothing.
  bool Supported() {
    return fs::FileSystems::Default()
        .Locate(directory_.Path("t"))
        ->file_system->WatchTree(directory_.Path("t"), [] {})
        .ok();
  }
  void RunUntil(SourceDriver& driver, size_t rows) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (driver.rows().size() < rows && std::chrono::steady_clock::now() < give_up) {
      ASSERT_TRUE(driver.Run().ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  void RunFor(SourceDriver& driver, int millis) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(millis);
    while (std::chrono::steady_clock::now() < end) {
      ASSERT_TRUE(driver.Run().ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  TemporaryDirectory directory_;
};

TEST_F(NotificationTest, NewFilesAreReadAtOnceWhereverTheyAppear) {
  if (!Supported()) GTEST_SKIP();
  directory_.Write("t/p=1/a", "1\n");
  const auto source = Watch({{"p", SqlType::Int()}});
  SourceDriver driver(*source, 2);
  ASSERT_TRUE(driver.Start().ok());
  RunUntil(driver, 1);
  directory_.Write("t/p=1/b", "2\n");
  RunUntil(driver, 2);
  directory_.Write("t/p=2/c", "3\n");          // A new partition.
  directory_.Write("t/p=2/deep/er/d", "4\n");  // Below it.
  directory_.Write("t/p=2/_hidden", "x\n");
  directory_.Write("t/README", "x\n");  // In no partition.
  directory_.Write("t/.e", "5\n");
  std::filesystem::create_directory(directory_.Path("t/p=3"));
  std::filesystem::rename(directory_.Path("t/.e"), directory_.Path("t/p=3/e"));
  RunUntil(driver, 5);
  RunFor(driver, 50);
  EXPECT_THAT(driver.rows(), UnorderedElementsAre("1|1", "2|1", "3|2", "4|2", "5|3"));
}

TEST_F(NotificationTest, AFileIsReadWhenItsWriterHasClosedIt) {
  if (!Supported()) GTEST_SKIP();
  // The listing at short intervals must leave it alone as well.
  const auto source =
      Watch({}, {{"source.monitor-interval", "20 ms"}, {"source.watch.listing-interval", "20 ms"}});
  SourceDriver driver(*source, 1);
  ASSERT_TRUE(driver.Start().ok());
  std::ofstream slow(directory_.Path("t/slow"));
  slow << "1\n" << std::flush;
  RunFor(driver, 150);
  EXPECT_THAT(driver.rows(), IsEmpty());
  slow << "2\n";
  slow.close();
  RunUntil(driver, 2);
  EXPECT_THAT(driver.rows(), ElementsAre("1", "2"));
}

TEST_F(NotificationTest, MinimumAgeIsKept) {
  if (!Supported()) GTEST_SKIP();
  const auto source = Watch({}, {{"source.file.min-age", "300 ms"}});
  SourceDriver driver(*source, 1);
  ASSERT_TRUE(driver.Start().ok());
  const auto begin = std::chrono::steady_clock::now();
  directory_.Write("t/a", "1\n");
  RunUntil(driver, 1);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(290));
  EXPECT_THAT(driver.rows(), ElementsAre("1"));
}

TEST_F(NotificationTest, ADirectoryThatIsReplacedIsWatchedAgain) {
  if (!Supported()) GTEST_SKIP();
  LogCapture log;
  const auto source = Watch({}, {{"source.monitor-interval", "20 ms"}});
  SourceDriver driver(*source, 1);
  ASSERT_TRUE(driver.Start().ok());
  directory_.Write("t/a", "1\n");
  RunUntil(driver, 1);
  std::filesystem::rename(directory_.Path("t"), directory_.Path("old"));
  RunFor(driver, 60);
  directory_.Write("t/b", "2\n");
  RunUntil(driver, 2);
  directory_.Write("t/c", "3\n");
  RunUntil(driver, 3);
  EXPECT_THAT(driver.rows(), ElementsAre("1", "2", "3"));
  EXPECT_FALSE(log.lines().empty());
}

TEST_F(NotificationTest, WhatAppearedWhileTheJobWasDownIsReadOnce) {
  if (!Supported()) GTEST_SKIP();
  const auto source = Watch();
  std::optional<SourceDriver::State> state;
  {
    SourceDriver first(*source, 2);
    ASSERT_TRUE(first.Start().ok());
    directory_.Write("t/a", "1\n");
    RunUntil(first, 1);
    state = first.Checkpoint();
  }
  directory_.Write("t/b", "2\n");
  SourceDriver second(*source, 2);
  ASSERT_TRUE(second.Start(&*state).ok());
  directory_.Write("t/c", "3\n");
  RunUntil(second, 2);
  RunFor(second, 50);
  EXPECT_THAT(second.rows(), UnorderedElementsAre("2", "3"));
}

/// A disk whose system refuses to watch it, or whose watch fails when told to.
class RefusingFileSystem final : public fs::FileSystem {
 public:
  std::string_view scheme() const override { return "file"; }
  Result<fs::FileInfo> Stat(const std::string& path) override { return real().Stat(path); }
  Result<std::vector<fs::FileInfo>> List(const std::string& directory) override {
    return real().List(directory);
  }
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenRead(const std::string& path) override {
    return real().OpenRead(path);
  }
  Result<std::unique_ptr<fs::TreeWatch>> WatchTree(const std::string&,
                                                   std::function<void()>) override {
    ++asked;
    return Status::Unavailable("Raise fs.inotify.max_user_watches.");
  }
  Status WriteWhole(const std::string&, std::string_view) override { return {}; }
  Status CreateDirectories(const std::string&) override { return {}; }
  Status DeleteFile(const std::string&) override { return {}; }
  Status DeleteTree(const std::string&) override { return {}; }
  Status Rename(const std::string&, const std::string&) override { return {}; }
  Status ExchangeDirectories(const std::string&, const std::string&) override { return {}; }
  fs::Publisher& publisher() override { return real().publisher(); }
  static fs::FileSystem& real() { return *fs::FileSystems::Default().Locate("/")->file_system; }

  int asked = 0;
};

class RefusingFileSystems final : public fs::FileSystems {
 public:
  Result<Located> Locate(std::string_view uri) override {
    return Located{file_system, std::string(uri)};
  }
  std::shared_ptr<RefusingFileSystem> file_system = std::make_shared<RefusingFileSystem>();
};

TEST(RefusedWatchTest, IsToldOnceAndTheDirectoryIsListed) {
  const TemporaryDirectory directory;
  VirtualClock clock{4'000'000'000'000};
  directory.Write("t/a", "1\n");
  RefusingFileSystems machine;
  ConnectorContext context;
  context.file_systems = &machine;
  LogCapture log;
  const auto source =
      OpenTable(LinesTable(directory.Path("t"), {}, {{"source.monitor-interval", "1 s"}}), {},
                LinesFormat(), context);
  SourceDriver driver(*source, 1, &clock);
  ASSERT_TRUE(driver.Start().ok());
  ASSERT_TRUE(driver.Run().ok());
  for (int i = 2; i < 5; ++i) {
    directory.Write("t/f" + std::to_string(i), std::to_string(i) + "\n");
    clock.AdvanceMillis(1'001);
    ASSERT_TRUE(driver.Run().ok());
    ASSERT_TRUE(driver.Run().ok());
  }
  EXPECT_THAT(driver.rows(), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("max_user_watches")));
  EXPECT_EQ(machine.file_system->asked, 1);
  clock.AdvanceMillis(601'000);  // Now and then it is tried again, without a word.
  ASSERT_TRUE(driver.Run().ok());
  EXPECT_EQ(machine.file_system->asked, 2);
  EXPECT_EQ(log.lines().size(), 1u);
}

class DoneFilesTest : public ::testing::Test {
 protected:
  DoneFilesTest() { std::filesystem::create_directory(directory_.Path("t")); }

  std::unique_ptr<TableSource> Watch(OptionMap more) {
    more["source.monitor-interval"] = "1 s";
    more["source.watch.mode"] = "listing";
    if (more["source.file.when-done"] == "move") {
      more.emplace("source.file.move-to", directory_.Path("done"));
    }
    return OpenTable(LinesTable(directory_.Path("t"), {}, more));
  }
  void Look(SourceDriver& driver) {
    clock_.AdvanceMillis(1'001);
    ASSERT_TRUE(driver.Run().ok());
    ASSERT_TRUE(driver.Run().ok());
  }
  bool There(std::string_view name) const { return std::filesystem::exists(directory_.Path(name)); }

  TemporaryDirectory directory_;
  VirtualClock clock_{4'000'000'000'000};
};

TEST_F(DoneFilesTest, MovesWhenTheCheckpointIsComplete) {
  directory_.Write("t/a", "1\n");
  directory_.Write("t/sub/b", "2\n");
  const auto source = Watch({{"source.file.when-done", "move"}});
  SourceDriver driver(*source, 2, &clock_);
  ASSERT_TRUE(driver.Start().ok());
  ASSERT_TRUE(driver.Run().ok());
  EXPECT_EQ(driver.rows().size(), 2u);
  driver.Complete(0);  // An earlier one does not tell of them.
  EXPECT_TRUE(There("t/a"));
  driver.Checkpoint(1);
  EXPECT_TRUE(There("t/a"));
  driver.Complete(1);
  EXPECT_FALSE(There("t/a"));
  EXPECT_FALSE(There("t/sub/b"));
  EXPECT_TRUE(There("done/a"));
  EXPECT_TRUE(There("done/sub/b"));
  // Another file of the same name is not read, for the path is known, and stays.
  directory_.Write("t/a", "again\n");
  Look(driver);
  driver.Checkpoint(2);
  driver.Complete(2);
  EXPECT_TRUE(There("t/a"));
  EXPECT_EQ(driver.rows().size(), 2u);
}

TEST_F(DoneFilesTest, ANameThatIsTakenGetsANumber) {
  directory_.Write("t/a", "1\n");
  directory_.Write("done/a", "somebody else's\n");
  directory_.Write("done/a.1", "somebody else's\n");
  const auto source = Watch({{"source.file.when-done", "move"}});
  SourceDriver driver(*source, 1, &clock_);
  ASSERT_TRUE(driver.Start().ok());
  ASSERT_TRUE(driver.Run().ok());
  driver.Checkpoint(1);
  driver.Complete(1);
  EXPECT_FALSE(There("t/a"));
  EXPECT_TRUE(There("done/a.2"));
}

TEST_F(DoneFilesTest, AFileThatHasChangedSinceStays) {
  directory_.Write("t/a", "1\n");
  directory_.Write("t/b", "2\n");
  const auto source = Watch({{"source.file.when-done", "delete"}});
  SourceDriver driver(*source, 1, &clock_);
  ASSERT_TRUE(driver.Start().ok());
  ASSERT_TRUE(driver.Run().ok());
  driver.Checkpoint(1);
  LogCapture log;
  directory_.Write("t/a", "1\nappended\n");
  driver.Complete(1);
  EXPECT_TRUE(There("t/a"));
  EXPECT_FALSE(There("t/b"));
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("/t/a has changed since it was read")));
}

// Splits of one file end in different checkpoints: only the last one counts.
TEST_F(DoneFilesTest, AHalfReadFileStays) {
  directory_.Write("t/a", std::string(20 << 20, 'x') + "\n" + std::string(20 << 20, 'y') + "\n");
  const auto source = Watch({{"source.file.when-done", "delete"}});
  SourceDriver driver(*source, 1, &clock_);
  ASSERT_TRUE(driver.Start().ok());
  int checkpoint = 0;
  while (driver.rows().empty()) ASSERT_TRUE(driver.Run(1).ok());
  driver.Checkpoint(++checkpoint);
  driver.Complete(checkpoint);
  EXPECT_TRUE(There("t/a"));
  ASSERT_TRUE(driver.Run().ok());
  EXPECT_EQ(driver.rows().size(), 2u);
  driver.Checkpoint(++checkpoint);
  driver.Complete(checkpoint);
  EXPECT_FALSE(There("t/a"));
}

TEST_F(DoneFilesTest, ACheckpointThatWasNeverCompleteMovesNothing) {
  directory_.Write("t/a", "1\n");
  const auto source = Watch({{"source.file.when-done", "move"}});
  std::optional<SourceDriver::State> empty;
  {
    SourceDriver driver(*source, 1, &clock_);
    ASSERT_TRUE(driver.Start().ok());
    empty = driver.Checkpoint(1);
    ASSERT_TRUE(driver.Run().ok());
    driver.Checkpoint(2);  // Fails to be written.
    driver.Complete(1);
    EXPECT_TRUE(There("t/a"));
  }
  SourceDriver again(*source, 1, &clock_);
  ASSERT_TRUE(again.Start(&*empty).ok());
  again.Complete(1);
  ASSERT_TRUE(again.Run().ok());
  EXPECT_THAT(again.rows(), ElementsAre("1"));
  again.Checkpoint(3);
  again.Complete(3);
  EXPECT_TRUE(There("done/a"));
}

TEST_F(DoneFilesTest, OptionsThatContradictAreRefused) {
  const auto refused = [&](OptionMap more) {
    more.emplace("source.monitor-interval", "1 s");
    return ReadSourceOptions(LinesTable(directory_.Path("t"), {}, more)).status().message();
  };
  EXPECT_THAT(refused({{"source.file.when-done", "move"}}), HasSubstr("source.file.move-to"));
  EXPECT_THAT(refused({{"source.file.move-to", "/x"}}), HasSubstr("source.file.when-done"));
  EXPECT_THAT(refused({{"source.file.when-done", "move"},
                       {"source.file.move-to", directory_.Path("t/done")}}),
              HasSubstr("_done"));
  EXPECT_THAT(refused({{"source.file.when-done", "move"},
                       {"source.file.move-to", directory_.Path("t/_done")}}),
              IsEmpty());
  EXPECT_THAT(refused({{"source.file.when-done", "move"},
                       {"source.file.move-to", directory_.Path("t-done")}}),
              IsEmpty());
  const auto bounded = ReadSourceOptions(
      LinesTable(directory_.Path("t"), {}, {{"source.file.when-done", "delete"}}));
  EXPECT_THAT(bounded.status().message(), HasSubstr("source.monitor-interval"));
}

// Power goes at every operation while files are moved; the state of the checkpoint brings it to an
// end, and no file is lost, doubled or read again.
TEST(DoneFilesCrashTest, APowerCutAtEveryOperationLosesNothing) {
  for (const std::string action : {"move", "delete"}) {
    for (int64_t cut = 0; cut < 40; ++cut) {
      fs::FaultyFileSystems machine(static_cast<uint64_t>(cut) + 1);
      ConnectorContext context;
      context.file_systems = &machine;
      std::map<std::string, std::string> expected;
      for (const char* name : {"a", "b", "sub/c"}) {
        const std::string path = std::string("/t/") + name;
        ASSERT_TRUE(machine.current().CreateDirectories(fs::ParentPath(path)).ok());
        ASSERT_TRUE(machine.current().WriteWhole(path, std::string(name) + "\n").ok());
        expected.emplace(std::string("/done/") + name, std::string(name) + "\n");
      }
      OptionMap options = {{"source.monitor-interval", "1 s"}, {"source.file.when-done", action}};
      if (action == "move") options.emplace("source.file.move-to", "/done");
      const auto open = [&] {
        return OpenTable(LinesTable("/t", {}, options), {}, LinesFormat(), context);
      };
      SourceDriver::State state;
      {
        const auto source = open();
        SourceDriver driver(*source, 2);
        ASSERT_TRUE(driver.Start().ok());
        ASSERT_TRUE(driver.Run().ok());
        ASSERT_EQ(driver.rows().size(), 3u);
        state = driver.Checkpoint(1);
        machine.disk().CutPowerAfter(cut);
        driver.Complete(1);
      }
      machine.Crash();
      for (const auto& [path, bytes] : expected) {
        const auto files = machine.disk().AllFiles("/");
        const std::string name = path.substr(6);
        if (action == "move") {
          EXPECT_TRUE(files.contains(path) || files.contains("/t/" + name)) << name;
        }
      }
      const auto source = open();
      SourceDriver driver(*source, 1);
      ASSERT_TRUE(driver.Start(&state).ok());
      driver.Complete(1);
      ASSERT_TRUE(driver.Run().ok());
      EXPECT_THAT(driver.rows(), IsEmpty());
      EXPECT_THAT(machine.disk().AllFiles("/t"), IsEmpty());
      if (action == "move") {
        EXPECT_EQ(machine.disk().AllFiles("/done"), expected) << "cut at " << cut;
      }
    }
  }
}

TEST(ForgetTest, AFileThatComesBackMuchLaterIsNew) {
  const TemporaryDirectory directory;
  VirtualClock clock{4'000'000'000'000};
  directory.Write("t/a", "1\n");
  directory.Write("t/keep", "k\n");
  const auto source = OpenTable(LinesTable(directory.Path("t"), {},
                                           {{"source.monitor-interval", "1 s"},
                                            {"source.watch.mode", "listing"},
                                            {"source.processed-paths.forget-after", "1 min"}}));
  SourceDriver driver(*source, 1, &clock);
  ASSERT_TRUE(driver.Start().ok());
  const auto look = [&](int64_t millis) {
    clock.AdvanceMillis(millis);
    ASSERT_TRUE(driver.Run().ok());
    ASSERT_TRUE(driver.Run().ok());
  };
  look(1'001);
  std::filesystem::remove(directory.Path("t/a"));
  look(61'000);
  look(30'000);
  directory.Write("t/a", "2\n");
  look(1'001);  // Not gone for long enough.
  EXPECT_EQ(driver.rows().size(), 2u);
  std::filesystem::remove(directory.Path("t/a"));
  look(61'000);
  look(61'000);
  directory.Write("t/a", "3\n");
  look(1'001);
  EXPECT_THAT(driver.rows(), UnorderedElementsAre("1", "k", "3"));
}

TEST(IdentityTest, AChangedFileIsReadAgainAsAWhole) {
  const TemporaryDirectory directory;
  VirtualClock clock{4'000'000'000'000};
  directory.Write("t/a", "1\n");
  const auto source = OpenTable(LinesTable(directory.Path("t"), {},
                                           {{"source.monitor-interval", "1 s"},
                                            {"source.watch.mode", "listing"},
                                            {"source.file.identity", "path-size-time"}}));
  SourceDriver driver(*source, 1, &clock);
  ASSERT_TRUE(driver.Start().ok());
  ASSERT_TRUE(driver.Run().ok());
  directory.Write("t/a", "1\n2\n");
  clock.AdvanceMillis(1'001);
  ASSERT_TRUE(driver.Run().ok());
  ASSERT_TRUE(driver.Run().ok());
  EXPECT_THAT(driver.rows(), ElementsAre("1", "1", "2"));
}

TEST(EmptyFileTest, IsNotThereUntilItHoldsSomething) {
  const TemporaryDirectory directory;
  VirtualClock clock{4'000'000'000'000};
  directory.Write("t/a", "");
  const auto source =
      OpenTable(LinesTable(directory.Path("t"), {},
                           {{"source.monitor-interval", "1 s"}, {"source.watch.mode", "listing"}}));
  SourceDriver driver(*source, 1, &clock);
  ASSERT_TRUE(driver.Start().ok());
  ASSERT_TRUE(driver.Run().ok());
  directory.Write("t/a", "1\n");
  clock.AdvanceMillis(1'001);
  ASSERT_TRUE(driver.Run().ok());
  ASSERT_TRUE(driver.Run().ok());
  EXPECT_THAT(driver.rows(), ElementsAre("1"));
}

}  // namespace
}  // namespace sluice::connectors::filesystem
