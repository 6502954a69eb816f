#include "connectors/kafka/fetch/fetch_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/clock.h"
#include "connectors/kafka/fetch/batch_builder.h"

namespace sluice::connectors::kafka::fetch {
namespace {

using ::testing::HasSubstr;

/// A client, and a way to wait for it.
class Fetching {
 public:
  explicit Fetching(FetchSettings settings, int64_t limit_bytes = 64 << 20)
      : memory_(std::make_shared<FetchMemory>(limit_bytes, &budget_)) {
    settings.reconnect_backoff_ms = 10;
    settings.retry_backoff_ms = 10;
    auto made = FetchClient::Make(std::move(settings), memory_, [this] {
      const std::lock_guard lock(mutex_);
      woken_ = true;
      changed_.notify_all();
    });
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    if (made.ok()) client_ = std::move(*made);
  }

  /// Waits until `enough`, or until the fetch fails, whose status it returns.
  Status RunUntil(const std::function<bool()>& enough) {
    const int64_t end_us = Clock::System().MonotonicMicros() + 10'000'000;
    while (!enough()) {
      if (Clock::System().MonotonicMicros() > end_us) return Status::Internal("waited too long");
      SLUICE_ASSIGN_OR_RETURN(const std::optional<FetchedChunk> chunk, client_->Take());
      if (chunk) {
        for (const RawBatch& batch : chunk->batches) {
          Messages messages;
          SLUICE_RETURN_NOT_OK(ReadRecords(batch, {.from = chunk->from}, {}, true,
                                           arrow::default_memory_pool(), &messages));
          offsets.insert(offsets.end(), messages.offsets.begin(), messages.offsets.end());
        }
        next_offset = chunk->next_offset;
        continue;
      }
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return woken_; });
      woken_ = false;
    }
    return {};
  }

  FetchClient& client() { return *client_; }
  std::vector<int64_t> offsets;
  int64_t next_offset = -1;

 private:
  MemoryBudget budget_{1 << 30};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::shared_ptr<FetchMemory> memory_;
  std::unique_ptr<FetchClient> client_;
};

/// A broker of one partition whose answers are the test's: bytes from the network may be anything.
class FakeBroker {
 public:
  /// Gets version and body of a request, gives the answer behind the correlation id; nullopt cuts
  /// the connection.
  using Handler = std::function<std::optional<std::string>(ApiKey key, int16_t version)>;

  explicit FakeBroker(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    socklen_t size = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~FakeBroker() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();  // Before the others are looked at: it adds to them.
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    for (std::thread& server : servers_) server.join();
    ::close(listener_);
  }

  FetchSettings settings() const { return {.bootstrap = {{"127.0.0.1", port_}}}; }

  static std::string Versions() {
    WireWriter writer;
    writer.I16(0);
    writer.I32(3);
    for (const ApiKey key : {ApiKey::kFetch, ApiKey::kListOffsets, ApiKey::kMetadata}) {
      writer.I16(static_cast<int16_t>(key));
      writer.I16(0);
      writer.I16(key == ApiKey::kFetch ? 4 : 1);
    }
    return std::move(writer).Take();
  }
  std::string Metadata() const {
    WireWriter writer;
    writer.I32(1);
    writer.I32(7);
    writer.Text("127.0.0.1");
    writer.I32(port_);
    writer.I16(-1);
    writer.I32(7);
    writer.I32(1);
    writer.I16(0);
    writer.Text("t");
    writer.I8(0);
    writer.I32(1);
    writer.I16(0);
    writer.I32(0);
    writer.I32(7);
    writer.I32(0);
    writer.I32(0);
    return std::move(writer).Take();
  }
  static std::string Fetched(const std::string& records, ErrorCode error = ErrorCode::kNone) {
    WireWriter writer;
    writer.I32(0);
    writer.I32(1);
    writer.Text("t");
    writer.I32(1);
    writer.I32(0);
    writer.I16(static_cast<int16_t>(error));
    writer.I64(100);
    writer.I64(100);
    writer.I32(-1);
    writer.LongBytes(records);
    return std::move(writer).Take();
  }
  static std::string Beginning(int64_t offset) {
    WireWriter writer;
    writer.I32(1);
    writer.Text("t");
    writer.I32(1);
    writer.I32(0);
    writer.I16(0);
    writer.I64(-1);
    writer.I64(offset);
    return std::move(writer).Take();
  }

  std::atomic<int> connections{0};

