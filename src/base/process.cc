// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;  // NOLINT: POSIX asks for this declaration

namespace setpoint::base {
namespace {

// SIGINT and SIGQUIT are ignored here for its lifetime.
class IgnoreInterrupts {
 public:
  IgnoreInterrupts() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~IgnoreInterrupts() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }
  IgnoreInterrupts(const IgnoreInterrupts&) = delete;
  IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;

 private:
  struct sigaction interrupt_ = {}, quit_ = {};
};

// Starts it with standard output on `out`; returns errno.
int spawn(const std::vector<std::string>& arguments, int out, pid_t& child) {
  std::vector<char*> words;
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int code = posix_spawnp(&child, words[0], &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return code;
}

std::string read_up_to(int from, std::size_t most_bytes) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t size = ::read(from, buffer.data(), buffer.size());
    if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
    if (text.size() > most_bytes) return text;
    if (size == 0 || (size < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

Result<Ran> run_program(const std::vector<std::string>& arguments, std::size_t most_bytes) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    return Error::environment(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  const IgnoreInterrupts ignore;
  pid_t child = 0;
  const int code = spawn(arguments, pipe[1], child);
  ::close(pipe[1]);
  if (code != 0) {
    ::close(pipe[0]);
    return Error::environment(
        fmt::format("cannot run {}: {}", arguments.front(), std::strerror(code)));
  }
  Ran ran;
  ran.out = read_up_to(pipe[0], most_bytes);
  ::close(pipe[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kSignalled = 128;
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  return ran;
}

Result<int> start_group(const Start& start) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : start.environment) pairs.push_back(name + "=" + value);
  std::vector<char*> words, variables;
  for (const std::string& word : start.arguments) words.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& pair : pairs) variables.push_back(const_cast<char*>(pair.c_str()));
  words.push_back(nullptr);
  variables.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addchdir_np(&files, start.folder.c_str());
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, start.output.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int code =
      posix_spawnp(&child, words[0], &files, &attributes, words.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (code != 0) {
    return Error::environment(
        fmt::format("cannot run {}: {}", start.arguments.front(), std::strerror(code)));
  }
  return child;
}

bool group_alive(int group) {
  int status = 0;
  while (group > 1 && ::waitpid(-group, &status, WNOHANG) > 0) {
  }
  return group > 1 && ::kill(-group, 0) == 0;
}

void kill_group(int group) {
  if (group > 1) ::kill(-group, SIGKILL);
}

}  // namespace setpoint::base
