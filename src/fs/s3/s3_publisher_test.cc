#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/s3/s3_file_system.h"
#include "fs/s3/scripted_store.h"

namespace sluice::fs::s3 {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr size_t kPart = 5 << 20;

/// Objects and uploads of one bucket, as far as a publisher needs them.
class MemoryStore {
 public:
  MemoryStore()
      : server_([this](const ScriptedStore::Request& request) { return Answer(request); }) {}

  std::string endpoint() const { return server_.endpoint(); }
  std::map<std::string, std::string> objects;                         // By encoded key.
  std::map<std::string, std::map<std::string, std::string>> uploads;  // Id to number to bytes.
  int aborts = 0;

  int Count(const std::string& beginning) const {
    int count = 0;
    for (const auto& request : server_.requests()) count += request.line.starts_with(beginning);
    return count;
  }

 private:
  static std::string Between(const std::string& text, const std::string& before,
                             const std::string& after) {
    const size_t begin = text.find(before);
    if (begin == std::string::npos) return "";
    return text.substr(begin + before.size(),
                       text.find_first_of(after, begin + before.size()) - begin - before.size());
  }

  std::string Answer(const ScriptedStore::Request& request) {
    const std::string method = request.line.substr(0, request.line.find(' '));
    const std::string key = Between(request.line, "/lake/", "? ");
    const std::string id = Between(request.line, "uploadId=", "& ");
    if (request.line.find("uploads=") != std::string::npos) {
      const std::string fresh = "upload" + std::to_string(++next_id_);
      uploads[fresh];
      return ScriptedStore::Http(200, "<R><UploadId>" + fresh + "</UploadId></R>");
    }
    if (!id.empty()) return AnswerUpload(method, key, id, request);
    if (method == "PUT") {
      const bool refuse = request.head.find("if-none-match") != std::string::npos;
      if (refuse && objects.contains(key)) return ScriptedStore::Error(412, "PreconditionFailed");
      objects[key] = request.body;
      return ScriptedStore::Http(200, "");
    }
    if (!objects.contains(key)) return ScriptedStore::Http(404, "");
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(objects[key].size()) +
           "\r\nETag: \"" + etags_[key] + "\"\r\nConnection: close\r\n\r\n";
  }

  std::string AnswerUpload(const std::string& method, const std::string& key, const std::string& id,
                           const ScriptedStore::Request& request) {
    const auto upload = uploads.find(id);
    if (upload == uploads.end()) return ScriptedStore::Error(404, "NoSuchUpload");
    if (method == "GET") return ScriptedStore::Http(200, "<ListPartsResult></ListPartsResult>");
    if (method == "PUT") {
      const std::string number = Between(request.line, "partNumber=", "& ");
      upload->second[number] = request.body;
      return ScriptedStore::Http(200, "", "ETag: \"tag" + number + "\"\r\n");
    }
    if (method == "DELETE") {
      ++aborts;
    } else {
      std::string whole;
      size_t count = 0;
      for (size_t at = 0; (at = request.body.find("<PartNumber>", at)) != std::string::npos; ++at) {
        whole += upload->second[Between(request.body.substr(at), "<PartNumber>", "<")];
        ++count;
      }
      objects[key] = whole;
      etags_[key] = "x-" + std::to_string(count);
    }
    uploads.erase(upload);
    return ScriptedStore::Http(200, "");
  }

  std::map<std::string, std::string> etags_;
  int next_id_ = 0;
  ScriptedStore server_;
};

struct PublisherTest : testing::Test {
  PublisherTest()
      : files("s3",
              {{"s3.endpoint", store.endpoint()},
               {"s3.access-key", "a"},
               {"s3.secret-key", "b"},
               {"s3.retry.timeout", "1 s"}},
              [](std::string_view) { return std::optional<std::string>(); }) {}

  std::unique_ptr<PartFileWriter> Open(const std::string& key) {
    auto writer = files.publisher().Open("s3://lake/" + key, "tag");
    EXPECT_TRUE(writer.ok()) << writer.status().ToString();
    return std::move(*writer);
  }
  static std::string Get(Result<std::string> handle) {
    EXPECT_TRUE(handle.ok()) << handle.status().ToString();
    return handle.ok() ? *handle : "";
  }
  Status Publish(const std::string& handle) { return files.publisher().Publish({handle}).front(); }

