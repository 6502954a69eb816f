// Policies and extractors of the user, the content of the marker, and late rows.
#include "connectors/filesystem/sink/commit_policy.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "common/log.h"
#include "connectors/filesystem/sink/child_process.h"
#include "connectors/filesystem/sink/http_post.h"
#include "connectors/filesystem/sink/sink_metrics.h"
#include "connectors/filesystem/sink/sink_test_util.h"

namespace sluice::connectors::filesystem {
namespace {

using Json = nlohmann::json;

/// A folder of this test that goes with it.
class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "sluice-policy-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  std::string Read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(File(name)).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

/// Answers each request with the next of `answers` and keeps what it got.
class Server {
 public:
  explicit Server(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~Server() {
    shutdown(listener_, SHUT_RDWR);
    close(listener_);
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/commit"; }
  const std::vector<std::string>& requests() const { return requests_; }

 private:
  void Serve() {
    for (const std::string& answer : answers_) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      std::string request;
      size_t wanted = std::string::npos;
      while (request.size() < wanted) {
        char buffer[4096];
        const ssize_t count = read(connection, buffer, sizeof(buffer));
        if (count <= 0) break;
        request.append(buffer, static_cast<size_t>(count));
        const size_t end = request.find("\r\n\r\n");
        const size_t length = request.find("Content-Length: ");
        if (end != std::string::npos && length != std::string::npos) {
          wanted = end + 4 + std::stoul(request.substr(length + 16));
        }
      }
      requests_.push_back(request);
      EXPECT_GT(write(connection, answer.data(), answer.size()), 0);
      close(connection);
    }
  }

  const std::vector<std::string> answers_;
  std::vector<std::string> requests_;
  int listener_;
  int port_ = 0;
  std::thread thread_;
};

std::string Answer(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

HarnessOptions Committing(OptionMap options, const formats::Format* format = &kPack) {
  HarnessOptions harness;
  harness.table_options = std::move(options);
  harness.format = format;
  return harness;
}

TEST(ChildProcess, TalksAndEnds) {
  const auto result = RunCommand({.command = "cat; echo no >&2; exit 3", .input = "text\n"});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->output, "text\n");
  EXPECT_EQ(result->errors, "no\n");
  // A command that does not read its input, with more than a pipe holds.
  EXPECT_EQ(RunCommand({.command = "true", .input = std::string(1 << 20, 'x')})->exit_code, 0);
  EXPECT_EQ(RunCommand({.command = "kill -9 $$"})->exit_code, 137);
  EXPECT_EQ(RunCommand({.command = "no-such-command-anywhere"})->exit_code, 127);
  EXPECT_EQ(RunCommand({.command = "test $A = b", .environment = {{"A", "b"}}})->exit_code, 0);
}

TEST(ChildProcess, IsKilledAtItsDeadlineWithWhatItStarted) {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = RunCommand({.command = "sleep 100 & sleep 100", .timeout_ms = 200});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("200 ms"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(CommitPolicy, CommandGetsThePartitionAsJson) {
  const Folder folder;
  SinkHarness job(
      Committing({{"sink.partition-commit.policy.kind", "command,success-file"},
                  {"sink.partition-commit.policy.command",
                   "cat >> " + folder.File("calls") + "; test ! -e " + folder.File("fail")}}));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{1, "a"}, {2, "a"}, {3, std::nullopt}}));
  ASSERT_OK(job.Checkpoint());
  std::stringstream calls(folder.Read("calls"));
  std::string line;
  std::map<std::string, Json> by_path;
  while (std::getline(calls, line)) {
    const Json call = Json::parse(line);
    by_path[call["path"]] = call;
  }
  ASSERT_EQ(by_path.size(), 2u);
  const Json& call = by_path.at("/table/k=a");
  EXPECT_EQ(call["table"], "c.d.t");
  EXPECT_EQ(call["partition"]["k"], "a");
  EXPECT_EQ(call["rows"], 2);
  EXPECT_EQ(call["checkpoint"], 1);
  EXPECT_EQ(call["again"], false);
  ASSERT_EQ(call["files"].size(), 1u);
  EXPECT_TRUE(Has(job, "k=a/" + call["files"][0]["name"].get<std::string>()));
  EXPECT_TRUE(by_path.at("/table/k=__DEFAULT_PARTITION__")["partition"]["k"].is_null());
  EXPECT_TRUE(Has(job, "k=a/_SUCCESS"));

