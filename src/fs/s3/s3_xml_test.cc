#include "fs/s3/s3_xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::fs::s3 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(S3XmlTest, ListPage) {
  const auto page = ParseListPage(R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
  <NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
  <Contents><Key>t/k%3D50%2525/part-1</Key><LastModified>2009-10-12T17:50:30.250Z</LastModified>
    <ETag>"fba9"</ETag><Size>434234</Size></Contents>
  <Contents><Key>t/a+b%20c</Key><LastModified>bad</LastModified><Size>0</Size></Contents>
  <CommonPrefixes><Prefix>t/dt%3D2020-05-20/</Prefix></CommonPrefixes>
</ListBucketResult>)");
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(page->objects[0].key, "t/k=50%25/part-1");
  EXPECT_EQ(page->objects[0].size_bytes, 434234);
  EXPECT_EQ(page->objects[0].modified_ms, 1255369830250);
  EXPECT_EQ(page->objects[1].key, "t/a b c");
  EXPECT_THAT(page->prefixes, ElementsAre("t/dt=2020-05-20/"));
  EXPECT_EQ(page->next_token, "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=");
}

TEST(S3XmlTest, CutAnswersAreNotTakenForShortOnes) {
  const std::string whole =
      "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>";
  ASSERT_TRUE(ParseListPage(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto page = ParseListPage(whole.substr(0, size));
    EXPECT_EQ(page.status().code(), StatusCode::kUnavailable) << size;
  }
}

TEST(S3XmlTest, Errors) {
  StoreError error;
  ParseErrorDocument(R"(<Error><Code>AccessDenied</Code><Message>No &lt;you&gt;</Message>
<RequestId>4442587FB7D0A2F9</RequestId></Error>)",
                     &error);
  EXPECT_EQ(error.code, "AccessDenied");
  EXPECT_EQ(error.message, "No <you>");
  EXPECT_EQ(error.request_id, "4442587FB7D0A2F9");
  EXPECT_TRUE(IsErrorDocument("<?xml version='1.0'?>\n<Error><Code>InternalError</Code></Error>"));
  EXPECT_FALSE(
      IsErrorDocument("<CompleteMultipartUploadResult><Error/></CompleteMultipartUploadResult>"));
  EXPECT_FALSE(IsErrorDocument("no xml <Error"));
}

TEST(S3XmlTest, UploadsPartsAndDeletes) {
  const auto uploads =
      ParseUploadPage(R"(<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>
<NextKeyMarker>k2</NextKeyMarker><NextUploadIdMarker>u2</NextUploadIdMarker>
<Upload><Key>k1</Key><UploadId>u1</UploadId></Upload></ListMultipartUploadsResult>)");
  ASSERT_TRUE(uploads.ok());
  EXPECT_EQ(uploads->uploads.at(0).upload_id, "u1");
  EXPECT_EQ(uploads->next_key, "k2");
  const auto parts = ParsePartPage(R"(<ListPartsResult><Part><PartNumber>2</PartNumber>
<ETag>"7778"</ETag><Size>10485760</Size></Part></ListPartsResult>)");
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->parts.at(0).etag, "7778");
  EXPECT_EQ(parts->parts.at(0).size_bytes, 10485760);
  const auto failed =
      ParseDeleteResult(R"(<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code>
</Error></DeleteResult>)");
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(failed->at(0).key, "a");
}

TEST(S3XmlTest, Bodies) {
  EXPECT_EQ(CompleteUploadBody({{1, "a1", 5}, {2, "b2", 5}}),
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Part>"
            "<PartNumber>1</PartNumber><ETag>\"a1\"</ETag></Part><Part><PartNumber>2</PartNumber>"
            "<ETag>\"b2\"</ETag></Part></CompleteMultipartUpload>");
  EXPECT_THAT(DeleteObjectsBody({"a<b&c"}), HasSubstr("<Key>a&lt;b&amp;c</Key>"));
}

}  // namespace
}  // namespace sluice::fs::s3
