// What librdkafka gives when nothing is done with its messages:
// limit_kafka_drain BROKER TOPIC PARTITION COUNT
#include <cstdlib>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "limit.h"

namespace {

bool Set(rd_kafka_conf_t* conf, const char* key, const char* value) {
  char error[512];
  if (rd_kafka_conf_set(conf, key, value, error, sizeof(error)) == RD_KAFKA_CONF_OK) return true;
  std::fprintf(stderr, "%s\n", error);
  return false;
}

/// Takes `count` messages and returns the bytes of their values, 0 on an error.
double Drain(rd_kafka_topic_t* topic, int32_t partition, int64_t count) {
  std::vector<rd_kafka_message_t*> messages(10'000);
  double bytes = 0;
  for (int64_t seen = 0; seen < count;) {
    const ssize_t got =
        rd_kafka_consume_batch(topic, partition, 1000, messages.data(), messages.size());
    if (got < 0) return 0;
    for (ssize_t i = 0; i < got; ++i) {
      rd_kafka_message_t* message = messages[static_cast<size_t>(i)];
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        bytes += static_cast<double>(message->len);
        ++seen;
      }
      rd_kafka_message_destroy(message);
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s BROKER TOPIC PARTITION COUNT\n", argv[0]);
    return 2;
  }
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  if (!Set(conf, "bootstrap.servers", argv[1]) ||
      !Set(conf, "fetch.message.max.bytes", "8388608") ||
      !Set(conf, "queued.min.messages", "1000000") ||
      !Set(conf, "queued.max.messages.kbytes", "524288")) {
    return 1;
  }
  char error[512];
  rd_kafka_t* kafka = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof(error));
  if (kafka == nullptr) {
    std::fprintf(stderr, "%s\n", error);
    return 1;
  }
  rd_kafka_topic_t* topic = rd_kafka_topic_new(kafka, argv[2], nullptr);
  const auto partition = static_cast<int32_t>(std::atoi(argv[3]));
  const int64_t count = std::atoll(argv[4]);
  const sluice::bench::Stopwatch watch;
  if (rd_kafka_consume_start(topic, partition, RD_KAFKA_OFFSET_BEGINNING) != 0) return 1;
  const double bytes = Drain(topic, partition, count);
  sluice::bench::Report("kafka drain", "rows", static_cast<double>(count), watch);
  rd_kafka_consume_stop(topic, partition);
  rd_kafka_topic_destroy(topic);
  rd_kafka_destroy(kafka);
  return bytes > 0 ? 0 : 1;
}
