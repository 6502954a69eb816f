#include "connectors/filesystem/source/processed_paths.h"

#include <chrono>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/random.h"

namespace sluice::connectors::filesystem {
namespace {

using Seen = ProcessedPaths::Seen;
using ::testing::HasSubstr;

fs::FileInfo File(const std::string& path, int64_t size_bytes = 10, int64_t modified_ms = 1) {
  return {path, false, size_bytes, modified_ms};
}

std::vector<fs::FileInfo> ManyFiles(int count) {
  std::vector<fs::FileInfo> files;
  for (int i = 0; i < count; ++i) {
    files.push_back(File("/data/lake/in/dt=2026-01-" + std::to_string(i % 28) + "/part-" +
                             std::to_string(i * 7919LL % count) + ".csv",
                         100 + i % 1000, 1'700'000'000'000 + i));
  }
  return files;
}

std::vector<const fs::FileInfo*> Pointers(const std::vector<fs::FileInfo>& files, size_t begin,
                                          size_t end) {
  std::vector<const fs::FileInfo*> pointers;
  for (size_t i = begin; i < end; ++i) pointers.push_back(&files[i]);
  return pointers;
}

runtime::StateFields SnapshotOf(const ProcessedPaths& paths) {
  runtime::StateWriter writer;
  paths.Snapshot(&writer);
  return std::move(writer).Take();
}

size_t BytesOf(const runtime::StateFields& fields) {
  size_t bytes = 0;
  for (const auto& [name, value] : fields) bytes += name.size() + value.size();
  return bytes;
}

Result<ProcessedPaths> Restored(const runtime::StateFields& fields,
                                FileIdentity identity = FileIdentity::kPath) {
  ProcessedPaths paths(identity);
  SLUICE_RETURN_NOT_OK(paths.Restore(runtime::StateReader("source", fields)));
  return paths;
}

// A million paths, found a few thousand at a time: at most 12 bytes each in memory and in a
// checkpoint, and a checkpoint that follows a few new files writes little of it.
TEST(ProcessedPathsTest, AMillionPathsInTwelveBytesEach) {
  constexpr size_t kCount = 1'000'000;
  const std::vector<fs::FileInfo> files = ManyFiles(kCount);
  ProcessedPaths paths;
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < kCount; i += 2500) {
    for (const Seen seen : paths.Look(Pointers(files, i, i + 2500))) ASSERT_EQ(seen, Seen::kNew);
  }
  const auto added = std::chrono::steady_clock::now();
  for (const Seen seen : paths.Look(Pointers(files, 0, kCount))) ASSERT_EQ(seen, Seen::kSame);
  const auto looked = std::chrono::steady_clock::now();
  EXPECT_EQ(paths.size(), kCount);
  const runtime::StateFields state = SnapshotOf(paths);
  const double in_state = static_cast<double>(BytesOf(state)) / kCount;
  const double in_memory = static_cast<double>(paths.byte_size()) / kCount;
  const auto millis = [](auto time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  };
  std::printf(
      "a million paths: %.2f bytes each in a checkpoint, %.2f in memory; added in %lld ms, "
      "all looked up in %lld ms\n",
      in_state, in_memory, static_cast<long long>(millis(added - begin)),
      static_cast<long long>(millis(looked - added)));
  EXPECT_LE(in_state, 12.0);
  EXPECT_LE(in_memory, 12.0);

  EXPECT_EQ(paths.Look(File("/data/lake/in/one more")), Seen::kNew);
  size_t rewritten = 0;
  for (const auto& [name, value] : SnapshotOf(paths)) {
    if (state.find(name) == state.end() || state.at(name) != value) rewritten += value.size();
  }
  EXPECT_LE(rewritten, 64u << 10);

