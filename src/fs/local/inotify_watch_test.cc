#include "fs/local/inotify_watch.h"

#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/faulty/faulty_file_systems.h"
#include "fs/local/local_file_system.h"

namespace sluice::fs {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class InotifyWatchTest : public ::testing::Test {
 protected:
  InotifyWatchTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "sluice-watch-XXXXXX";
    base_ = mkdtemp(pattern.data());
    root_ = base_ + "/in";
    std::filesystem::create_directory(root_);
  }
  ~InotifyWatchTest() override {
    watch_.reset();
    std::filesystem::remove_all(base_);
  }

  void Start() {
    auto watch = InotifyWatch::Start(root_, [this] {
      const std::lock_guard lock(mutex_);
      ++wakes_;
      woken_.notify_all();
    });
    if (watch.status().code() == StatusCode::kUnsupported)
      GTEST_SKIP() << watch.status().ToString();
    ASSERT_TRUE(watch.ok()) << watch.status().ToString();
    watch_ = std::move(*watch);
  }
  void Write(const std::string& path, const std::string& bytes = "x") {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << bytes;
  }
  /// Gathers news until `count` paths have been told, or for half a second when they do not come.
  std::set<std::string> News(size_t count) {
    std::set<std::string> names;
    const auto give_up =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(count == 0 ? 100 : 5'000);
    while (std::chrono::steady_clock::now() < give_up && (count == 0 || names.size() < count)) {
      TreeWatch::News news = watch_->Take();
      for (const std::string& path : news.paths) names.insert(path.substr(root_.size() + 1));
      trouble_ = news.trouble;
      if (!trouble_.ok()) break;
      std::unique_lock lock(mutex_);
      woken_.wait_for(lock, std::chrono::milliseconds(5));
    }
    return names;
  }

  std::string base_;
  std::string root_;
  std::unique_ptr<TreeWatch> watch_;
  std::mutex mutex_;
  std::condition_variable woken_;
  int wakes_ = 0;
  Status trouble_;
};

TEST_F(InotifyWatchTest, TellsFilesWhenTheyAreComplete) {
  Start();
  if (!watch_) return;
  std::ofstream slow(root_ + "/slow");
  slow << "half";
  slow.flush();
  Write(root_ + "/.hidden");
  Write(base_ + "/outside");
  std::filesystem::rename(base_ + "/outside", root_ + "/renamed");
  std::filesystem::create_hard_link(root_ + "/.hidden", root_ + "/linked");
  std::filesystem::create_symlink(root_ + "/.hidden", root_ + "/symbolic");
  Write(root_ + "/written");
  EXPECT_THAT(News(4), UnorderedElementsAre("renamed", "linked", "symbolic", "written"));
  EXPECT_TRUE(watch_->BeingWritten(root_ + "/slow"));
  EXPECT_FALSE(watch_->BeingWritten(root_ + "/written"));
  slow << " and the rest";
  slow.close();
  EXPECT_THAT(News(1), UnorderedElementsAre("slow"));
  EXPECT_FALSE(watch_->BeingWritten(root_ + "/slow"));
  std::filesystem::rename(root_ + "/.hidden", root_ + "/shown");
  EXPECT_THAT(News(1), UnorderedElementsAre("shown"));
  EXPECT_TRUE(trouble_.ok());
  EXPECT_GE(wakes_, 3);
}

TEST_F(InotifyWatchTest, FollowsFoldersThatComeAndGo) {
  Write(root_ + "/a/b/old");
  Start();
  if (!watch_) return;
  Write(root_ + "/a/b/new");
  Write(root_ + "/c/d/e/deep");
  EXPECT_THAT(News(2), UnorderedElementsAre("a/b/new", "c/d/e/deep"));
  // A folder that is moved in brings its files; one that is moved out is not heard any more.
  Write(base_ + "/staged/x/y");
  std::filesystem::rename(base_ + "/staged", root_ + "/moved");
  EXPECT_THAT(News(1), UnorderedElementsAre("moved/x/y"));
  Write(root_ + "/moved/x/z");
  EXPECT_THAT(News(1), UnorderedElementsAre("moved/x/z"));
  std::filesystem::rename(root_ + "/moved", base_ + "/gone");
  News(0);
  Write(base_ + "/gone/x/silent");
  EXPECT_THAT(News(0), IsEmpty());
  // A hidden folder is none of ours until it is renamed.
  Write(root_ + "/.staging/f");
  EXPECT_THAT(News(0), IsEmpty());
  std::filesystem::rename(root_ + "/.staging", root_ + "/staging");
  EXPECT_THAT(News(1), UnorderedElementsAre("staging/f"));
  std::filesystem::remove_all(root_ + "/staging");
  Write(root_ + "/staging/again");
  EXPECT_THAT(News(1), UnorderedElementsAre("staging/again"));
}

// A link to a folder above has the watch of that folder: its files would be told by a wrong path.
TEST_F(InotifyWatchTest, LinksThatGoRoundInACircleAreNotFollowed) {
  std::filesystem::create_directory_symlink(".", root_ + "/loop");
  Start();
  if (!watch_) return;
  Write(root_ + "/a");
  EXPECT_THAT(News(1), UnorderedElementsAre("a"));
  std::filesystem::create_directory_symlink("../in", root_ + "/later");
  Write(root_ + "/b");
  EXPECT_THAT(News(1), UnorderedElementsAre("b"));
  EXPECT_THAT(News(0), IsEmpty());
}

// Folders made one in the other faster than they can be watched: nothing is missed.
TEST_F(InotifyWatchTest, MissesNothingInFoldersMadeInAHurry) {
  Start();
  if (!watch_) return;
  std::set<std::string> expected;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "p" + std::to_string(i % 60) + "/q" + std::to_string(i) + "/f";
    Write(root_ + "/" + name);
    expected.insert(name);
  }
  EXPECT_EQ(News(expected.size()), expected);
}