 private:
  void Accept() {
    while (!stopping_) {
      const int socket = ::accept(listener_, nullptr, nullptr);
      if (socket < 0) break;
      ++connections;
      sockets_.push_back(socket);
      servers_.emplace_back([this, socket] { Serve(socket); });
    }
  }
  static bool ReadAll(int socket, char* out, size_t size) {
    for (ssize_t read = 0; size > 0; out += read, size -= static_cast<size_t>(read)) {
      read = ::recv(socket, out, size, 0);
      if (read <= 0) return false;
    }
    return true;
  }
  void Serve(int socket) {
    while (true) {
      char head[4];
      if (!ReadAll(socket, head, 4)) break;
      std::string request(static_cast<size_t>(WireReader({head, 4}).I32()), '\0');
      if (!ReadAll(socket, request.data(), request.size())) break;
      WireReader reader(request);
      const auto key = static_cast<ApiKey>(reader.I16());
      const int16_t version = reader.I16();
      const int32_t id = reader.I32();
      const std::optional<std::string> body =
          key == ApiKey::kApiVersions ? Versions() : handler_(key, version);
      if (!body) break;
      WireWriter answer;
      answer.I32(static_cast<int32_t>(body->size() + 4));
      answer.I32(id);
      answer.Raw(*body);
      if (::send(socket, answer.bytes().data(), answer.bytes().size(), MSG_NOSIGNAL) < 0) break;
    }
    ::shutdown(socket, SHUT_RDWR);
  }

  const Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::vector<int> sockets_;
  std::deque<std::thread> servers_;
  std::thread acceptor_;
};

std::string Records(int64_t base, int count) {
  TestBatch batch{.base_offset = base};
  for (int i = 0; i < count; ++i)
    batch.records.push_back({.offset_delta = i, .key = {}, .value = "v"});
  return BuildBatch(batch);
}

/// A broker that hands out the elements of `answers` one after the other, then nothing new.
struct Script {
  std::vector<std::optional<std::string>> answers;
  std::atomic<size_t> next{0};
  FakeBroker* broker = nullptr;

  std::optional<std::string> operator()(ApiKey key) {
    if (key == ApiKey::kMetadata) return broker->Metadata();
    if (key == ApiKey::kListOffsets) return FakeBroker::Beginning(10);
    const size_t index = next++;
    if (index < answers.size()) return answers[index];
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return FakeBroker::Fetched("");
  }
};

TEST(FetchClient, GoesOnWhereItWasAfterEveryTrouble) {
  Script script;
  FakeBroker broker([&](ApiKey key, int16_t) { return script(key); });
  script.broker = &broker;
  script.answers = {
      FakeBroker::Fetched(Records(10, 3)),
      std::nullopt,                                                  // Cut.
      FakeBroker::Fetched("", ErrorCode::kNotLeaderOrFollower),      // Moved.
      FakeBroker::Fetched("", ErrorCode::kUnknownTopicOrPartition),  // Not there for a moment.
      std::string("nonsense"),                                       // Not an answer.
      FakeBroker::Fetched(Records(12, 3) + Records(15, 2)),          // Begins before it was asked.
      FakeBroker::Fetched(Records(15, 1)),                           // Old: skipped.
      FakeBroker::Fetched(Records(20, 1) +
                          Records(21, 5).substr(0, 70)),  // A gap, and a cut batch.
  };
  Fetching fetching(broker.settings());
  fetching.client().Start(
      {.tag = 3, .topic = "t", .partition = 0, .offset = FetchClient::kFromBeginning});
  const Status status = fetching.RunUntil([&] { return fetching.next_offset >= 21; });
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(fetching.offsets, ::testing::ElementsAre(10, 11, 12, 13, 14, 15, 16, 20));
}

TEST(FetchClient, WhatCannotBeCuredEndsTheFetch) {
  std::string damaged = Records(0, 3);
  damaged[11] = 3;  // Shorter than a header.
  std::string old_format(60, '\0');
  old_format[11] = 48;
  const std::pair<std::string, const char*> cases[] = {
      {FakeBroker::Fetched("", ErrorCode::kOffsetOutOfRange), "t-0 at offset 5"},
      {FakeBroker::Fetched("", ErrorCode::kTopicAuthorizationFailed), "TOPIC_AUTHORIZATION_FAILED"},
      {FakeBroker::Fetched("", ErrorCode::kUnsupportedCompressionType), "'librdkafka'"},
      {FakeBroker::Fetched(damaged), "length 3"},
      {FakeBroker::Fetched(old_format), "format 0"},
      {FakeBroker::Fetched(Records(5, 9).substr(0, 65)), "max.partition.fetch.bytes"},
      {FakeBroker::Fetched(Records(5, 3) + Records(6, 1)), "behind offset 8"},
  };
  for (const auto& [answer, expected] : cases) {
    Script script;
    FakeBroker broker([&](ApiKey key, int16_t) { return script(key); });
    script.broker = &broker;
    script.answers = {answer};
    Fetching fetching(broker.settings());
    fetching.client().Start({.tag = 0, .topic = "t", .partition = 0, .offset = 5});
    const Status status = fetching.RunUntil([] { return false; });
    EXPECT_THAT(status.ToString(), HasSubstr(expected));
    EXPECT_FALSE(status.retriable()) << status.ToString();
  }
}

