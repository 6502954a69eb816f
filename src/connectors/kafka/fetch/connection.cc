#include "connectors/kafka/fetch/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <netdb.h>
#include <openssl/err.h>

#include "common/clock.h"
#include "connectors/kafka/fetch/scram.h"
#include "connectors/kafka/fetch/wire.h"

namespace sluice::connectors::kafka::fetch {
namespace {

int64_t NowUs() { return Clock::System().MonotonicMicros(); }

struct AddressInfoDeleter {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using AddressInfoPtr = std::unique_ptr<addrinfo, AddressInfoDeleter>;

std::string_view MechanismName(SaslMechanism mechanism) {
  switch (mechanism) {
    case SaslMechanism::kScramSha256:
      return "SCRAM-SHA-256";
    case SaslMechanism::kScramSha512:
      return "SCRAM-SHA-512";
    case SaslMechanism::kPlain:
      break;
  }
  return "PLAIN";
}

Status Refused(const std::string& address, const std::string& why) {
  return Status::InvalidArgument("Broker " + address + " refuses the login: " + why +
                                 ". Check 'properties.security.protocol', 'properties.sasl.*' and "
                                 "the access rules of the cluster.");
}

}  // namespace

Interrupt::Interrupt() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
Interrupt::~Interrupt() {
  if (fd_ >= 0) ::close(fd_);
}
void Interrupt::Raise() {
  raised_.store(true, std::memory_order_release);
  const uint64_t one = 1;
  (void)!::write(fd_, &one, sizeof(one));
}

Result<std::unique_ptr<const ConnectionContext>> ConnectionContext::Make(
    FetchSettings settings, std::shared_ptr<FetchMemory> memory, const Interrupt* interrupt) {
  auto context = std::make_unique<ConnectionContext>();
  context->settings = std::move(settings);
  context->memory = std::move(memory);
  context->interrupt = interrupt;
  if (context->settings.tls) {
    SLUICE_ASSIGN_OR_RETURN(context->tls, MakeTlsContext(*context->settings.tls));
  }
  return std::unique_ptr<const ConnectionContext>(std::move(context));
}

Connection::Connection(const ConnectionContext& context, const BrokerAddress& address)
    : context_(context), address_(address) {}

Connection::~Connection() {
  if (tls_) {
    SSL_shutdown(tls_.get());  // Tells the other side; its answer is not waited for.
    ERR_clear_error();
  }
  if (socket_ >= 0) ::close(socket_);
}

Status Connection::Trouble(const std::string& what) const {
  return Status::Unavailable(address_.ToText() + ": " + what).Retriable();
}

Result<std::unique_ptr<Connection>> Connection::Open(const ConnectionContext& context,
                                                     const BrokerAddress& address) {
  std::unique_ptr<Connection> connection(new Connection(context, address));
  SLUICE_RETURN_NOT_OK(connection->Connect());
  const int64_t timeout_ms = context.settings.request_timeout_ms;
  SLUICE_ASSIGN_OR_RETURN(const Answer answer,
                          connection->Call(ApiKey::kApiVersions, 0, "", timeout_ms));
  SLUICE_ASSIGN_OR_RETURN(connection->versions_, DecodeApiVersions(answer.body));
  if (context.settings.sasl) SLUICE_RETURN_NOT_OK(connection->LogIn());
  return connection;
}

bool Connection::expires() const { return NowUs() >= expires_us_; }

// ---- Socket ----

Status Connection::Connect() {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  const int error =
      ::getaddrinfo(address_.host.c_str(), std::to_string(address_.port).c_str(), &hints, &raw);
  if (error != 0) return Trouble(std::string("Cannot find the host: ") + ::gai_strerror(error));
  const AddressInfoPtr list(raw);
  Status status = Trouble("The host has no address");
  for (const addrinfo* info = list.get(); info != nullptr; info = info->ai_next) {
    status = ConnectTo(info);
    if (status.ok() || status.code() == StatusCode::kCancelled) break;
  }
  SLUICE_RETURN_NOT_OK(status);
  if (!context_.tls) return {};
  return StartTls(NowUs() + context_.settings.connect_timeout_ms * 1000);
}

Status Connection::ConnectTo(const void* info) {
  const auto& address = *static_cast<const addrinfo*>(info);
  if (socket_ >= 0) ::close(socket_);
  socket_ = ::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                     address.ai_protocol);
  if (socket_ < 0) return Trouble(std::string("Cannot make a socket: ") + std::strerror(errno));
  SetOptions();
  if (::connect(socket_, address.ai_addr, address.ai_addrlen) == 0) return {};
  if (errno != EINPROGRESS) return Trouble(std::string("Connect failed: ") + std::strerror(errno));
  SLUICE_RETURN_NOT_OK(Wait(POLLOUT, NowUs() + context_.settings.connect_timeout_ms * 1000));
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return Trouble(std::string("Connect failed: ") + std::strerror(error));
  return {};
}

void Connection::SetOptions() const {
  const int one = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  ::setsockopt(socket_, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
  const FetchSettings& settings = context_.settings;
  if (settings.receive_buffer_bytes > 0)
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &settings.receive_buffer_bytes, sizeof(int));
  if (settings.send_buffer_bytes > 0)
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &settings.send_buffer_bytes, sizeof(int));
}

