// One connection to a broker: socket, TLS, login, one request at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"
#include "connectors/kafka/fetch/fetch_buffer.h"
#include "connectors/kafka/fetch/fetch_settings.h"
#include "connectors/kafka/fetch/interrupt.h"
#include "connectors/kafka/fetch/requests.h"
#include "connectors/kafka/fetch/tls.h"

namespace sluice::connectors::kafka::fetch {

/// What connections of one client share. Immutable.
struct ConnectionContext {
  FetchSettings settings;
  SslContextPtr tls;  // Null: plain.
  std::shared_ptr<FetchMemory> memory;
  const Interrupt* interrupt = nullptr;

  static Result<std::unique_ptr<const ConnectionContext>> Make(FetchSettings settings,
                                                               std::shared_ptr<FetchMemory> memory,
                                                               const Interrupt* interrupt);
};

/// The bytes of an answer behind its correlation id.
struct Answer {
  std::shared_ptr<FetchBuffer> buffer;
  std::string_view body;
};

/// Blocks while it waits, at most as long as its time limits say; an Interrupt ends every wait at
/// once with kCancelled. After an error the connection is of no use any more. Not thread-safe.
class Connection {
 public:
  /// Connects, and logs in when the settings say so. Errors name the address; refused credentials
  /// are kInvalidArgument, the rest is retriable.
  static Result<std::unique_ptr<Connection>> Open(const ConnectionContext& context,
                                                  const BrokerAddress& address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// The version to speak `key` in; fails when there is none.
  Result<int16_t> VersionOf(ApiKey key) const { return ChooseVersion(versions_, key); }

  Result<Answer> Call(ApiKey key, int16_t version, std::string_view body, int64_t timeout_ms);

  /// True when the broker will end the session soon: connect anew before the next request.
  bool expires() const;

 private:
  Connection(const ConnectionContext& context, const BrokerAddress& address);

  Status Connect();
  Status ConnectTo(const void* info);
  void SetOptions() const;
  Status StartTls(int64_t deadline_us);
  Status LogIn();
  Status LogInPlain(int16_t version);
  Status LogInScram(int16_t version);
  Result<std::string> Authenticate(int16_t version, const std::string& bytes);

  /// Waits until the socket can be read or written.
  Status Wait(short events, int64_t deadline_us) const;
  Status WaitForTls(int result, int64_t deadline_us) const;
  Status Write(std::string_view bytes, int64_t deadline_us);
  Status Read(char* out, size_t size, int64_t deadline_us);
  Status Trouble(const std::string& what) const;

  const ConnectionContext& context_;
  const BrokerAddress address_;
  int socket_ = -1;
  SslPtr tls_;
  ApiVersions versions_;
  int32_t correlation_id_ = 0;
  int64_t expires_us_ = INT64_MAX;
};

}  // namespace sluice::connectors::kafka::fetch
