// The contract of FileSystem and Publisher, run over the real disk and over the faulty one with its
// faults off.
#include "fs/file_system.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/all_file_systems.h"
#include "fs/faulty/faulty_disk.h"
#include "fs/faulty/faulty_file_systems.h"
#include "fs/local/local_file_system.h"
#include "fs/publish_handle.h"

namespace sluice::fs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Machine {
 public:
  virtual ~Machine() = default;
  virtual FileSystem& file_system() = 0;
  virtual std::string root() const = 0;
};

class LocalMachine final : public Machine {
 public:
  LocalMachine() {
    std::string pattern = std::filesystem::temp_directory_path() / "sluice-fs-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~LocalMachine() override { std::filesystem::remove_all(root_); }
  FileSystem& file_system() override { return file_system_; }
  std::string root() const override { return root_; }

 private:
  std::string root_;
  LocalFileSystem file_system_;
};

class FaultyMachine final : public Machine {
 public:
  FaultyMachine() { EXPECT_TRUE(file_system().CreateDirectories("/data").ok()); }
  FileSystem& file_system() override { return machine_.current(); }
  std::string root() const override { return "/data"; }

 private:
  FaultyFileSystems machine_{1};
};

class FileSystemContract : public ::testing::TestWithParam<bool> {
 protected:
  FileSystemContract() {
    if (GetParam()) {
      machine_ = std::make_unique<LocalMachine>();
    } else {
      machine_ = std::make_unique<FaultyMachine>();
    }
  }
  FileSystem& fs() { return machine_->file_system(); }
  Publisher& publisher() { return fs().publisher(); }
  std::string Path(std::string_view name) const { return JoinPath(machine_->root(), name); }

  std::string Content(const std::string& path) {
    auto file = fs().OpenRead(path);
    if (!file.ok()) return "<" + file.status().ToString() + ">";
    auto bytes = (*file)->Read((*file)->GetSize().ValueOrDie()).ValueOrDie();
    return bytes->ToString();
  }
  std::vector<std::string> Names(const std::string& directory) {
    std::vector<std::string> names;
    const auto entries = fs().List(directory);
    EXPECT_TRUE(entries.ok()) << entries.status().ToString();
    if (entries.ok()) {
      for (const FileInfo& info : *entries) names.emplace_back(info.name());
    }
    return names;
  }
  std::string WriteClosed(const std::string& path, std::string_view bytes,
                          const std::string& attempt = "a1") {
    auto writer = publisher().Open(path, attempt);
    EXPECT_TRUE(writer.ok()) << writer.status().ToString();
    EXPECT_TRUE((*writer)->Append(bytes).ok());
    auto handle = (*writer)->Close();
    EXPECT_TRUE(handle.ok()) << handle.status().ToString();
    return *handle;
  }
  Status Publish(const std::string& handle) { return publisher().Publish({handle})[0]; }

  std::unique_ptr<Machine> machine_;
};

TEST_P(FileSystemContract, FileIsHiddenUntilPublishedAndPublishedTwiceIsTheSame) {
  const std::string path = Path("dt=2020-05-20/hour=08/part-1-0-0");
  const std::string handle = WriteClosed(path, "rows\n");
  EXPECT_THAT(Names(ParentPath(path)), ElementsAre(".part-1-0-0.inprogress.a1"));
  EXPECT_TRUE(Publish(handle).ok());
  EXPECT_THAT(Names(ParentPath(path)), ElementsAre("part-1-0-0"));
  EXPECT_TRUE(Publish(handle).ok());
  EXPECT_EQ(Content(path), "rows\n");
}

TEST_P(FileSystemContract, PersistedFileResumesAtItsLengthWhateverWasWrittenAfter) {
  const std::string path = Path("t/part");
  std::string handle;
  {
    auto writer = publisher().Open(path, "a");
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->Append("first;").ok());
    auto persisted = (*writer)->Persist();
    ASSERT_TRUE(persisted.ok());
    handle = *persisted;
    ASSERT_TRUE((*writer)->Append(std::string(1 << 20, 'x')).ok());
    EXPECT_EQ((*writer)->size_bytes(), 6 + (1 << 20));
  }
  auto resumed = publisher().Resume(handle);
  ASSERT_TRUE(resumed.ok()) << resumed.status().ToString();
  EXPECT_EQ((*resumed)->size_bytes(), 6);
  ASSERT_TRUE((*resumed)->Append("second").ok());
  auto closed = (*resumed)->Close();
  ASSERT_TRUE(closed.ok());
  EXPECT_EQ(publisher().Describe(*closed)->length_bytes, 12);
  EXPECT_TRUE(Publish(*closed).ok());
  EXPECT_EQ(Content(path), "first;second");
}