TEST_F(InotifyWatchTest, TheRootThatGoesAwayIsTrouble) {
  Start();
  if (!watch_) return;
  std::filesystem::rename(root_, base_ + "/elsewhere");
  for (int i = 0; i < 100 && trouble_.ok(); ++i) News(0);
  EXPECT_EQ(trouble_.code(), StatusCode::kUnavailable);
}

// The kernel's queue has 16,384 places unless set otherwise, and the thread may keep up: either all
// is told, or trouble is.
TEST_F(InotifyWatchTest, AnOverrunIsTroubleAndNotSilence) {
  Start();
  if (!watch_) return;
  constexpr int kCount = 30'000;
  std::ofstream(root_ + "/f0") << "x";
  for (int i = 1; i < kCount; ++i) {
    ASSERT_EQ(link((root_ + "/f0").c_str(), (root_ + "/f" + std::to_string(i)).c_str()), 0);
  }
  const size_t told = News(kCount).size();
  EXPECT_TRUE(told == kCount || !trouble_.ok()) << told << " of " << kCount;
}

TEST_F(InotifyWatchTest, NeedsADirectoryOnADisk) {
  EXPECT_EQ(InotifyWatch::Start(base_ + "/nowhere", [] {}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(InotifyWatch::Start("/proc", [] {}).status().code(), StatusCode::kUnsupported);
  FaultyFileSystems machine(1);
  EXPECT_EQ(machine.current().WatchTree("/data", [] {}).status().code(), StatusCode::kUnsupported);
}

TEST(LocalRenameManyTest, AnswersForEachFile) {
  FaultyFileSystems machine(1);
  FileSystem& files = machine.current();
  ASSERT_TRUE(files.CreateDirectories("/in").ok());
  for (const char* name : {"/in/a", "/in/b", "/in/c"}) {
    ASSERT_TRUE(files.WriteWhole(name, name).ok());
  }
  ASSERT_TRUE(files.CreateDirectories("/out/x").ok());
  ASSERT_TRUE(files.WriteWhole("/out/x/b", "taken").ok());
  const std::vector<Status> answers = files.RenameMany({{"/in/a", "/out/x/a"},
                                                        {"/in/b", "/out/x/b"},
                                                        {"/in/none", "/out/none"},
                                                        {"/in/c", "/out/new/c"}});
  EXPECT_TRUE(answers[0].ok());
  EXPECT_EQ(answers[1].code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(answers[2].code(), StatusCode::kNotFound);
  EXPECT_TRUE(answers[3].ok());
  machine.Crash();  // What was answered is durable.
  const auto there = machine.disk().AllFiles("/");
  EXPECT_EQ(there.at("/out/x/a"), "/in/a");
  EXPECT_EQ(there.at("/out/x/b"), "taken");
  EXPECT_EQ(there.at("/in/b"), "/in/b");
  EXPECT_EQ(there.at("/out/new/c"), "/in/c");
  EXPECT_FALSE(there.contains("/in/a"));
}

}  // namespace
}  // namespace sluice::fs