Status Connection::Wait(short events, int64_t deadline_us) const {
  while (true) {
    if (context_.interrupt->raised()) return Status::Cancelled("The fetch ends.");
    const int64_t left_us = deadline_us - NowUs();
    if (left_us <= 0) return Trouble("The broker does not answer");
    pollfd fds[] = {{socket_, events, 0}, {context_.interrupt->fd(), POLLIN, 0}};
    const int64_t left_ms = std::min<int64_t>(left_us / 1000 + 1, 60'000);
    const int ready = ::poll(fds, 2, static_cast<int>(left_ms));
    if (ready < 0 && errno != EINTR) return Trouble(std::string("poll: ") + std::strerror(errno));
    if (ready > 0 && fds[0].revents != 0) return {};
  }
}

Status Connection::WaitForTls(int result, int64_t deadline_us) const {
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Wait(POLLIN, deadline_us);
    case SSL_ERROR_WANT_WRITE:
      return Wait(POLLOUT, deadline_us);
    case SSL_ERROR_ZERO_RETURN:
      return Trouble("The broker has closed the connection");
    default:
      break;
  }
  const std::string reason = TlsError(tls_.get());
  return Trouble("TLS failed: " + (reason.empty() ? "the connection was closed" : reason));
}

Status Connection::StartTls(int64_t deadline_us) {
  SLUICE_ASSIGN_OR_RETURN(
      tls_, MakeTlsSession(context_.tls.get(), *context_.settings.tls, address_.host, socket_));
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(tls_.get());
    if (result == 1) return {};
    SLUICE_RETURN_NOT_OK(WaitForTls(result, deadline_us));
  }
}

