#include "connectors/kafka/kafka_client.h"

#include <chrono>
#include <condition_variable>
#include <system_error>
#include <thread>

#include "common/threads_left_behind.h"

namespace sluice::connectors::kafka {
namespace {

constexpr auto kDestroyPatience = std::chrono::seconds(1);

// Waits for the end of a client, or is told that nobody waits any more.
class ClientEnd {
 public:
  void Reach() {
    const std::lock_guard lock(mutex_);
    reached_ = true;
    if (left_) ThreadsLeftBehind::Remove();
    bell_.notify_all();
  }
  void WaitOrLeave() {
    std::unique_lock lock(mutex_);
    if (bell_.wait_for(lock, kDestroyPatience, [this] { return reached_; })) return;
    left_ = true;
    ThreadsLeftBehind::Add();
  }

 private:
  std::mutex mutex_;
  std::condition_variable bell_;
  bool reached_ = false;
  bool left_ = false;
};

void Destroy(rd_kafka_t* handle) {
  // The library closes a member of a group politely; ours never joined one.
  rd_kafka_destroy_flags(handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

bool IsPermanent(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return true;
    default:
      return false;
  }
}

}  // namespace

Status KafkaError(rd_kafka_resp_err_t error, std::string what, std::string_view detail) {
  std::string message =
      std::move(what) + ": " + rd_kafka_err2str(error) + " (" + rd_kafka_err2name(error) + ").";
  if (!detail.empty()) message += " " + std::string(detail);
  switch (error) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
      return Status::NotFound(std::move(message)).Retriable();
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return Status::InvalidArgument(
          message +
          " Check 'properties.security.protocol', 'properties.sasl.*' and the "
          "access rules of the cluster.");
    default:
      break;
  }
  if (IsPermanent(error)) return Status::IoError(std::move(message)).Retriable(false);
  return Status::Unavailable(std::move(message)).Retriable();
}

Result<std::shared_ptr<KafkaClient>> KafkaClient::Make(const ClientConfig& config, ClientRole role,
                                                       DeliveryReport delivered) {
  std::shared_ptr<KafkaClient> client(new KafkaClient());
  client->shared_->bootstrap_servers = config.bootstrap_servers;
  client->shared_->delivered = std::move(delivered);
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char text[512] = "";
  for (const auto& [name, value] : config.settings) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof(text)) !=
        RD_KAFKA_CONF_OK) {
      rd_kafka_conf_destroy(conf);
      return Status::InvalidArgument("The Kafka client refuses its setting '" + name + "'.");
    }
  }
  rd_kafka_conf_set_opaque(conf, client->shared_.get());
  rd_kafka_conf_set_error_cb(conf, &KafkaClient::OnError);
  rd_kafka_conf_set_log_cb(conf, &KafkaClient::OnLog);
  if (role == ClientRole::kProducer) rd_kafka_conf_set_dr_msg_cb(conf, &KafkaClient::OnDelivery);
  client->handle_ =
      rd_kafka_new(role == ClientRole::kProducer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf,
                   text, sizeof(text));
  if (client->handle_ == nullptr) {
    rd_kafka_conf_destroy(conf);  // Only a client that was made owns its configuration.
    return Status::InvalidArgument("Cannot make a Kafka client for " + config.bootstrap_servers +
                                   ": " + text + ". Check the table's 'properties.*'.");
  }
  return client;
}

KafkaClient::~KafkaClient() {
  if (handle_ == nullptr) return;
  shared_->delivered = nullptr;  // It belongs to whoever lets go of the client.
  const auto end = std::make_shared<ClientEnd>();
  try {
    std::thread([handle = handle_, shared = shared_, end] {
      Destroy(handle);
      end->Reach();
    }).detach();
  } catch (const std::system_error&) {  // There are no more threads to be had.
    Destroy(handle_);
    return;
  }
  end->WaitOrLeave();
}

std::string KafkaClient::trouble() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->trouble;
}

void KafkaClient::ClearTrouble() {
  const std::lock_guard lock(shared_->mutex);
  shared_->trouble.clear();
}

std::optional<Status> KafkaClient::fatal() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->fatal;
}

void KafkaClient::OnError(rd_kafka_t* handle, int error, const char* reason, void* opaque) {
  auto* const self = static_cast<Shared*>(opaque);
  auto code = static_cast<rd_kafka_resp_err_t>(error);
  std::string text = reason == nullptr ? "" : reason;
  bool fatal = code == RD_KAFKA_RESP_ERR__AUTHENTICATION ||
               code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED;
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    char detail[512] = "";
    code = rd_kafka_fatal_error(handle, detail, sizeof(detail));
    text = detail;
    fatal = true;
  }
  const std::lock_guard lock(self->mutex);
  // "All brokers are down" says less than the error of the last broker, which came before it.
  if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || self->trouble.empty()) self->trouble = text;
  if (fatal && !self->fatal) {
    self->fatal =
        KafkaError(code, "The Kafka client of " + self->bootstrap_servers + " has failed", text);
  }
}

void KafkaClient::OnLog(const rd_kafka_t* handle, int level, const char* facility,
                        const char* text) {
  auto* const self = static_cast<Shared*>(rd_kafka_opaque(handle));
  std::string line = std::string("Kafka client: ") + text;
  (void)facility;
  constexpr int kSyslogError = 3;
  if (self != nullptr && level <= kSyslogError) {
    self->log.Warn(line);
  } else {
    Log(LogLevel::kDebug, line);
  }
}

void KafkaClient::OnDelivery(rd_kafka_t* handle, const rd_kafka_message_t* message, void* opaque) {
  (void)handle;
  auto* const self = static_cast<Shared*>(opaque);
  if (self->delivered) self->delivered(*message);
}

}  // namespace sluice::connectors::kafka