  // A command that fails stops the commit before the policies behind it; a restart calls it again.
  std::ofstream(folder.File("fail")) << "x";
  ASSERT_OK(job.Write(0, {{4, "b"}}));
  const auto id = job.TakeCheckpoint();
  ASSERT_TRUE(id.ok());
  const Status failed = job.Complete(*id);
  EXPECT_EQ(failed.code(), StatusCode::kUnavailable);
  EXPECT_NE(failed.ToString().find("ended with 1"), std::string::npos) << failed.ToString();
  EXPECT_FALSE(Has(job, "k=b/_SUCCESS"));
  job.Kill();
  std::filesystem::remove(folder.File("fail"));
  ASSERT_OK(job.Start(*id));
  EXPECT_TRUE(Has(job, "k=b/_SUCCESS"));
}

TEST(CommitPolicy, HttpCall) {
  Server server({Answer("200 OK", ""), Answer("503 Busy", "later"), Answer("403 No", "not you")});
  SinkHarness job(Committing({{"sink.partition-commit.policy.kind", "http"},
                              {"sink.partition-commit.policy.http.url", server.url()},
                              {"sink.partition-commit.policy.http.headers", "X-Key: 7"}}));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{1, "a"}}));
  ASSERT_OK(job.Checkpoint());
  ASSERT_EQ(server.requests().size(), 1u);
  const std::string& request = server.requests()[0];
  EXPECT_TRUE(request.starts_with("POST /commit ")) << request;
  EXPECT_NE(request.find("X-Key: 7"), std::string::npos);
  EXPECT_NE(request.find("Idempotency-Key: /table/k=a@1"), std::string::npos);
  EXPECT_EQ(Json::parse(request.substr(request.find("\r\n\r\n") + 4))["rows"], 1);
  EXPECT_EQ(PostJson({.url = server.url(), .body = "{}"}).status().code(),
            StatusCode::kUnavailable);
  const Status refused = PostJson({.url = server.url(), .body = "{}"}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("403: not you"), std::string::npos) << refused.message();
}

TEST(CommitPolicy, NobodyListens) {
  std::string url;
  { url = Server({}).url(); }
  EXPECT_EQ(PostJson({.url = url, .body = "{}"}).status().code(), StatusCode::kUnavailable);
}

TEST(CommitPolicy, MarkerTellsWhatThePartitionHolds) {
  SinkHarness job(Committing({{"sink.partition-commit.policy.kind", "success-file"},
                              {"sink.partition-commit.success-file.content", "json"}}));
  ASSERT_OK(job.Start());
  job.metrics.Counter("split_position:orders-0") = 123;
  ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
  ASSERT_OK(job.Checkpoint());
  const auto marker = [&job] { return Json::parse(job.Visible().at("k=a/_SUCCESS")); };
  EXPECT_EQ(marker()["rows"], 5);
  EXPECT_EQ(marker()["sources"], Json::parse("[\"orders-0@123\"]"));
  EXPECT_EQ(marker()["files"][0]["bytes"],
            job.files.current()
                .Stat("/table/k=a/" + marker()["files"][0]["name"].get<std::string>())
                ->size_bytes);
  // Late rows: all files of the partition, not only the new ones.
  ASSERT_OK(job.Write(0, Rows(5, 2, "a")));
  const auto id = job.TakeCheckpoint();
  ASSERT_TRUE(id.ok());
  ASSERT_OK(job.Complete(*id));
  EXPECT_EQ(marker()["rows"], 7);
  EXPECT_EQ(marker()["files"].size(), 2u);
  // Committed again after a crash: nothing counts twice.
  job.Kill();
  ASSERT_OK(job.Start(*id));
  EXPECT_EQ(marker()["rows"], 7);
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_TRUE(job.Hidden().empty());
}