TEST_P(FileSystemContract, PublishCutsALongerHiddenFile) {
  const std::string path = Path("t/part");
  auto writer = publisher().Open(path, "a");
  ASSERT_TRUE((*writer)->Append("kept").ok());
  const auto handle = (*writer)->Persist();
  ASSERT_TRUE((*writer)->Append("more").ok());
  ASSERT_TRUE((*writer)->Close().ok());
  EXPECT_TRUE(Publish(*handle).ok());
  EXPECT_EQ(Content(path), "kept");
}

TEST_P(FileSystemContract, MissingDataIsCorruptAndNamesBothLengths) {
  const std::string path = Path("t/part");
  const std::string handle = WriteClosed(path, "123456");
  const std::string hidden = publisher().Describe(handle)->hidden_path;

  ASSERT_TRUE(fs().WriteWhole(hidden, "123").ok());
  const Status shorter = Publish(handle);
  EXPECT_EQ(shorter.code(), StatusCode::kCorrupt);
  EXPECT_THAT(shorter.message(), AllOf(HasSubstr("6 bytes"), HasSubstr("3"), HasSubstr(path)));
  EXPECT_EQ(publisher().Resume(handle).status().code(), StatusCode::kCorrupt);

  ASSERT_TRUE(fs().DeleteFile(hidden).ok());
  EXPECT_EQ(Publish(handle).code(), StatusCode::kCorrupt);
  EXPECT_EQ(publisher().Resume(handle).status().code(), StatusCode::kCorrupt);

  ASSERT_TRUE(fs().WriteWhole(path, "12345").ok());
  EXPECT_EQ(Publish(handle).code(), StatusCode::kCorrupt);
}

