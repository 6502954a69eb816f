#include "fs/faulty/faulty_disk.h"

#include <gtest/gtest.h>

#include "fs/faulty/faulty_file_systems.h"

namespace sluice::fs {
namespace {

TEST(FaultyDiskTest, CrashMayTakeWhatWasNotSynced) {
  int lost_names = 0;
  int torn_content = 0;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    FaultyFileSystems machine(seed);
    {
      const auto disk = machine.disk().NewSession();
      const int file = disk->OpenNew("/f");
      ASSERT_GE(file, 0);
      EXPECT_EQ(disk->WriteAt(file, 0, "synced"), 6);
      EXPECT_EQ(disk->SyncData(file), 0);
      EXPECT_EQ(disk->WriteAt(file, 6, "rest"), 4);
    }
    machine.Crash();
    const auto files = machine.disk().AllFiles("/");
    if (files.empty()) {
      ++lost_names;
      continue;
    }
    EXPECT_EQ(files.at("/f").substr(0, 6), "synced");
    if (files.at("/f") != "syncedrest") ++torn_content;
  }
  EXPECT_GT(lost_names, 8);
  EXPECT_GT(torn_content, 8);
}

TEST(FaultyDiskTest, KillKeepsWhatTheSystemHolds) {
  FaultyFileSystems machine(7);
  auto writer = machine.current().publisher().Open("/t/part", "a");
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Append(std::string(300 << 10, 'x')).ok());
  machine.Kill();
  EXPECT_FALSE((*writer)->Persist().ok());
  EXPECT_EQ(machine.disk().AllFiles("/t").at("/t/.part.inprogress.a").size(), 300u << 10);
}

// Writes files with publish handles as a checkpoint would, cuts the power at a random operation,
// and checks that what a handle stood for can be published whole afterwards, and that no reader
// ever sees a half file.
class CrashRun {
 public:
  explicit CrashRun(uint64_t seed) : random_(seed * 7919 + 1), machine_(seed) {
    machine_.disk().SetFaultRates({.write = 0.01, .sync = 0.01, .rename = 0.02, .read = 0.01});
  }

  void Run() {
    for (int life = 0; life < 4; ++life) {
      machine_.disk().CutPowerAfter(static_cast<int64_t>(random_.Below(60)));
      Live();
      random_.OneIn(3) ? machine_.Kill() : machine_.Crash();
      CheckReaderView();
    }
    machine_.disk().SetFaultRates({});
    PublishAll();
    CheckReaderView();
    const auto visible = machine_.disk().VisibleFiles("/t");
    for (const auto& [path, content] : recorded_) EXPECT_EQ(visible.count(path), 1u) << path;
  }

 private:
  void Live() {
    PublishAll();
    for (int i = 0; i < 3; ++i) {
      const std::string path =
          "/t/p=" + std::to_string(random_.Below(3)) + "/part-" + std::to_string(counter_++);
      const std::string content = path + std::string(random_.Below(5000), 'z') + "end";
      auto writer = machine_.current().publisher().Open(path, "a");
      if (!writer.ok() || !(*writer)->Append(content).ok()) continue;
      if (random_.OneIn(2)) {
        const auto handle = (*writer)->Persist();
        if (!handle.ok()) continue;
        pending_.push_back(*handle);
        recorded_[path] = content;
        (void)(*writer)->Append("after the checkpoint");
      } else {
        const auto handle = (*writer)->Close();
        if (!handle.ok()) continue;
        pending_.push_back(*handle);
        recorded_[path] = content;
      }
    }
    PublishAll();
  }

  void PublishAll() {
    for (const Status& status : machine_.current().publisher().Publish(pending_)) {
      EXPECT_NE(status.code(), StatusCode::kCorrupt) << status.ToString();
      EXPECT_NE(status.code(), StatusCode::kAlreadyExists) << status.ToString();
    }
  }

  void CheckReaderView() {
    for (const auto& [path, content] : machine_.disk().VisibleFiles("/t")) {
      ASSERT_TRUE(recorded_.contains(path)) << path;
      EXPECT_EQ(content, recorded_.at(path)) << path;
    }
  }

  Random random_;
  FaultyFileSystems machine_;
  int counter_ = 0;
  std::vector<std::string> pending_;
  std::map<std::string, std::string> recorded_;
};

TEST(FaultyDiskTest, PublishedFilesSurviveEveryCrash) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    CrashRun(seed).Run();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(FaultyDiskTest, WhatIsSyncedTogetherSurvivesEveryCrash) {
  for (uint64_t seed = 0; seed < 64; ++seed) {
    FaultyFileSystems machine(seed);
    {
      const auto disk = machine.disk().NewSession();
      ASSERT_EQ(disk->MakeDirectory("/d"), 0);
      const int a = disk->OpenNew("/d/a");
      const int b = disk->OpenNew("/d/b");
      EXPECT_EQ(disk->WriteAt(a, 0, "one"), 3);
      EXPECT_EQ(disk->WriteAt(b, 0, "two"), 3);
      size_t failed = 0;
      EXPECT_EQ(disk->SyncTogether({a, b}, {"/", "/d"}, &failed), 0);
    }
    machine.Crash();
    const auto files = machine.disk().AllFiles("/d");
    ASSERT_EQ(files.size(), 2U) << seed;
    EXPECT_EQ(files.at("/d/a"), "one");
    EXPECT_EQ(files.at("/d/b"), "two");
  }
}

TEST(FaultyDiskTest, WritersSayEarlyWhatIsToReachTheDisk) {
  FaultyFileSystems machine(1);
  ASSERT_TRUE(machine.current().CreateDirectories("/d").ok());
  auto writer = machine.current().publisher().Open("/d/a", "a1");
  ASSERT_TRUE(writer.ok());
  // In pieces of 100,000 bytes, which end nowhere near a page.
  for (int i = 0; i < 20; ++i) ASSERT_TRUE((*writer)->Append(std::string(100'000, 'x')).ok());
  auto small = machine.current().publisher().Open("/d/b", "a1");
  ASSERT_TRUE(small.ok() && (*small)->Append("x").ok() && (*small)->Close().ok());
  ASSERT_TRUE((*writer)->Close().ok());

  int64_t end = 0;
  for (const auto& range : machine.disk().write_backs()) {
    EXPECT_TRUE(range.was_written);
    EXPECT_EQ(range.offset, end);  // Each page once.
    EXPECT_EQ(range.length_bytes % 4096, 0);
    end += range.length_bytes;
  }
  EXPECT_GT(end, 2'000'000 - (128 << 10) - 4096);  // All but what is not worth a call.
  EXPECT_LE(end, 2'000'000);
}

TEST(FaultyDiskTest, WholeFilesAreOldOrNew) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    FaultyFileSystems machine(seed);
    ASSERT_TRUE(machine.current().CreateDirectories("/d").ok());
    ASSERT_TRUE(machine.current().WriteWhole("/d/_SUCCESS", "old").ok());
    machine.disk().CutPowerAfter(static_cast<int64_t>(seed % 12));
    const bool done = machine.current().WriteWhole("/d/_SUCCESS", "newer").ok();
    machine.Crash();
    const std::string content = machine.disk().AllFiles("/d").at("/d/_SUCCESS");
    EXPECT_TRUE(content == "newer" || (!done && content == "old")) << seed << ": " << content;
  }
}

}  // namespace
}  // namespace sluice::fs