  const auto restored = Restored(SnapshotOf(paths));
  ASSERT_TRUE(restored.ok()) << restored.status().ToString();
  ProcessedPaths again = *restored;
  for (const Seen seen : again.Look(Pointers(files, 0, kCount))) ASSERT_EQ(seen, Seen::kSame);
}

// Any sizes of batches, changes and restarts against a plain map.
TEST(ProcessedPathsTest, AnswersAsAPlainMapDoes) {
  Random random(7);
  ProcessedPaths paths;
  std::map<std::string, int64_t> known;
  for (int round = 0; round < 400; ++round) {
    std::vector<fs::FileInfo> files;
    const size_t count = random.OneIn(10) ? random.Below(6000) : random.Below(20);
    for (size_t i = 0; i < count; ++i) {
      files.push_back(
          File("/t/f" + std::to_string(random.Below(60'000)), 1, random.OneIn(20) ? round + 2 : 1));
    }
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    files.erase(std::unique(files.begin(), files.end(),
                            [](const auto& a, const auto& b) { return a.path == b.path; }),
                files.end());
    const auto answers = paths.Look(Pointers(files, 0, files.size()));
    for (size_t i = 0; i < files.size(); ++i) {
      const auto it = known.find(files[i].path);
      const Seen expected = it == known.end()                    ? Seen::kNew
                            : it->second == files[i].modified_ms ? Seen::kSame
                                                                 : Seen::kChanged;
      ASSERT_EQ(answers[i], expected) << files[i].path << " in round " << round;
      known[files[i].path] = files[i].modified_ms;
    }
    if (random.OneIn(20)) paths = *Restored(SnapshotOf(paths));
  }
}

TEST(ProcessedPathsTest, TheSamePathTwiceInOneLook) {
  ProcessedPaths paths;
  const std::vector<fs::FileInfo> files = {File("/t/a"), File("/t/b"), File("/t/a")};
  EXPECT_THAT(paths.Look(Pointers(files, 0, 3)),
              ::testing::ElementsAre(Seen::kNew, Seen::kNew, Seen::kSame));
}

TEST(ProcessedPathsTest, ChangesAreToldOnce) {
  ProcessedPaths paths;
  EXPECT_EQ(paths.Look(File("/t/a", 1, 1)), Seen::kNew);
  EXPECT_EQ(paths.Look(File("/t/a", 2, 1)), Seen::kChanged);
  EXPECT_EQ(paths.Look(File("/t/a", 2, 1)), Seen::kSame);
}

TEST(ProcessedPathsTest, ByPathSizeAndTimeAChangedFileIsNew) {
  ProcessedPaths paths(FileIdentity::kPathSizeAndTime);
  EXPECT_EQ(paths.Look(File("/t/a", 1, 1)), Seen::kNew);
  EXPECT_EQ(paths.Look(File("/t/a", 2, 1)), Seen::kNew);
  EXPECT_EQ(paths.Look(File("/t/a", 2, 1)), Seen::kSame);
  const Status other = Restored(SnapshotOf(paths)).status();
  EXPECT_THAT(other.message(), HasSubstr("source.file.identity"));
  EXPECT_TRUE(Restored(SnapshotOf(paths), FileIdentity::kPathSizeAndTime).ok());
}

// Gone at one look and still gone at the next: forgotten. Seen in between: kept.
TEST(ProcessedPathsTest, ForgetsWhatIsGoneForLong) {
  ProcessedPaths paths;
  const std::vector<fs::FileInfo> files = ManyFiles(20'000);
  paths.Look(Pointers(files, 0, 20'000));
  const auto first_half = Pointers(files, 0, 10'000);
  EXPECT_EQ(paths.ForgetAbsent(first_half), 0u);
  EXPECT_EQ(paths.Look(files[15'000]), Seen::kSame);  // It has come back.
  paths = *Restored(SnapshotOf(paths));
  EXPECT_EQ(paths.ForgetAbsent(first_half), 9'999u);
  EXPECT_EQ(paths.size(), 10'001u);
  EXPECT_EQ(paths.Look(files[15'000]), Seen::kSame);
  EXPECT_EQ(paths.Look(files[5]), Seen::kSame);
  EXPECT_EQ(paths.Look(files[15'001]), Seen::kNew);
}

// What releases before 2026-12 have written: 16 bytes a path.
TEST(ProcessedPathsTest, ReadsTheStateOfTheFirstVersion) {
  const unsigned char kBytes[] = {0x53, 0x50, 0x50, 0x31, 0xe5, 0x2a, 0x20, 0x3f, 0xd0,
                                  0xf2, 0x6c, 0x52, 0x35, 0x47, 0x66, 0x7d, 0x78, 0x9a,
                                  0x29, 0x7a, 0xcf, 0xa4, 0xb7, 0x7a, 0x11, 0xc8, 0xb8,
                                  0xc2, 0x4f, 0x4a, 0x02, 0x86, 0x39, 0x7f, 0x89, 0xec};
  const runtime::StateFields fields = {
      {"processed", std::string(reinterpret_cast<const char*>(kBytes), sizeof kBytes)}};
  auto paths = Restored(fields);
  ASSERT_TRUE(paths.ok()) << paths.status().ToString();
  EXPECT_EQ(paths->Look({"/t/a.csv", false, 3, 1'700'000'000'000}), Seen::kSame);
  EXPECT_EQ(paths->Look({"/t/dt=2024-01-01/part-b", false, 77, 1'700'000'000'001}), Seen::kSame);
  EXPECT_EQ(paths->Look({"/t/a.csv", false, 4, 1'700'000'000'000}), Seen::kChanged);
  EXPECT_EQ(paths->Look({"/t/c", false, 1, 1}), Seen::kNew);
}

// A release that knows the first version only must not take the new state for an empty set.
TEST(ProcessedPathsTest, OlderReleasesRefuseTheNewState) {
  const std::string bytes = SnapshotOf(ProcessedPaths()).at("processed");
  EXPECT_FALSE(bytes.starts_with("SPP1"));
  EXPECT_FALSE(bytes.empty());
}

TEST(ProcessedPathsTest, RefusesDamagedState) {
  ProcessedPaths paths;
  const std::vector<fs::FileInfo> files = ManyFiles(9'000);
  paths.Look(Pointers(files, 0, 9'000));
  paths.Look(File("/t/a"));
  const runtime::StateFields good = SnapshotOf(paths);
  ASSERT_TRUE(Restored(good).ok());
  for (const auto& [name, value] : good) {
    for (const size_t cut : {size_t{1}, size_t{9}, value.size() / 2, value.size() - 3}) {
      runtime::StateFields bad = good;
      bad[name] = value.substr(0, value.size() - cut);
      EXPECT_EQ(Restored(bad).status().code(), StatusCode::kCorrupt) << name << " cut by " << cut;
    }
    runtime::StateFields bad = good;
    bad.erase(name);
    if (name != "processed") {
      EXPECT_EQ(Restored(bad).status().code(), StatusCode::kCorrupt);
    }
  }
  // Any byte of a run: an answer, or a refusal, never a crash.
  const std::string name = "blob:processed-0";
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    runtime::StateFields bad = good;
    bad[name][random.Below(bad[name].size())] ^= static_cast<char>(1 << random.Below(8));
    (void)Restored(bad).ok();
  }
}

}  // namespace
}  // namespace sluice::connectors::filesystem
