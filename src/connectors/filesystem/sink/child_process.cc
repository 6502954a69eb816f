#include "connectors/filesystem/sink/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "common/text.h"

extern char** environ;

namespace sluice::connectors::filesystem {
namespace {

constexpr size_t kOutputLimit = 64 << 10;
constexpr size_t kErrorLimit = 4 << 10;
/// How often it is looked whether the command has ended.
constexpr int kLookMs = 20;

/// A pipe whose ends do not reach other children.
struct Pipe {
  int read = -1;
  int write = -1;

  bool Open() {
    std::array<int, 2> ends;
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  static void Close(int* end) {
    if (*end >= 0) close(*end);
    *end = -1;
  }
  ~Pipe() {
    Close(&read);
    Close(&write);
  }
};

class Child {
 public:
  explicit Child(const CommandRequest& request)
      : request_(request),
        deadline_(std::chrono::steady_clock::now() +
                  std::chrono::milliseconds(request.timeout_ms)) {}

  Result<CommandResult> Run() {
    if (!input_.Open() || !output_.Open() || !errors_.Open()) return Failed("open pipes", errno);
    const int error = Spawn();
    if (error != 0) return Failed("start", error);
    Pipe::Close(&input_.read);
    Pipe::Close(&output_.write);
    Pipe::Close(&errors_.write);
    fcntl(input_.write, F_SETFL, O_NONBLOCK);
    if (!Talk() || !WaitForEnd()) {
      kill(-process_, SIGKILL);  // The whole group: what a shell started as well.
      if (!ended_) waitpid(process_, nullptr, 0);
      return Status::Unavailable("The command '" + request_.command + "' did not end within " +
                                 std::to_string(request_.timeout_ms) +
                                 " ms and was killed. 'sink.partition-commit.policy.timeout' "
                                 "allows more.");
    }
    return std::move(result_);
  }

 private:
  Status Failed(const char* what, int error) const {
    return Status::Unavailable(std::string("Cannot ") + what + " for the command '" +
                               request_.command + "': " + std::strerror(error) + ".");
  }

  int Spawn() {
    std::vector<std::string> texts;
    for (char** entry = environ; *entry != nullptr; ++entry) texts.emplace_back(*entry);
    for (const auto& [name, value] : request_.environment) texts.push_back(name + "=" + value);
    std::vector<char*> variables;
    for (std::string& text : texts) variables.push_back(text.data());
    variables.push_back(nullptr);
    std::string shell = "/bin/sh", flag = "-c", command = request_.command;
    char* arguments[] = {shell.data(), flag.data(), command.data(), nullptr};

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input_.read, 0);
    posix_spawn_file_actions_adddup2(&actions, output_.write, 1);
    posix_spawn_file_actions_adddup2(&actions, errors_.write, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // A group of its own: Ctrl-C at the terminal is for us, and we can kill all of it. Signals that
    // this program blocks or ignores mean what they always mean.
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error =
        posix_spawn(&process_, shell.c_str(), &actions, &attributes, arguments, variables.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
  }

  int LeftMillis() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<int64_t>(left.count(), 0));
  }

  /// Feeds and reads until both outputs are closed, or the command has ended: what it has started
  /// in the background may keep them open. False at the deadline.
  bool Talk() {
    size_t sent = 0;
    sigset_t pipe_signal, before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);  // A command may not want its input.
    bool in_time = true;
    while (output_.read >= 0 || errors_.read >= 0) {
      if (sent == request_.input.size()) Pipe::Close(&input_.write);
      pollfd ends[] = {
          {output_.read, POLLIN, 0}, {errors_.read, POLLIN, 0}, {input_.write, POLLOUT, 0}};
      const int ready = poll(ends, 3, std::min(LeftMillis(), kLookMs));
      if (ready < 0 && errno == EINTR) continue;
      if (Ended()) {
        Drain(&output_.read, kOutputLimit, false, &result_.output);
        Drain(&errors_.read, kErrorLimit, true, &result_.errors);
        break;
      }
      if (LeftMillis() == 0) {
        in_time = false;
        break;
      }
      if (ends[0].revents != 0) Read(&output_.read, kOutputLimit, false, &result_.output);
      if (ends[1].revents != 0) Read(&errors_.read, kErrorLimit, true, &result_.errors);
      if (ends[2].revents != 0) {
        const ssize_t count =
            write(input_.write, request_.input.data() + sent, request_.input.size() - sent);
        if (count >= 0) sent += static_cast<size_t>(count);
        if (count < 0 && errno != EAGAIN && errno != EINTR) sent = request_.input.size();
      }
    }
    const timespec now = {0, 0};
    while (sigtimedwait(&pipe_signal, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return in_time;
  }

  static void Read(int* end, size_t limit, bool keep_last, std::string* text) {
    char buffer[4096];
    const ssize_t count = read(*end, buffer, sizeof(buffer));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) return Pipe::Close(end);
    text->append(buffer, static_cast<size_t>(count));
    if (text->size() <= limit) return;
    keep_last ? text->erase(0, text->size() - limit) : text->erase(limit);
  }

  /// What is in the pipe; no more than a pipe holds, as others may still write into it.
  static void Drain(int* end, size_t limit, bool keep_last, std::string* text) {
    for (size_t bytes = 0; *end >= 0 && bytes < (1 << 20); bytes += 4096) {
      pollfd one = {*end, POLLIN, 0};
      if (poll(&one, 1, 0) <= 0) return;
      Read(end, limit, keep_last, text);
    }
  }

  bool Ended() {
    int status = 0;
    if (ended_ || waitpid(process_, &status, WNOHANG) != process_) return ended_;
    result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ended_ = true;
  }

  /// Its outputs are closed; it may go on for a while.
  bool WaitForEnd() {
    while (!Ended()) {
      if (LeftMillis() == 0) return false;
      poll(nullptr, 0, 5);
    }
    return true;
  }

  const CommandRequest& request_;
  const std::chrono::steady_clock::time_point deadline_;
  Pipe input_, output_, errors_;
  pid_t process_ = -1;
  bool ended_ = false;  // And waited for.
  CommandResult result_;
};

}  // namespace

Result<CommandResult> RunCommand(const CommandRequest& request) { return Child(request).Run(); }

std::string HowItEnded(const CommandResult& result) {
  constexpr size_t kMostLines = 10;
  constexpr size_t kMostBytes = 300;
  std::string text = "ended with " + std::to_string(result.exit_code);
  const std::string_view errors = TrimAscii(result.errors);
  if (errors.empty()) return text + " and said nothing on its standard error";
  const std::vector<std::string_view> lines = Split(errors, '\n');
  const size_t first = lines.size() - std::min(lines.size(), kMostLines);
  for (size_t i = first; i < lines.size(); ++i) {
    text += (i == first ? ": " : "\n") + Printable(lines[i], kMostBytes);
  }
  return text;
}

}  // namespace sluice::connectors::filesystem