TEST_P(FileSystemContract, NeverOverwritesAndOneFailureDoesNotStopTheRest) {
  const std::string taken = WriteClosed(Path("t/taken"), "new");
  const std::string good = WriteClosed(Path("t/good"), "good");
  ASSERT_TRUE(fs().WriteWhole(Path("t/taken"), "old").ok());
  const std::vector<Status> results = publisher().Publish({taken, "rubbish", good});
  EXPECT_EQ(results[0].code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(results[1].code(), StatusCode::kCorrupt);
  EXPECT_TRUE(results[2].ok());
  EXPECT_EQ(Content(Path("t/taken")), "old");
  EXPECT_EQ(Content(Path("t/good")), "good");
}

TEST_P(FileSystemContract, OpenRefusesNamesThatAreThere) {
  ASSERT_TRUE(fs().CreateDirectories(Path("t")).ok());
  ASSERT_TRUE(fs().WriteWhole(Path("t/done"), "x").ok());
  EXPECT_EQ(publisher().Open(Path("t/done"), "a").status().code(), StatusCode::kAlreadyExists);
  auto first = publisher().Open(Path("t/part"), "a");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(publisher().Open(Path("t/part"), "a").status().code(), StatusCode::kAlreadyExists);
  EXPECT_TRUE((*first)->Discard().ok());
  EXPECT_THAT(Names(Path("t")), ElementsAre("done"));
}

TEST_P(FileSystemContract, AbandonRemovesTheHiddenFileOnce) {
  const std::string handle = WriteClosed(Path("t/part"), "x");
  EXPECT_TRUE(publisher().Abandon(handle).ok());
  EXPECT_TRUE(publisher().Abandon(handle).ok());
  EXPECT_THAT(Names(Path("t")), ElementsAre());
}

TEST_P(FileSystemContract, ManyOpenFilesNeedFewDescriptors) {
  // More files than the limit of the faulty disk (8); each is written again after its descriptor
  // was taken away.
  std::vector<std::unique_ptr<PartFileWriter>> writers;
  for (int i = 0; i < 40; ++i) {
    auto writer = publisher().Open(Path("t/part-" + std::to_string(i)), "a");
    ASSERT_TRUE(writer.ok());
    writers.push_back(std::move(*writer));
  }
  const std::string block(300 << 10, 'b');  // Larger than a writer's buffer.
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < writers.size(); ++i) {
      ASSERT_TRUE(writers[i]->Append("#" + std::to_string(i)).ok());
      ASSERT_TRUE(writers[i]->Append(i % 7 == 0 ? block : "").ok());
    }
  }
  std::vector<std::string> handles;
  for (auto& writer : writers) handles.push_back(*writer->Close());
  for (const Status& status : publisher().Publish(handles))
    EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(Content(Path("t/part-1")), "#1#1");
  EXPECT_EQ(Content(Path("t/part-14")), "#14" + block + "#14" + block);
}

TEST_P(FileSystemContract, DamagedHandlesAreRefused) {
  const std::string handle = EncodePublishHandle({"/a/b", "/a/.b", 7});
  EXPECT_EQ(publisher().Describe(handle)->final_path, "/a/b");
  for (size_t i = 0; i < handle.size(); ++i) {
    std::string damaged = handle;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(publisher().Describe(damaged).status().code(), StatusCode::kCorrupt) << i;
    EXPECT_EQ(publisher().Describe(handle.substr(0, i)).status().code(), StatusCode::kCorrupt) << i;
  }
}

TEST(PublishHandleTest, KnowsHiddenPathsOfAllKinds) {
  const Publisher::HandleInfo part{.final_path = "/lake/dt=1/part-7",
                                   .hidden_path = HiddenPartPath("/lake/dt=1/part-7", "tag"),
                                   .length_bytes = 9};
  EXPECT_EQ(part.hidden_path, "/lake/dt=1/.part-7.inprogress.tag");
  const Publisher::HandleInfo other{
      .final_path = "/a/b", .hidden_path = "/elsewhere/.b", .length_bytes = 7};
  for (const auto& info : {part, other}) {
    const auto read = DecodePublishHandle(EncodePublishHandle(info));
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(read->final_path, info.final_path);
    EXPECT_EQ(read->hidden_path, info.hidden_path);
    EXPECT_EQ(read->length_bytes, info.length_bytes);
  }
  // The directory and the name stand in it once.
  EXPECT_LT(EncodePublishHandle(part).size(), 70u);
}

TEST(PublishHandleTest, ReadsTheFirstVersion) {
  // Both paths in full.
  const std::string_view hex =
      "534c50480104000000000000002f612f6214000000000000002f612f2e622e696e70726f67726573732e746167"
      "0700000000000000ae13ff7000000000";
  std::string handle;
  for (size_t i = 0; i < hex.size(); i += 2) {
    handle.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  const auto read = DecodePublishHandle(handle);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->final_path, "/a/b");
  EXPECT_EQ(read->hidden_path, "/a/.b.inprogress.tag");
  EXPECT_EQ(read->length_bytes, 7);
}

