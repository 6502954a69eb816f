#include "runtime/checkpoint/checkpoint_store.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "fs/faulty/faulty_disk.h"
#include "runtime/checkpoint/checkpoint_file.h"
#include "runtime/checkpoint/crc32c.h"
#include "runtime/checkpoint/record_file.h"

namespace sluice::runtime {
namespace {

std::shared_ptr<CheckpointData> Sample(CheckpointId id) {
  auto data = std::make_shared<CheckpointData>();
  data->id = id;
  data->job_id = "0123456789abcdef0123456789abcdef";
  data->job_name = "orders";
  data->created_ms = 1'700'000'000'000 + id;
  data->stopping = true;
  data->operators["source:t"][kCoordinatorSubtask] = {{"paths", std::string("a\0b", 3)}};
  data->operators["source:t"][0] = {{"offset", "12345678"}};
  data->operators["sink:t"][0] = {{"pending", std::string(1000, 'x')}, {"empty", ""}};
  data->operators["sink:t"][1] = {};
  return data;
}

void ExpectEqual(const CheckpointData& a, const CheckpointData& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.job_id, b.job_id);
  EXPECT_EQ(a.job_name, b.job_name);
  EXPECT_EQ(a.created_ms, b.created_ms);
  EXPECT_EQ(a.stopping, b.stopping);
  EXPECT_EQ(a.final, b.final);
  EXPECT_EQ(a.operators, b.operators);
}

TEST(Crc32cTest, KnownValues) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720 B.4.
  EXPECT_EQ(Crc32c("6789", Crc32c("12345")), 0xe3069283u);
}

TEST(CheckpointFileTest, ReadsBackWhatWasWritten) {
  const CheckpointFiles files = *EncodeCheckpoint(*Sample(3));
  const auto data = DecodeCheckpoint(files.metadata, files.state, "/x");
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  ExpectEqual(*data, *Sample(3));
}

TEST(CheckpointFileTest, RefusesEveryCutAndEveryChangedByte) {
  const CheckpointFiles files = *EncodeCheckpoint(*Sample(3));
  for (size_t size = 0; size < files.metadata.size(); ++size) {
    EXPECT_FALSE(DecodeCheckpoint(files.metadata.substr(0, size), files.state, "/x").ok());
  }
  for (size_t i = 0; i < files.state.size(); ++i) {
    std::string changed = files.state;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    EXPECT_FALSE(DecodeCheckpoint(files.metadata, changed, "/x").ok());
    EXPECT_FALSE(DecodeRecordFile(changed, "/x/state").ok()) << i;
  }
}

TEST(CheckpointFileTest, NamesAnUnknownVersion) {
  CheckpointFiles files = *EncodeCheckpoint(*Sample(3));
  files.metadata[8] = 9;
  const Status status = DecodeCheckpoint(files.metadata, files.state, "/x").status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("version 9"), std::string::npos);
}

// Written by version 1 and never again: an old state file stays readable.
TEST(CheckpointFileTest, ReadsTheGoldenFileOfVersionOne) {
  const std::string folder = "tests/data/state/v1/chk-42";
  if (std::getenv("SLUICE_WRITE_GOLDEN_STATE") != nullptr) {
    std::filesystem::create_directories(folder);
    const CheckpointFiles files = *EncodeCheckpoint(*Sample(42));
    std::ofstream(folder + "/state", std::ios::binary) << files.state;
    std::ofstream(folder + "/_metadata", std::ios::binary) << files.metadata;
  }
  const auto data = ReadCheckpointFolder(folder, &fs::RealDisk());
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  ExpectEqual(*data, *Sample(42));
}

TEST(CheckpointStoreTest, GivesTheNewestCompleteOneAndRemovesTheRest) {
  fs::FaultyDisk disk(1);
  auto session = disk.NewSession();
  const auto store = MakeDiskCheckpointStore("/state/jobs/a", session.get());
  EXPECT_EQ(store->LoadNewest()->data, nullptr);
  for (CheckpointId id : {1, 2, 10}) ASSERT_TRUE(store->Write(Sample(id)).ok());
  ASSERT_EQ(session->MakeDirectory("/state/jobs/a/chk-11"), 0);
  ASSERT_GE(session->OpenNew("/state/jobs/a/chk-11/state"), 0);
  const auto loaded = store->LoadNewest();
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(loaded->data->id, 10);
  EXPECT_EQ(loaded->path, "/state/jobs/a/chk-10");
  EXPECT_EQ(loaded->highest_id, 11);
  EXPECT_FALSE(disk.AllFiles("/").contains("/state/jobs/a/chk-11/state"));
}

