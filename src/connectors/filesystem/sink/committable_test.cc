#include "connectors/filesystem/sink/committable.h"

#include <arrow/array/builder_binary.h>
#include <gtest/gtest.h>

namespace sluice::connectors::filesystem {
namespace {

class Received final : public ReportReceiver {
 public:
  Status AddFile(ReceivedFile received) override {
    ByteReader bytes(received.bytes);
    const FileCommittable again = ReadCommittable(&bytes);
    EXPECT_TRUE(bytes.AtEnd());
    EXPECT_EQ(again.handle, received.file.handle);
    EXPECT_EQ(again.row_count, received.file.row_count);
    EXPECT_NE(received.owner, nullptr);
    seen += std::to_string(received.checkpoint) + ":" + received.file.handle + ";";
    return received.file.handle == refused ? Status::IoError("full") : Status();
  }
  Status AddReport(const WriterReport& report) override {
    EXPECT_TRUE(report.files.empty());
    seen += "open=" + std::to_string(report.open_files.size()) + ";";
    return {};
  }

  std::string seen;
  std::string refused;
};

WriterReport Sample() {
  WriterReport report{.checkpoint = 3, .subtask = 1, .name_prefix = "part-1-", .next_number = 7};
  report.files.push_back({"one", {"t/a=1", {"1"}}, 10, 100, 5, false});
  report.files.push_back({"two", {"t/a=2", {std::nullopt}}, 20, 200, 6, true});
  report.open_files.push_back({"open", {"t/a=3", {"3"}}, 8});
  return report;
}

Batch BatchOf(std::string_view bytes) {
  arrow::BinaryBuilder builder;
  EXPECT_TRUE(builder.Append(bytes).ok());
  const auto array = builder.Finish().ValueOrDie();
  const auto schema = arrow::schema({arrow::field("report", arrow::binary(), false)});
  return Batch(arrow::RecordBatch::Make(schema, 1, {array}));
}

std::string_view BytesOf(const Batch& batch) {
  return static_cast<const arrow::BinaryArray&>(*batch.column(0)).GetView(0);
}

TEST(CommittableTest, FilesComeBeforeTheRestOfTheirReport) {
  Received received;
  ASSERT_TRUE(DecodeReports(EncodeReport(Sample()), &received).ok());
  EXPECT_EQ(received.seen, "3:one;3:two;open=1;");
}

TEST(CommittableTest, AReceiverThatFailsEndsTheReading) {
  Received received;
  received.refused = "one";
  EXPECT_EQ(DecodeReports(EncodeReport(Sample()), &received).code(), StatusCode::kIoError);
  EXPECT_EQ(received.seen, "3:one;");
}

TEST(CommittableTest, AReportThatIsCutOrTooLongIsCorrupt) {
  const Batch whole = EncodeReport(Sample());
  const std::string bytes(BytesOf(whole));
  for (size_t size = 0; size < bytes.size(); ++size) {
    Received received;
    EXPECT_EQ(DecodeReports(BatchOf(bytes.substr(0, size)), &received).code(),
              StatusCode::kCorrupt);
    EXPECT_EQ(received.seen.find("open="), std::string::npos) << size;
  }
  Received received;
  EXPECT_EQ(DecodeReports(BatchOf(bytes + "x"), &received).code(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace sluice::connectors::filesystem