TEST(CommitPolicy, CompactedFilesAreTold) {
  SinkHarness job(Committing({{"sink.partition-commit.policy.kind", "success-file"},
                              {"sink.partition-commit.success-file.content", "json"},
                              {"sink.partition-commit.delay", "5 s"},
                              {"auto-compaction", "true"},
                              {"compaction.scope", "partition"}},
                             &kLines));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
  ASSERT_OK(job.Checkpoint());
  job.clock.AdvanceMillis(6'000);
  ASSERT_OK(job.Write(0, Rows(5, 5, "a")));
  ASSERT_OK(job.Checkpoint());
  const Json marker = Json::parse(job.Visible().at("k=a/_SUCCESS"));
  EXPECT_EQ(marker["rows"], 10);
  ASSERT_EQ(marker["files"].size(), 1u);
  EXPECT_TRUE(marker["files"][0]["name"].get<std::string>().starts_with("compacted-part-"));
}

TEST(CommitPolicy, MarkerIsReplacedInOneStep) {
  // The power goes at every operation of the second commit: a marker is there all the time.
  for (int64_t cut = 1; cut < 60; ++cut) {
    SinkHarness job(Committing({{"sink.partition-commit.policy.kind", "success-file"}}),
                    static_cast<uint64_t>(cut));
    ASSERT_OK(job.Start());
    ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
    ASSERT_OK(job.Checkpoint());
    ASSERT_OK(job.Write(0, Rows(5, 2, "a")));
    job.files.disk().CutPowerAfter(cut);
    (void)job.Checkpoint();
    job.PowerLoss();
    EXPECT_TRUE(Has(job, "k=a/_SUCCESS")) << cut;
  }
}

TEST(CommitPolicy, OptionsAreChecked) {
  const auto message = [](OptionMap options) {
    SinkHarness job(Committing(std::move(options)));
    return job.Plan().ToString();
  };
  const std::string kind = "sink.partition-commit.policy.kind";
  EXPECT_NE(message({{kind, "custom"}}).find("needs option 'sink.partition-commit.policy.class'"),
            std::string::npos);
  EXPECT_NE(message({{kind, "success-file"}, {"sink.partition-commit.policy.command", "true"}})
                .find("belongs to 'command'"),
            std::string::npos);
  EXPECT_NE(message({{kind, "custom"}, {"sink.partition-commit.policy.class", "/no/lib.so"}})
                .find("cannot be loaded"),
            std::string::npos);
  EXPECT_NE(message({{kind, "http"}, {"sink.partition-commit.policy.http.url", "ftp://x"}})
                .find("http://"),
            std::string::npos);
  EXPECT_NE(message({{kind, "sucess-file"}}).find("Did you mean"), std::string::npos);
  EXPECT_NE(message({{"sink.partition-commit.late-rows", "drop"}}).find("policy.kind"),
            std::string::npos);
  EXPECT_NE(message({{kind, "success-file"}, {"sink.partition-commit.late-rows", "aside"}})
                .find("late-rows.path"),
            std::string::npos);
  EXPECT_NE(message({{kind, "success-file"},
                     {"sink.partition-commit.late-rows", "aside"},
                     {"sink.partition-commit.late-rows.path", "/table/late"}})
                .find("beside"),
            std::string::npos);
}

TEST(TimeExtractor, Command) {
  const Folder folder;
  SetLogSink([](LogLevel, std::string_view) {});
  SinkHarness job(Committing(
      {{"sink.partition-commit.policy.kind", "success-file"},
       {"sink.partition-commit.trigger", "partition-time"},
       {"partition.time-extractor.kind", "command"},
       // "w21" is a week: its time is its Monday.
       {"partition.time-extractor.command",
        "echo >> " + folder.File("calls") + "; grep -q w21 && echo 2020-05-18 || true"}}));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, {{1, "w21"}, {2, "other"}}));
  ASSERT_OK(job.Watermark(1'589'760'000'000));  // 2020-05-18 00:00:00.
  ASSERT_OK(job.Checkpoint());
  EXPECT_FALSE(Has(job, "k=w21/_SUCCESS"));
  ASSERT_OK(job.Watermark(1'589'760'000'001));
  ASSERT_OK(job.Checkpoint());
  SetLogSink(nullptr);
  EXPECT_TRUE(Has(job, "k=w21/_SUCCESS"));
  EXPECT_FALSE(Has(job, "k=other/_SUCCESS"));
  EXPECT_EQ(folder.Read("calls").size(), 2u);  // Once for each partition.
}

TEST(LateRows, AreDroppedAndCounted) {
  SinkHarness job(Committing({{"sink.partition-commit.policy.kind", "success-file"},
                              {"sink.partition-commit.late-rows", "drop"}}));
  ASSERT_OK(job.Start());
  ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
  ASSERT_OK(job.Checkpoint());
  ASSERT_OK(job.Write(0, {{5, "a"}, {6, "b"}, {7, "a"}}));
  ASSERT_OK(job.Checkpoint());
  EXPECT_EQ(job.metrics.Value(sink_metric::kLateRowsDropped), 2);
  EXPECT_EQ(job.metrics.Value(runtime::metric::kLateCommits), 0);
  job.Kill();
  ASSERT_OK(job.Start(2));  // What was committed is known after a restart, too.
  ASSERT_OK(job.Write(0, {{8, "b"}}));
  ASSERT_OK(job.FinishAndCommit());
  EXPECT_EQ(job.Ids().size(), 6u);
  EXPECT_EQ(job.metrics.Value(sink_metric::kLateRowsDropped), 3);
}

TEST(LateRows, GoAside) {
  for (const formats::Format* format : {&kPack, &kLines}) {
    SinkHarness job(Committing({{"sink.partition-commit.policy.kind", "success-file"},
                                {"sink.partition-commit.late-rows", "aside"},
                                {"sink.partition-commit.late-rows.path", "/late"}},
                               format));
    ASSERT_OK(job.Start());
    ASSERT_OK(job.Write(0, Rows(0, 5, "a")));
    ASSERT_OK(job.Checkpoint());
    ASSERT_OK(job.Write(0, {{5, "a"}, {6, "b"}}));
    ASSERT_OK(job.FinishAndCommit());
    EXPECT_EQ(job.Ids().size(), 6u) << format->name;
    EXPECT_EQ(job.metrics.Value(sink_metric::kLateRowsAside), 1);
    const auto late = job.files.disk().VisibleFiles("/late");
    ASSERT_EQ(late.size(), 1u);
    EXPECT_TRUE(late.begin()->first.starts_with("/late/k=a/part-")) << late.begin()->first;
    EXPECT_TRUE(late.begin()->second.starts_with("5,a") || late.begin()->second.starts_with("5\n"));
    EXPECT_FALSE(job.files.disk().AllFiles("/late").contains("/late/k=a/_SUCCESS"));
    EXPECT_TRUE(job.Hidden().empty());
  }
}

}  // namespace
}  // namespace sluice::connectors::filesystem