TEST_P(FileSystemContract, FilesAndFolders) {
  EXPECT_EQ(fs().Stat(Path("nothing")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(fs().List(Path("nothing")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(fs().OpenRead(Path("nothing")).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(fs().CreateDirectories(Path("a/b/c")).ok());
  ASSERT_TRUE(fs().CreateDirectories(Path("a/b/c")).ok());
  ASSERT_TRUE(fs().WriteWhole(Path("a/f"), "one").ok());
  ASSERT_TRUE(fs().WriteWhole(Path("a/f"), "two!").ok());
  EXPECT_EQ(Content(Path("a/f")), "two!");
  EXPECT_EQ(fs().Stat(Path("a/f"))->size_bytes, 4);
  EXPECT_TRUE(fs().Stat(Path("a/b"))->is_directory);
  EXPECT_THAT(Names(Path("a")), ElementsAre("b", "f"));
  EXPECT_FALSE(fs().CreateDirectories(Path("a/f/g")).ok());
  EXPECT_FALSE(fs().OpenRead(Path("a/b")).ok());

  EXPECT_EQ(fs().Rename(Path("a/f"), Path("a/b")).code(), StatusCode::kAlreadyExists);
  EXPECT_TRUE(fs().Rename(Path("a/f"), Path("a/b/g")).ok());
  EXPECT_EQ(fs().Rename(Path("a/f"), Path("a/h")).code(), StatusCode::kNotFound);
  EXPECT_THAT(Names(Path("a/b")), ElementsAre("c", "g"));

  EXPECT_TRUE(fs().DeleteFile(Path("a/b/g")).ok());
  EXPECT_TRUE(fs().DeleteFile(Path("a/b/g")).ok());
  EXPECT_TRUE(fs().DeleteTree(Path("a")).ok());
  EXPECT_TRUE(fs().DeleteTree(Path("a")).ok());
  EXPECT_EQ(fs().Stat(Path("a")).status().code(), StatusCode::kNotFound);
}

TEST_P(FileSystemContract, AnEmptyFileIsWholeAsWell) {
  ASSERT_TRUE(fs().CreateDirectories(Path("a")).ok());
  EXPECT_TRUE(fs().WriteWhole(Path("a/f"), "").ok());
  EXPECT_EQ(fs().Stat(Path("a/f"))->size_bytes, 0);
  EXPECT_TRUE(fs().WriteWhole(Path("a/f"), "one").ok());
  EXPECT_TRUE(fs().WriteWhole(Path("a/f"), "").ok());
  EXPECT_EQ(Content(Path("a/f")), "");
  EXPECT_THAT(Names(Path("a")), ElementsAre("f"));
  EXPECT_EQ(fs().WriteWhole(Path("nothing/f"), "").code(), StatusCode::kNotFound);
}

TEST_P(FileSystemContract, ExchangeSwapsTwoFolders) {
  ASSERT_TRUE(fs().CreateDirectories(Path("old")).ok());
  ASSERT_TRUE(fs().CreateDirectories(Path("new")).ok());
  ASSERT_TRUE(fs().WriteWhole(Path("new/f"), "new").ok());
  const Status exchanged = fs().ExchangeDirectories(Path("old"), Path("new"));
  if (exchanged.code() == StatusCode::kUnsupported) GTEST_SKIP() << exchanged.message();
  ASSERT_TRUE(exchanged.ok()) << exchanged.ToString();
  EXPECT_EQ(Content(Path("old/f")), "new");
  EXPECT_THAT(Names(Path("new")), ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(Disks, FileSystemContract, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Local" : "Faulty"; });

TEST(LocalFileSystemTest, AccessIsThatOfTheNearestFolderThatIsThere) {
  LocalMachine machine;
  FileSystem& fs = machine.file_system();
  EXPECT_TRUE(fs.CheckAccess(machine.root()).ok());
  EXPECT_TRUE(fs.CheckAccess(machine.root() + "/not/there/yet").ok());
  const std::string file = machine.root() + "/file";
  ASSERT_TRUE(fs.WriteWhole(file, "x").ok());
  for (const std::string& path : {file, file + "/below"}) {
    const std::string message = fs.CheckAccess(path).ToString();
    EXPECT_NE(message.find(file), std::string::npos) << message;
    EXPECT_NE(message.find("Not a directory"), std::string::npos) << message;
  }
}

TEST(LocalFileSystemTest, DeleteTreeDoesNotFollowLinks) {
  LocalMachine machine;
  FileSystem& fs = machine.file_system();
  ASSERT_TRUE(fs.CreateDirectories(machine.root() + "/kept").ok());
  ASSERT_TRUE(fs.WriteWhole(machine.root() + "/kept/f", "x").ok());
  ASSERT_TRUE(fs.CreateDirectories(machine.root() + "/gone").ok());
  ASSERT_EQ(symlink((machine.root() + "/kept").c_str(), (machine.root() + "/gone/link").c_str()),
            0);
  ASSERT_TRUE(fs.DeleteTree(machine.root() + "/gone").ok());
  EXPECT_TRUE(fs.Stat(machine.root() + "/kept/f").ok());
}

TEST(LocalFileSystemTest, SyncsManyTogetherAndTellsWhichOneFailed) {
  LocalMachine machine;
  FaultyDisk faulty(1);
  const auto session = faulty.NewSession();
  ASSERT_EQ(session->MakeDirectory("/d"), 0);
  const std::pair<Disk*, std::string> places[] = {{&RealDisk(), machine.root()},
                                                  {session.get(), "/d"}};
  for (const auto& [disk, root] : places) {
    const int a = disk->OpenNew(root + "/a");
    const int b = disk->OpenNew(root + "/b");
    ASSERT_GE(std::min(a, b), 0);
    EXPECT_EQ(disk->WriteAt(a, 0, "x"), 1);
    size_t failed = 0;
    EXPECT_EQ(disk->SyncTogether({a, b}, {root}, &failed), 0);
    EXPECT_EQ(disk->SyncTogether({a, b}, {root, root + "/c"}, &failed), -ENOENT);
    EXPECT_EQ(failed, 3U);
    EXPECT_EQ(disk->SyncTogether({a, 1 << 20}, {root}, &failed), -EBADF);
    EXPECT_EQ(failed, 1U);
    EXPECT_EQ(disk->Close(a), 0);
    EXPECT_EQ(disk->Close(b), 0);
  }
}

TEST(LocalFileSystemTest, WritingBackLeavesNoDescriptorBehind) {
  LocalMachine machine;
  const auto open_files = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = open_files();
  const std::string megabyte(1 << 20, 'x');
  const int file = RealDisk().OpenNew(machine.root() + "/a");
  for (int64_t i = 0; i < 128; ++i) {  // Two batches, and as much as the disk's cache is to hold.
    ASSERT_EQ(RealDisk().WriteAt(file, i << 20, megabyte), 1 << 20);
    RealDisk().BeginWriteBack(file, i << 20, 1 << 20);
  }
  ASSERT_EQ(RealDisk().Close(file), 0);
  while (open_files() > before) std::this_thread::yield();  // Or the test's time runs out.
}

TEST(LocalFileSystemTest, ErrorsSayPathReasonAndWhatToDo) {
  const Status full = DiskError(ENOSPC, "write to", "/d/.part");
  EXPECT_THAT(full.message(),
              AllOf(HasSubstr("/d/.part"), HasSubstr("No space left"), HasSubstr("free space")));
  EXPECT_TRUE(full.retriable());
  const Status denied = DiskError(EACCES, "create", "/d/x");
  EXPECT_FALSE(denied.retriable());
  EXPECT_THAT(denied.message(), HasSubstr("right"));
  EXPECT_THAT(DiskError(EMFILE, "open", "/d/x").message(), HasSubstr("ulimit -n"));
  EXPECT_THAT(DiskError(EROFS, "create", "/d/x").message(), HasSubstr("read-only"));
}

TEST(LocalFileSystemTest, NoRetryHelpsANameThatIsTooLong) {
  LocalMachine machine;
  const Status status =
      machine.file_system().CreateDirectories(machine.root() + "/p=" + std::string(300, 'z'));
  EXPECT_FALSE(status.retriable());
  EXPECT_THAT(status.message(), AllOf(HasSubstr("too long"), HasSubstr("shorten")));
}

// Followed, a link to a folder above would give every file some forty times.
TEST(LocalFileSystemTest, LinksThatGoRoundInACircleAreNotFollowed) {
  LocalMachine machine;
  FileSystem& fs = machine.file_system();
  ASSERT_TRUE(fs.CreateDirectories(machine.root() + "/in/sub").ok());
  ASSERT_TRUE(fs.CreateDirectories(machine.root() + "/other").ok());
  ASSERT_TRUE(fs.WriteWhole(machine.root() + "/in/sub/f", "x").ok());
  ASSERT_TRUE(fs.WriteWhole(machine.root() + "/other/g", "x").ok());
  const std::pair<std::string, std::string> links[] = {
      {".", "/in/self"},          {"../..", "/in/sub/above"},  {"../other", "/in/other"},
      {"../in", "/other/around"}, {"nowhere", "/in/dangling"}, {"ring", "/in/ring"}};
  for (const auto& [target, name] : links)
    ASSERT_EQ(symlink(target.c_str(), (machine.root() + name).c_str()), 0);
  const auto files = fs.ListTree(machine.root() + "/in");
  ASSERT_TRUE(files.ok()) << files.status().ToString();
  std::vector<std::string> names;
  for (const FileInfo& file : *files) names.push_back(file.path.substr(machine.root().size()));
  EXPECT_THAT(names, ElementsAre("/in/other/g", "/in/sub/f"));
}

TEST(LocalFileSystemTest, PipesAreRefusedWithoutHanging) {
  LocalMachine machine;
  const std::string pipe = machine.root() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(machine.file_system().OpenRead(pipe).status().message(), HasSubstr("regular file"));
}

TEST(FileSystemsTest, LocateTakesPathsAsTheyAre) {
  const std::string here = std::filesystem::current_path().string();
  const std::pair<std::string, std::string> cases[] = {
      {"/a/b", "/a/b"},
      {"file:///a/b", "/a/b"},
      {"file:/a/b", "/a/b"},
      {"FILE:///a", "/a"},
      {"file://localhost/a", "/a"},
      {"/data/env=prod,a b/#1/", "/data/env=prod,a b/#1"},
      {"file:///x%20y?z=1", "/x%20y?z=1"},
      {"//a//b/./c/../d", "/a/b/d"},
      {"out", here + "/out"},
      {"./out", here + "/out"},
      {"a:b/c", here + "/a:b/c"},
      {"/", "/"},
  };
  for (const auto& [uri, path] : cases) {
    const auto located = FileSystems::Default().Locate(uri);
    ASSERT_TRUE(located.ok()) << uri << ": " << located.status().ToString();
    EXPECT_EQ(located->path, path) << uri;
  }
}

TEST(FileSystemsTest, LocateRefuses) {
  const auto unknown = FileSystems::Default().Locate("gs://bucket/a");
  EXPECT_EQ(unknown.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.status().message(),
              AllOf(HasSubstr("'gs'"), HasSubstr("Known schemes: file")));
  EXPECT_THAT(FileSystems::Default().Locate("").status().message(), HasSubstr("empty string"));
  EXPECT_THAT(FileSystems::Default().Locate("file://host/a").status().message(),
              HasSubstr("'host'"));
  // A slash short of a store: not a folder of that name here.
  for (const char* uri : {"s3:/lake/a", "OSS:lake/a", "hdfs:/a", "file:a"}) {
    EXPECT_THAT(FileSystems::Default().Locate(uri).status().message(), HasSubstr("Write ")) << uri;
  }
  EXPECT_TRUE(FileSystems::Default().Locate("/data/s3:/a").ok());
  EXPECT_TRUE(FileSystems::Default().Locate("10:30/a").ok());
}

TEST(FileSystemsTest, ObjectStoresKeepSchemeAndBucket) {
  const std::pair<std::string, std::string> cases[] = {
      {"s3://lake/a//b/", "s3://lake/a/b"},
      {"S3A://lake", "s3a://lake"},
      {"oss://<bucket>/path", "oss://<bucket>/path"},
      {"s3://lake/k=50%25/./x", "s3://lake/k=50%25/x"},
      {"hdfs:///sql/parquet", "hdfs:///sql/parquet"},
  };
  for (const auto& [uri, path] : cases) {
    const auto located = FileSystems::Default().Locate(uri);
    ASSERT_TRUE(located.ok()) << uri << ": " << located.status().ToString();
    EXPECT_EQ(located->path, path) << uri;
  }
  EXPECT_THAT(FileSystems::Default().Locate("s3:///a").status().message(),
              HasSubstr("names no bucket"));
}

TEST(FileSystemsTest, Pitfall17_4_UnknownSchemesListTheKnownOnes) {
  EXPECT_THAT(FileSystems::Default().Locate("gs://bucket/a").status().message(),
              HasSubstr("Known schemes: file, s3, s3a, oss, hdfs"));
}

TEST(FileSystemsTest, EqualSettingsShareTheirConnections) {
  FileSystems& one = FileSystemsFor({{"s3.endpoint", "http://a"}, {"pipeline.name", "x"}});
  FileSystems& same = FileSystemsFor({{"s3.endpoint", "http://a"}, {"pipeline.name", "y"}});
  FileSystems& other = FileSystemsFor({{"s3.endpoint", "http://b"}});
  EXPECT_EQ(&one, &same);
  EXPECT_NE(&one, &other);
  EXPECT_EQ(one.Locate("s3://lake/a")->file_system, same.Locate("s3://lake/b")->file_system);
}

TEST(FileSystemsTest, WhatIsNotBuiltIsRefusedByName) {
  const auto located = FileSystems::Default().Locate("hdfs://name:8020/a");
  ASSERT_TRUE(located.ok());
  const Status status = located->file_system->Stat(located->path).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("File system HDFS (hdfs://) is a later feature"));
  EXPECT_EQ(located->file_system->publisher().Open(located->path, "x").status().code(),
            StatusCode::kUnsupported);
}

TEST(PathTest, WithoutSchemeAndBucket) {
  EXPECT_EQ(PathOfUri("s3://lake/a/b"), "/a/b");
  EXPECT_EQ(PathOfUri("s3://lake"), "/");
  EXPECT_EQ(PathOfUri("/a/b://c"), "/a/b://c");
}

TEST(PathTest, JoinParentHidden) {
  EXPECT_EQ(JoinPath("/a", "b"), "/a/b");
  EXPECT_EQ(JoinPath("/a/", "/b"), "/a/b");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(ParentPath("/a/b"), "/a");
  EXPECT_EQ(ParentPath("/a"), "/");
  EXPECT_TRUE(IsHiddenName("/a/.b"));
  EXPECT_TRUE(IsHiddenName("_SUCCESS"));
  EXPECT_FALSE(IsHiddenName("/_a/b"));
  EXPECT_TRUE(HasHiddenName("/_a/b"));
  EXPECT_TRUE(HasHiddenName("a/b/.c"));
  EXPECT_FALSE(HasHiddenName("/a/b_/c."));
  EXPECT_FALSE(HasHiddenName(""));
  EXPECT_EQ(NameOf("/a/b"), "b");
  EXPECT_EQ(NameOf("b"), "b");
  EXPECT_EQ(NameOf("a/"), "");
}

}  // namespace
}  // namespace sluice::fs