TEST(FetchClient, FetchesNoMoreThanItMayHold) {
  std::atomic<int> fetches{0};
  FakeBroker* self = nullptr;
  FakeBroker broker([&](ApiKey key, int16_t) -> std::optional<std::string> {
    if (key == ApiKey::kMetadata) return self->Metadata();
    return FakeBroker::Fetched(Records(fetches++ * 100, 100));
  });
  self = &broker;
  Fetching fetching(broker.settings(), 5'000);  // An answer has a good kilobyte.
  fetching.client().Start({.tag = 0, .topic = "t", .partition = 0, .offset = 0});
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GE(fetches.load(), 3);
  EXPECT_LE(fetches.load(), 6);
  ASSERT_TRUE(fetching.RunUntil([&] { return fetching.next_offset >= 3'000; }).ok());
  for (size_t i = 0; i < fetching.offsets.size(); ++i)
    ASSERT_EQ(fetching.offsets[i], static_cast<int64_t>(i));
}

TEST(FetchClient, EndsAtOnceWhileABrokerIsSilent) {
  FakeBroker* self = nullptr;
  std::atomic<bool> release{false};
  FakeBroker broker([&](ApiKey key, int16_t) -> std::optional<std::string> {
    if (key == ApiKey::kMetadata) return self->Metadata();
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return std::nullopt;
  });
  self = &broker;
  const int64_t start_us = Clock::System().MonotonicMicros();
  {
    Fetching fetching(broker.settings());
    fetching.client().Start({.tag = 0, .topic = "t", .partition = 0, .offset = 0});
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_LT(Clock::System().MonotonicMicros() - start_us, 2'000'000);
  release = true;
}

TEST(FetchClient, SaysWhichBrokerDoesNotAnswer) {
  Fetching fetching({.bootstrap = {{"127.0.0.1", 1}}});
  fetching.client().Start({.tag = 0, .topic = "t", .partition = 0, .offset = 0});
  ASSERT_TRUE(fetching.RunUntil([&] { return !fetching.client().trouble().empty(); }).ok());
  EXPECT_THAT(fetching.client().trouble(), HasSubstr("127.0.0.1:1: Connect failed: Connection re"));
}

TEST(FetchClient, CertificatesThatCannotBeReadAreNamed) {
  FetchSettings settings{.bootstrap = {{"127.0.0.1", 1}}};
  settings.tls = TlsSettings{.ca_location = "/nonexistent/ca.pem"};
  const auto made =
      FetchClient::Make(settings, std::make_shared<FetchMemory>(1 << 20, nullptr), [] {});
  EXPECT_THAT(made.status().ToString(), HasSubstr("'ssl.ca.location'"));
  EXPECT_THAT(made.status().ToString(), HasSubstr("/nonexistent/ca.pem"));
}

/// Run by tests/kafka/run_kafka_fetch.py against a broker of Kafka.
TEST(FetchClient, LogsInAtABroker) {
  const char* const broker = std::getenv("SLUICE_TEST_BROKER");
  if (broker == nullptr) GTEST_SKIP() << "SLUICE_TEST_BROKER names no broker.";
  std::string reason;
  const auto settings =
      ReadFetchSettings({{"bootstrap.servers", broker},
                         {"security.protocol", std::getenv("SLUICE_TEST_PROTOCOL")},
                         {"sasl.mechanisms", std::getenv("SLUICE_TEST_MECHANISM")},
                         {"sasl.username", "alice"},
                         {"sasl.password", "alice-secret"},
                         {"ssl.ca.location", std::getenv("SLUICE_TEST_CA")}},
                        &reason);
  ASSERT_TRUE(settings.ok() && settings->has_value()) << reason;
  {
    Fetching fetching(**settings);
    fetching.client().Start({.tag = 0,
                             .topic = std::getenv("SLUICE_TEST_TOPIC"),
                             .partition = 0,
                             .offset = FetchClient::kFromBeginning});
    const auto count = static_cast<size_t>(std::atoi(std::getenv("SLUICE_TEST_COUNT")));
    const Status status = fetching.RunUntil([&] { return fetching.offsets.size() >= count; });
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  FetchSettings wrong = **settings;
  wrong.sasl->password = "not-her-secret";
  Fetching fetching(wrong);
  fetching.client().Start({.tag = 0, .topic = "t", .partition = 0, .offset = 0});
  const Status refused = fetching.RunUntil([] { return false; });
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << refused.ToString();
  EXPECT_THAT(refused.ToString(), ::testing::Not(HasSubstr("not-her-secret")));
}

}  // namespace
}  // namespace sluice::connectors::kafka::fetch
