// For tests: a cluster inside the process (librdkafka's mock brokers), and a way to run a source or
// sink without the runtime.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// The second needs the first.
// clang-format off
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
// clang-format on

#include "connectors/connector.h"
#include "connectors/kafka/kafka_client.h"
#include "connectors/print/row_text.h"

namespace sluice::connectors::kafka {

class MockCluster {
 public:
  explicit MockCluster(int brokers = 1) {
    handle_ = MakeProducer({});
    cluster_ = rd_kafka_mock_cluster_new(handle_, brokers);
    bootstrap_servers_ = rd_kafka_mock_cluster_bootstraps(cluster_);
    UseCompression("none");
  }
  ~MockCluster() {
    rd_kafka_destroy(producer_);
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(handle_);
  }

  const std::string& bootstrap_servers() const { return bootstrap_servers_; }
  rd_kafka_mock_cluster_t* cluster() const { return cluster_; }

  /// How what is produced from now on is compressed.
  void UseCompression(const std::string& codec) {
    if (producer_ != nullptr) rd_kafka_destroy(producer_);
    producer_ = MakeProducer({{"bootstrap.servers", bootstrap_servers_},
                              {"linger.ms", codec == "none" ? "0" : "20"},
                              {"compression.type", codec}});
  }

  void CreateTopic(const std::string& topic, int partitions) {
    rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
  }

  struct Record {
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::map<std::string, std::string> headers = {};
    int64_t timestamp_ms = 0;
  };
  void Produce(const std::string& topic, int32_t partition, const std::vector<Record>& records) {
    for (const Record& record : records) {
      rd_kafka_headers_t* headers = rd_kafka_headers_new(1);
      for (const auto& [name, value] : record.headers) {
        rd_kafka_header_add(headers, name.data(), -1, value.data(),
                            static_cast<ssize_t>(value.size()));
      }
      void* const value = record.value ? const_cast<char*>(record.value->data()) : nullptr;
      void* const key = record.key ? const_cast<char*>(record.key->data()) : nullptr;
      const size_t value_size = record.value ? record.value->size() : 0;
      const size_t key_size = record.key ? record.key->size() : 0;
      const rd_kafka_resp_err_t error = rd_kafka_producev(
          producer_, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(partition),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(value, value_size),
          RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_TIMESTAMP(record.timestamp_ms),
          RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
      SLUICE_CHECK(error == RD_KAFKA_RESP_ERR_NO_ERROR, rd_kafka_err2str(error));
    }
    rd_kafka_flush(producer_, 10'000);
  }
  void ProduceValues(const std::string& topic, int32_t partition,
                     const std::vector<std::string>& values) {
    std::vector<Record> records;
    for (const std::string& value : values) records.push_back({.value = value});
    Produce(topic, partition, records);
  }

 private:
  static rd_kafka_t* MakeProducer(const std::map<std::string, std::string>& settings) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char text[256];
    for (const auto& [name, value] : settings)
      rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof(text));
    rd_kafka_t* handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    SLUICE_CHECK(handle != nullptr, text);
    return handle;
  }

  rd_kafka_t* handle_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
  rd_kafka_t* producer_ = nullptr;
  std::string bootstrap_servers_;
};

/// Rows as print writes them, and what else was emitted.
class RowsOutput final : public runtime::Output {
 public:
  explicit RowsOutput(Schema schema) : schema_(std::move(schema)) {}
  Status Emit(Batch batch) override {
    for (int64_t row = 0; row < batch.row_count(); ++row)
      AppendRowText(schema_, batch, row, &rows.emplace_back());
    return {};
  }
  Status EmitWatermark(int64_t millis) override {
    watermarks.push_back(millis);
    return {};
  }
  Status EmitIdle(bool) override { return {}; }
  Status StopInput() override { return {}; }

  std::vector<std::string> rows;
  std::vector<int64_t> watermarks;

 private:
  const Schema schema_;
};

/// Lets the test's thread sleep until a task would run again.
class Waker {
 public:
  void Wake() {
    const std::lock_guard lock(mutex_);
    awake_ = true;
    condition_.notify_all();
  }
  void WaitFor(int64_t millis) {
    std::unique_lock lock(mutex_);
    condition_.wait_for(lock, std::chrono::milliseconds(millis), [&] { return awake_; });
    awake_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool awake_ = false;
};

}  // namespace sluice::connectors::kafka