TEST(CheckpointStoreTest, RetainsAsManyAsAsked) {
  fs::FaultyDisk disk(1);
  auto session = disk.NewSession();
  const auto store = MakeDiskCheckpointStore("/s", session.get());
  for (CheckpointId id = 1; id <= 5; ++id) ASSERT_TRUE(store->Write(Sample(id)).ok());
  ASSERT_TRUE(store->Retain(2).ok());
  EXPECT_EQ(disk.AllFiles("/s").size(), 4u);
  EXPECT_TRUE(disk.AllFiles("/s").contains("/s/chk-4/_metadata"));
  ASSERT_TRUE(store->Retain(0).ok());
  EXPECT_EQ(disk.AllFiles("/s").size(), 2u);
  ASSERT_TRUE(store->RemoveAll().ok());
  EXPECT_TRUE(disk.AllFiles("/s").empty());
}

// A rename may have taken effect although it was reported as failed. Whoever goes by the name then
// must make it durable first, or a power loss takes the name of files that are there.
TEST(CheckpointStoreTest, AJobIdThatWasGivenOutOutlivesAPowerLoss) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    fs::FaultyDisk disk(seed);
    auto session = disk.NewSession();
    disk.SetFaultRates({.rename = 1});
    EXPECT_FALSE(MakeDiskCheckpointStore("/s/j", session.get())->ClaimJobId("first").ok());
    disk.SetFaultRates({});
    const auto claimed = MakeDiskCheckpointStore("/s/j", session.get())->ClaimJobId("second");
    ASSERT_TRUE(claimed.ok()) << claimed.status().ToString();
    disk.Crash();
    session = disk.NewSession();
    const auto after = MakeDiskCheckpointStore("/s/j", session.get())->ClaimJobId("third");
    ASSERT_TRUE(after.ok()) << after.status().ToString();
    EXPECT_EQ(after->id, claimed->id) << "seed " << seed;
    EXPECT_TRUE(after->known);
  }
}

TEST(CheckpointStoreTest, ADamagedNewestOneIsAnErrorAndNotPassedOver) {
  fs::FaultyDisk disk(1);
  auto session = disk.NewSession();
  const auto store = MakeDiskCheckpointStore("/s", session.get());
  for (CheckpointId id : {1, 2}) ASSERT_TRUE(store->Write(Sample(id)).ok());
  const int descriptor = session->OpenExisting("/s/chk-2/state");
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(session->WriteAt(descriptor, 30, "!"), 1);
  const auto loaded = store->LoadNewest();
  EXPECT_EQ(loaded.status().code(), StatusCode::kCorrupt);
  EXPECT_NE(loaded.status().message().find("/s/chk-2"), std::string::npos);
}

// Power goes at every operation of a write: afterwards the old or the new checkpoint is there,
// whole; and the new one for good once it was reported or loaded.
TEST(CheckpointStoreTest, SurvivesAPowerCutAtEveryOperation) {
  for (int64_t cut = 0; cut < 40; ++cut) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      fs::FaultyDisk disk(seed);
      auto session = disk.NewSession();
      ASSERT_TRUE(MakeDiskCheckpointStore("/s/j", session.get())->Write(Sample(1)).ok());
      disk.CutPowerAfter(cut);
      const bool reported = MakeDiskCheckpointStore("/s/j", session.get())->Write(Sample(2)).ok();
      disk.Crash();
      session = disk.NewSession();
      const auto loaded = MakeDiskCheckpointStore("/s/j", session.get())->LoadNewest();
      ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
      ASSERT_NE(loaded->data, nullptr);
      const CheckpointId id = loaded->data->id;
      EXPECT_TRUE(id == 1 || id == 2);
      if (reported) {
        EXPECT_EQ(id, 2);
      }
      ExpectEqual(*loaded->data, *Sample(id));
      disk.Crash();
      session = disk.NewSession();
      EXPECT_EQ(MakeDiskCheckpointStore("/s/j", session.get())->LoadNewest()->data->id, id);
    }
  }
}