Status Connection::Write(std::string_view bytes, int64_t deadline_us) {
  while (!bytes.empty()) {
    ssize_t written = 0;
    if (tls_) {
      ERR_clear_error();
      written = SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()));
      if (written <= 0) {
        SLUICE_RETURN_NOT_OK(WaitForTls(static_cast<int>(written), deadline_us));
        continue;
      }
    } else {
      written = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (written < 0 && (errno == EAGAIN || errno == EINTR)) {
        SLUICE_RETURN_NOT_OK(Wait(POLLOUT, deadline_us));
        continue;
      }
      if (written < 0) return Trouble(std::string("Cannot send: ") + std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status Connection::Read(char* out, size_t size, int64_t deadline_us) {
  while (size > 0) {
    ssize_t read = 0;
    if (tls_) {
      ERR_clear_error();
      read = SSL_read(tls_.get(), out, static_cast<int>(std::min<size_t>(size, INT32_MAX)));
      if (read <= 0) {
        SLUICE_RETURN_NOT_OK(WaitForTls(static_cast<int>(read), deadline_us));
        continue;
      }
    } else {
      read = ::recv(socket_, out, size, 0);
      if (read < 0 && (errno == EAGAIN || errno == EINTR)) {
        SLUICE_RETURN_NOT_OK(Wait(POLLIN, deadline_us));
        continue;
      }
      if (read < 0) return Trouble(std::string("Cannot receive: ") + std::strerror(errno));
      if (read == 0) return Trouble("The broker has closed the connection");
    }
    out += read;
    size -= static_cast<size_t>(read);
  }
  return {};
}

// ---- Requests ----

Result<Answer> Connection::Call(ApiKey key, int16_t version, std::string_view body,
                                int64_t timeout_ms) {
  const int64_t deadline_us = NowUs() + timeout_ms * 1000;
  const int32_t id = ++correlation_id_;
  WireWriter request;
  request.LongBytes(EncodeRequest(key, version, id, context_.settings.client_id, body));
  SLUICE_RETURN_NOT_OK(Write(request.bytes(), deadline_us));

  constexpr size_t kIdBytes = 4;
  char head[4];
  SLUICE_RETURN_NOT_OK(Read(head, sizeof(head), deadline_us));
  const int32_t size = WireReader({head, sizeof(head)}).I32();
  if (size < static_cast<int32_t>(kIdBytes) || size > context_.settings.max_answer_bytes) {
    return Trouble("The answer claims " + std::to_string(size) +
                   " bytes. Is this a Kafka broker, and the security protocol right? (At most "
                   "'properties.receive.message.max.bytes' = " +
                   std::to_string(context_.settings.max_answer_bytes) + " are taken.)");
  }
  Answer answer;
  answer.buffer = std::make_shared<FetchBuffer>(context_.memory, static_cast<size_t>(size));
  SLUICE_RETURN_NOT_OK(Read(answer.buffer->data(), static_cast<size_t>(size), deadline_us));
  const std::string_view bytes = answer.buffer->bytes();
  if (WireReader(bytes).I32() != id) return Trouble("The answer belongs to another request");
  answer.body = bytes.substr(kIdBytes);
  return answer;
}

// ---- Login ----

Status Connection::LogIn() {
  const std::string_view mechanism = MechanismName(context_.settings.sasl->mechanism);
  SLUICE_ASSIGN_OR_RETURN(const int16_t handshake, VersionOf(ApiKey::kSaslHandshake));
  SLUICE_ASSIGN_OR_RETURN(const int16_t authenticate, VersionOf(ApiKey::kSaslAuthenticate));
  SLUICE_ASSIGN_OR_RETURN(const Answer answer,
                          Call(ApiKey::kSaslHandshake, handshake, EncodeSaslHandshake(mechanism),
                               context_.settings.request_timeout_ms));
  SLUICE_ASSIGN_OR_RETURN(const SaslHandshakeAnswer offered, DecodeSaslHandshake(answer.body));
  if (offered.error != ErrorCode::kNone) {
    std::string list;
    for (const std::string& name : offered.mechanisms) list += (list.empty() ? "" : ", ") + name;
    return Refused(address_.ToText(), ErrorName(offered.error) + " (" + std::string(mechanism) +
                                          "; it offers: " + list + ")");
  }
  return context_.settings.sasl->mechanism == SaslMechanism::kPlain ? LogInPlain(authenticate)
                                                                    : LogInScram(authenticate);
}

Status Connection::LogInPlain(int16_t version) {
  const SaslSettings& sasl = *context_.settings.sasl;
  const std::string message = std::string(1, '\0') + sasl.username + '\0' + sasl.password;
  return Authenticate(version, message).status();
}

Status Connection::LogInScram(int16_t version) {
  SLUICE_ASSIGN_OR_RETURN(std::string nonce, MakeNonce());
  ScramClient client(*context_.settings.sasl, std::move(nonce));
  SLUICE_ASSIGN_OR_RETURN(const std::string first, Authenticate(version, client.FirstMessage()));
  SLUICE_ASSIGN_OR_RETURN(const std::string final_message, client.FinalMessage(first));
  SLUICE_ASSIGN_OR_RETURN(const std::string last, Authenticate(version, final_message));
  return client.CheckServer(last);
}

Result<std::string> Connection::Authenticate(int16_t version, const std::string& bytes) {
  SLUICE_ASSIGN_OR_RETURN(const Answer answer,
                          Call(ApiKey::kSaslAuthenticate, version, EncodeSaslAuthenticate(bytes),
                               context_.settings.request_timeout_ms));
  SLUICE_ASSIGN_OR_RETURN(SaslAuthenticateAnswer result,
                          DecodeSaslAuthenticate(version, answer.body));
  if (result.error != ErrorCode::kNone) {
    return Refused(address_.ToText(),
                   ErrorName(result.error) + (result.message.empty() ? "" : ": " + result.message));
  }
  if (result.session_lifetime_ms > 0) {
    // The broker cuts a session at its end (KIP-368); a new one is begun a little before.
    const int64_t lifetime_ms = std::min<int64_t>(result.session_lifetime_ms, 86'400'000);
    expires_us_ = NowUs() + lifetime_ms * 850;
  }
  return std::move(result.bytes);
}

}  // namespace sluice::connectors::kafka::fetch
