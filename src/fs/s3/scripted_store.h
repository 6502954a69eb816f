// A store for tests: answers each request with what a script says and remembers what it was asked.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice::fs::s3 {

/// One connection at a time, closed after each answer: enough for tests of single requests.
class ScriptedStore {
 public:
  struct Request {
    std::string line;  // "PUT /bucket/key?x=y HTTP/1.1".
    std::string head;  // All header lines.
    std::string body;
  };
  /// What is sent back, as it is; "" closes the connection without an answer.
  using Answer = std::function<std::string(const Request&)>;

  explicit ScriptedStore(Answer answer) : answer_(std::move(answer)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    (void)::listen(socket_, 64);
    socklen_t size = sizeof(address);
    (void)::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~ScriptedStore() {
    stopping_ = true;
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  static std::string Http(int status, const std::string& body, const std::string& headers = "") {
    return "HTTP/1.1 " + std::to_string(status) +
           " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n" +
           headers + "\r\n" + body;
  }
  static std::string Error(int status, const std::string& code, const std::string& more = "") {
    return Http(status,
                "<Error><Code>" + code + "</Code><Message>because</Message>" + more + "</Error>");
  }

 private:
  void Run() {
    while (!stopping_) {
      const int connection = ::accept(socket_, nullptr, nullptr);
      if (connection < 0) return;
      Request request;
      if (Read(connection, &request)) {
        {
          const std::lock_guard lock(mutex_);
          requests_.push_back(request);
        }
        const std::string answer = answer_(request);
        for (size_t sent = 0; sent < answer.size();) {
          const ssize_t step =
              ::send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
          if (step <= 0) break;
          sent += static_cast<size_t>(step);
        }
      }
      ::close(connection);
    }
  }

  static bool Read(int connection, Request* request) {
    std::string text;
    size_t head_end = std::string::npos;
    size_t wanted = 0;
    char buffer[65536];
    while (head_end == std::string::npos || text.size() < head_end + wanted) {
      const ssize_t count = ::recv(connection, buffer, sizeof(buffer), 0);
      if (count <= 0) return false;
      text.append(buffer, static_cast<size_t>(count));
      if (head_end != std::string::npos) continue;
      const size_t blank = text.find("\r\n\r\n");
      if (blank == std::string::npos) continue;
      head_end = blank + 4;
      const size_t length = text.find("Content-Length: ");
      if (length < head_end) wanted = std::stoul(text.substr(length + 16));
    }
    const size_t line_end = text.find("\r\n");
    request->line = text.substr(0, line_end);
    request->head = text.substr(line_end + 2, head_end - line_end - 2);
    request->body = text.substr(head_end);
    return true;
  }

  const Answer answer_;
  int socket_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  std::thread thread_;
};

}  // namespace sluice::fs::s3