std::shared_ptr<CheckpointData> WithBlobs(CheckpointId id, char newest) {
  auto data = Sample(id);
  StateWriter writer;
  writer.PutBlob("old", std::string(100'000, 'o'));
  writer.PutBlob("new", std::string(50'000, newest));
  writer.PutBlob("small", "inline");
  writer.PutI64("offset", 7);
  data->operators["source:t"][0] = std::move(writer).Take();
  return data;
}

// A blob that has not changed is shared with the checkpoint before, and each folder is whole.
TEST(CheckpointStoreTest, UnchangedBlobsAreNotWrittenAgain) {
  fs::FaultyDisk disk(1);
  auto session = disk.NewSession();
  int64_t blob_files_written = 0;
  disk.SetOperationHook([&](std::string_view operation, const std::string& path) {
    if (operation == "create" && path.find("/blob-") != std::string::npos) ++blob_files_written;
  });
  auto store = MakeDiskCheckpointStore("/s", session.get());
  ASSERT_TRUE(store->Write(WithBlobs(1, 'a')).ok());
  EXPECT_EQ(blob_files_written, 2);
  ASSERT_TRUE(store->Write(WithBlobs(2, 'b')).ok());
  EXPECT_EQ(blob_files_written, 3);
  ASSERT_TRUE(store->Retain(1).ok());
  EXPECT_EQ(disk.AllFiles("/s").size(), 4u);
  disk.Crash();
  store.reset();  // It must not outlive its session.
  session = disk.NewSession();
  store = MakeDiskCheckpointStore("/s", session.get());
  const auto loaded = store->LoadNewest();
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  ExpectEqual(*loaded->data, *WithBlobs(2, 'b'));
  ASSERT_TRUE(store->Write(WithBlobs(3, 'b')).ok());
  EXPECT_EQ(blob_files_written, 3);
  // A savepoint shares nothing.
  const auto savepoint = WriteSavepoint("/save", "savepoint-1", *WithBlobs(4, 'b'), session.get());
  ASSERT_TRUE(savepoint.ok());
  EXPECT_EQ(blob_files_written, 5);
  ExpectEqual(*ReadCheckpointFolder(*savepoint, session.get()), *WithBlobs(4, 'b'));
}

TEST(CheckpointStoreTest, BlobsSurviveAPowerCutAtEveryOperation) {
  for (int64_t cut = 0; cut < 40; ++cut) {
    fs::FaultyDisk disk(static_cast<uint64_t>(cut) + 1);
    auto session = disk.NewSession();
    auto store = MakeDiskCheckpointStore("/s/j", session.get());
    ASSERT_TRUE(store->Write(WithBlobs(1, 'a')).ok());
    disk.CutPowerAfter(cut);
    const bool reported = store->Write(WithBlobs(2, 'b')).ok() && store->Retain(1).ok();
    disk.Crash();
    store.reset();
    session = disk.NewSession();
    const auto loaded = MakeDiskCheckpointStore("/s/j", session.get())->LoadNewest();
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    ASSERT_NE(loaded->data, nullptr);
    const CheckpointId id = loaded->data->id;
    EXPECT_TRUE(id == 2 || (id == 1 && !reported));
    ExpectEqual(*loaded->data, *WithBlobs(id, id == 1 ? 'a' : 'b'));
  }
}

TEST(CheckpointStoreTest, WhatIsReportedAsWrittenIsThere) {
  int failures = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    fs::FaultyDisk disk(seed);
    const auto session = disk.NewSession();
    const auto store = MakeDiskCheckpointStore("/s/j", session.get());
    ASSERT_TRUE(store->Write(Sample(1)).ok());
    disk.SetFaultRates({.write = 0.1, .read = 0.5});
    const bool reported = store->Write(Sample(2)).ok();
    disk.SetFaultRates({});
    const auto loaded = store->LoadNewest();
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    ASSERT_NE(loaded->data, nullptr);
    if (reported) {
      EXPECT_EQ(loaded->data->id, 2) << "seed " << seed;
    }
    failures += reported ? 0 : 1;
  }
  EXPECT_GT(failures, 30);
}

TEST(CheckpointFileTest, RefusesAChangedOrMissingBlob) {
  const auto data = WithBlobs(3, 'a');
  const CheckpointFiles files = *EncodeCheckpoint(*data);
  ASSERT_EQ(files.blobs.size(), 2u);
  const auto read = [&](const BlobReader& blobs) {
    return DecodeCheckpoint(files.metadata, files.state, "/x", blobs).status().code();
  };
  std::map<std::string, std::string> bytes;
  for (const CheckpointBlob& blob : files.blobs) bytes[blob.file_name] = std::string(blob.bytes);
  const BlobReader reader = [&](const std::string& name) -> Result<std::string> {
    return bytes.at(name);
  };
  EXPECT_EQ(read(reader), StatusCode::kOk);
  bytes.begin()->second[17] ^= 1;
  EXPECT_EQ(read(reader), StatusCode::kCorrupt);
  EXPECT_NE(read({}), StatusCode::kOk);
  // A program that knows the first version only does not take it for a checkpoint without them.
  EXPECT_EQ(files.metadata[8], 2);
  EXPECT_EQ((*EncodeCheckpoint(*Sample(3))).metadata[8], 1);
}

// A process that stood still: whatever it was about to do, it commits nothing any more.
TEST(CheckpointStoreTest, AStoreThatWasSupersededCommitsNothing) {
  fs::FaultyDisk disk(1);
  auto session = disk.NewSession();
  const auto old = MakeDiskCheckpointStore("/s", session.get());
  ASSERT_TRUE(old->ClaimJobId("job").ok());
  ASSERT_TRUE(old->Write(Sample(1)).ok());
  const auto fresh = MakeDiskCheckpointStore("/s", session.get());
  const auto claimed = fresh->ClaimJobId("other");
  ASSERT_TRUE(claimed.ok()) << claimed.status().ToString();
  EXPECT_EQ(claimed->id, "job");
  ASSERT_TRUE(fresh->Write(Sample(2)).ok());
  for (const Status& refused : {old->Write(Sample(2)), old->Write(Sample(3)), old->Retain(1),
                                old->RemoveAll(), old->MarkPublished(1, "")}) {
    EXPECT_EQ(refused.code(), StatusCode::kAlreadyExists) << refused.ToString();
    EXPECT_NE(refused.message().find("superseded"), std::string::npos);
  }
  EXPECT_EQ(old->LoadNewest().status().code(), StatusCode::kAlreadyExists);
  const auto loaded = fresh->LoadNewest();
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->data->id, 2);
  EXPECT_FALSE(loaded->data->published);
  ASSERT_TRUE(fresh->MarkPublished(2, "").ok());
  EXPECT_TRUE(fresh->LoadNewest()->data->published);
}

/// Makes the next `count` removals of whole folders fail half-way.
void FailRemovals(fs::FaultyDisk* disk, int count) {
  const auto left = std::make_shared<int>(count);
  disk->SetOperationHook([disk, left](std::string_view operation, const std::string&) {
    const bool fails = operation == "remove tree" && (*left)-- > 0;
    disk->SetFaultRates({.rename = fails ? 1.0 : 0.0});
  });
}

/// Below /s, folders included.
std::vector<std::string> NamesLeft(fs::Disk* disk) {
  std::vector<fs::FileInfo> entries;
  EXPECT_EQ(disk->List("/s", &entries), 0);
  std::vector<std::string> names;
  for (const fs::FileInfo& entry : entries) names.emplace_back(entry.name());
  return names;
}

// What the disk did not remove when it was asked first goes with a later checkpoint, or with the
// end of the job.
TEST(CheckpointStoreTest, WhatCouldNotBeRemovedGoesLater) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    fs::FaultyDisk disk(seed);
    auto session = disk.NewSession();
    for (const bool with_a_checkpoint : {true, false}) {
      auto old = MakeDiskCheckpointStore("/s", session.get());
      ASSERT_TRUE(old->ClaimJobId("job").ok());
      for (CheckpointId id : {1, 2, 3}) ASSERT_TRUE(old->Write(Sample(id)).ok());
      FailRemovals(&disk, 2);
      auto store = MakeDiskCheckpointStore("/s", session.get());
      ASSERT_TRUE(store->ClaimJobId("job").ok()) << "the old folder cannot be removed";
      ASSERT_TRUE(store->Retain(2).ok()) << "nor can the oldest checkpoint";
      EXPECT_EQ(store->LoadNewest()->data->id, 3);
      if (with_a_checkpoint) {
        ASSERT_TRUE(store->Write(Sample(4)).ok());
        ASSERT_TRUE(store->Retain(1).ok());
        const auto names = NamesLeft(session.get());
        EXPECT_EQ(names.size(), 3u) << "seed " << seed;  // The newest, the claim, the job's file.
      }
      FailRemovals(&disk, 5);
      ASSERT_TRUE(store->RemoveAll().ok());
      EXPECT_EQ(NamesLeft(session.get()), std::vector<std::string>()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace sluice::runtime
