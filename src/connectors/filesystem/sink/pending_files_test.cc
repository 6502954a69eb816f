#include "connectors/filesystem/sink/pending_files.h"

#include <gtest/gtest.h>

namespace sluice::connectors::filesystem {
namespace {

FileCommittable Sample(int64_t number) {
  return {.handle = "handle " + std::to_string(number),
          .partition = {"/t/k=" + std::to_string(number), {std::to_string(number), std::nullopt}},
          .row_count = number,
          .size_bytes = 10 * number};
}

void Add(runtime::CheckpointId checkpoint, int64_t number, PendingFiles* files) {
  ByteWriter out;
  PutCommittable(Sample(number), &out);
  const auto bytes = std::make_shared<const std::string>(std::move(out).Take());
  files->Add(checkpoint, *bytes, bytes);
}

Status RestoreFrom(PendingFiles* saved, PendingFiles* restored) {
  runtime::StateWriter state;
  saved->Save(&state);
  const runtime::StateFields fields = std::move(state).Take();
  return restored->Restore(runtime::StateReader("sink:t", fields));
}

TEST(PendingFilesTest, GivesBackWhatWasReported) {
  PendingFiles files;
  for (int64_t number : {1, 2, 3, 4, 5}) Add(number / 2, number, &files);
  EXPECT_EQ(files.CountUpTo(1), 3u);
  EXPECT_EQ(files.first_unnamed(), 0u);
  const int64_t held_bytes = files.held_bytes();
  PendingFiles restored;
  ASSERT_TRUE(RestoreFrom(&files, &restored).ok());
  EXPECT_EQ(files.first_unnamed(), 5u);
  EXPECT_EQ(restored.first_unnamed(), 5u);
  EXPECT_EQ(restored.held_bytes(), held_bytes);
  Add(3, 6, &restored);
  restored.DropFirst(3);
  EXPECT_EQ(restored.size(), 3u);
  EXPECT_EQ(restored.first_unnamed(), 2u);
  EXPECT_LT(restored.held_bytes(), held_bytes);
  for (size_t i = 0; i < restored.size(); ++i) {
    const FileCommittable wanted = Sample(static_cast<int64_t>(i) + 4);
    const FileCommittable file = restored[i].Read();
    EXPECT_EQ(file.handle, wanted.handle);
    EXPECT_EQ(file.partition.values, wanted.partition.values);
    EXPECT_EQ(file.size_bytes, wanted.size_bytes);
    EXPECT_EQ(restored[i].handle(), wanted.handle);
    EXPECT_EQ(restored[i].directory(), wanted.partition.directory);
  }
  restored.DropFirst(3);
  EXPECT_EQ(restored.held_bytes(), 0);
}

// Many are a file of their own in the checkpoint; few are as versions before wrote them.
TEST(PendingFilesTest, ManyAreABlob) {
  PendingFiles files;
  Add(1, 1, &files);
  const auto names_of = [&files] {
    runtime::StateWriter state;
    files.Save(&state);
    std::vector<std::string> names;
    for (const auto& [name, value] : std::move(state).Take()) names.push_back(name);
    return names;
  };
  EXPECT_EQ(names_of(), std::vector<std::string>{"pending_files"});
  constexpr int64_t kMany = 20'000;
  for (int64_t number = 2; number <= kMany; ++number) Add(2, number, &files);
  EXPECT_EQ(names_of(), std::vector<std::string>{"blob:pending_files"});
  PendingFiles restored;
  ASSERT_TRUE(RestoreFrom(&files, &restored).ok());
  ASSERT_EQ(restored.size(), static_cast<size_t>(kMany));
  EXPECT_EQ(restored[kMany - 1].Read().row_count, kMany);
}

TEST(PendingFilesTest, ReadsWhatEarlierVersionsWroteAndRefusesDamage) {
  ByteWriter out;
  out.PutI64(7);
  PutCommittable(Sample(3), &out);
  const std::string one = std::move(out).Take();
  runtime::StateWriter state;
  state.PutStrings("pending_files", {one, one});
  const runtime::StateFields fields = std::move(state).Take();
  PendingFiles restored;
  ASSERT_TRUE(restored.Restore(runtime::StateReader("sink:t", fields)).ok());
  ASSERT_EQ(restored.size(), 2u);
  EXPECT_EQ(restored[1].checkpoint, 7);
  EXPECT_EQ(restored[1].Read().handle, Sample(3).handle);
  const std::string& bytes = fields.at("pending_files");
  for (size_t size = 0; size < bytes.size(); ++size) {
    const runtime::StateFields damaged = {{"pending_files", bytes.substr(0, size)}};
    PendingFiles files;
    EXPECT_EQ(files.Restore(runtime::StateReader("sink:t", damaged)).code(), StatusCode::kCorrupt)
        << size;
  }
}

}  // namespace
}  // namespace sluice::connectors::filesystem