  MemoryStore store;
  S3FileSystem files;
};

std::string Text(size_t size, char c) { return std::string(size, c); }

TEST_F(PublisherTest, AFewBytesAreOneRequest) {
  const auto writer = Open("t/part-1");
  ASSERT_TRUE(writer->Append("1\n2\n").ok());
  const std::string handle = Get(writer->Close());
  EXPECT_TRUE(store.objects.empty());
  ASSERT_TRUE(Publish(handle).ok());
  EXPECT_EQ(store.objects["t/part-1"], "1\n2\n");
  EXPECT_EQ(store.Count("PUT"), 1);
  EXPECT_EQ(store.Count("POST"), 0);
  EXPECT_TRUE(Publish(handle).ok());  // Idempotent.
  store.objects["t/part-1"] = "somebody else's";
  EXPECT_EQ(Publish(handle).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(store.objects["t/part-1"], "somebody else's");
}

TEST_F(PublisherTest, Pitfall1_1_TheTailIsInTheHandle) {
  std::string handle;
  {
    const auto writer = Open("t/part-1");
    ASSERT_TRUE(writer->Append(Text(kPart, 'a') + "tail").ok());
    handle = Get(writer->Persist());
    ASSERT_TRUE(writer->Append("lost in the crash" + Text(kPart, 'x')).ok());
  }
  EXPECT_EQ(store.aborts, 0);
  auto resumed = files.publisher().Resume(handle);
  ASSERT_TRUE(resumed.ok()) << resumed.status().ToString();
  EXPECT_EQ((*resumed)->size_bytes(), static_cast<int64_t>(kPart + 4));
  ASSERT_TRUE((*resumed)->Append(" and more").ok());
  const std::string closed = Get((*resumed)->Close());
  EXPECT_TRUE(store.objects.empty());
  ASSERT_TRUE(Publish(closed).ok());
  EXPECT_EQ(store.objects["t/part-1"], Text(kPart, 'a') + "tail and more");
  EXPECT_TRUE(store.uploads.empty());
}

TEST_F(PublisherTest, APersistedHandleCanBePublishedAsItIs) {
  const auto writer = Open("t/part-1");
  ASSERT_TRUE(writer->Append(Text(kPart, 'a') + "tail").ok());
  ASSERT_TRUE(Publish(Get(writer->Persist())).ok());
  EXPECT_EQ(store.objects["t/part-1"].size(), kPart + 4);
}

TEST_F(PublisherTest, Pitfall12_2_PublishedTwice) {
  const auto writer = Open("t/part-1");
  ASSERT_TRUE(writer->Append(Text(2 * kPart + 1, 'a')).ok());
  const std::string handle = Get(writer->Close());
  ASSERT_TRUE(Publish(handle).ok());
  EXPECT_EQ(store.objects["t/part-1"].size(), 2 * kPart + 1);
  EXPECT_TRUE(Publish(handle).ok());
  store.objects["t/part-1"].pop_back();
  const Status status = Publish(handle);
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("s3://lake/t/part-1"), HasSubstr("upload1"),
                                      HasSubstr(std::to_string(2 * kPart + 1))));
}

TEST_F(PublisherTest, Pitfall12_3_AnUploadThatIsGone) {
  const auto writer = Open("t/part-1");
  ASSERT_TRUE(writer->Append(Text(kPart, 'a')).ok());
  const std::string handle = Get(writer->Persist());
  store.uploads.clear();
  for (const Status& status : {files.publisher().Resume(handle).status(), Publish(handle)}) {
    EXPECT_EQ(status.code(), StatusCode::kCorrupt);
    EXPECT_FALSE(status.retriable());
    EXPECT_THAT(status.message(), AllOf(HasSubstr("data is missing"), HasSubstr("upload1")));
  }
}

TEST_F(PublisherTest, Pitfall17_3_DiscardAbortsItsOwn) {
  const auto other = Open("t/part-2");
  ASSERT_TRUE(other->Append(Text(kPart, 'a')).ok());
  const std::string kept = Get(other->Persist());
  const auto writer = Open("t/part-1");
  ASSERT_TRUE(writer->Append(Text(kPart, 'a')).ok());
  ASSERT_TRUE(writer->Persist().ok());  // Until then the part may still wait for its turn.
  ASSERT_TRUE(writer->Discard().ok());
  EXPECT_EQ(store.aborts, 1);
  EXPECT_EQ(store.uploads.size(), 1u);
  ASSERT_TRUE(files.publisher().Abandon(kept).ok());
  EXPECT_TRUE(store.uploads.empty());
  EXPECT_TRUE(files.publisher().Abandon(kept).ok());
  ASSERT_TRUE(Open("t/part-3")->Discard().ok());  // Nothing was begun.
}

TEST_F(PublisherTest, Describe) {
  const auto writer = Open("t/part-1");
  ASSERT_TRUE(writer->Append(Text(kPart, 'a')).ok());
  const auto info = files.publisher().Describe(Get(writer->Persist()));
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->final_path, "s3://lake/t/part-1");
  EXPECT_EQ(info->hidden_path, "s3://lake/t/part-1?uploadId=upload1");
  EXPECT_EQ(info->length_bytes, static_cast<int64_t>(kPart));
}

TEST(UploadHandleTest, RoundTripAndDamage) {
  const UploadHandle handle{.path = "s3://lake/k",
                            .upload_id = "id",
                            .parts = {{1, "a", 10}, {2, "b", 20}},
                            .tail = std::string("\0xyz", 4),
                            .length_bytes = 34};
  const std::string bytes = EncodeUploadHandle(handle);
  const auto decoded = DecodeUploadHandle(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(EncodeUploadHandle(*decoded), bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeUploadHandle(bytes.substr(0, size)).status().code(), StatusCode::kCorrupt);
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(DecodeUploadHandle(changed).status().code(), StatusCode::kCorrupt) << i;
  }
  UploadHandle wrong = handle;
  wrong.length_bytes = 35;
  EXPECT_FALSE(DecodeUploadHandle(EncodeUploadHandle(wrong)).ok());
}

}  // namespace
}  // namespace sluice::fs::s3
