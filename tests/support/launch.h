// SPDX-License-Identifier: Apache-2.0
// Runs generated scripts with stand-ins for the engines on PATH (stand_in.py) in a folder of its
// own. Every wait is bounded.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "setpoint/generate.h"

namespace setpoint::generate {

inline bool poll(const std::function<bool()>& done, double seconds = 30) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

// The first of `count` ports of this machine in a row that nobody listens on.
inline std::int64_t free_ports(std::int64_t count) {
  std::random_device random;
  const auto free = [](std::int64_t port) {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    const bool ok = bind(s, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(s);
    return ok;
  };
  while (true) {  // below the range that the kernel gives out by itself
    const std::int64_t first = std::uniform_int_distribution<>(10000, 30000)(random);
    bool all = true;
    for (std::int64_t i = 0; all && i < count; ++i) all = free(first + i);
    if (all) return first;
  }
}

class Launch {
 public:
  explicit Launch(const std::vector<File>& files, const std::vector<std::string>& more = {}) {
    char name[] = "/tmp/setpoint-launch-XXXXXX";
    folder_ = mkdtemp(name);
    for (const char* part : {"plan", "bin", "stand-in"}) {
      std::filesystem::create_directory(folder_ / part);
    }
    for (const File& file : files) write("plan/" + file.path, file.text, file.executable);
    auto text = base::read_file(SETPOINT_SOURCE_DIR "/tests/support/stand_in.py");
    std::vector<std::string> names{"vllm",  "trtllm-serve", "trtllm-llmapi-launch",
                                   "nginx", "mpirun",       "sglang-server"};
    for (const std::string& engine : names) write("bin/" + engine, *text, true);
    // python3 -m sglang.launch_server ..: the module is the stand-in too, all else the real thing.
    write("bin/python3",
          "#!/usr/bin/env bash\ncase \"${2:-}\" in sglang*) m=$2; shift 2; "
          "exec -a \"$m\" \"$REAL_PYTHON\" \"$STAND_IN/../bin/$m\" \"$@\";; esac\n"
          "exec \"$REAL_PYTHON\" \"$@\"\n",
          true);
    write("bin/python", *base::read_file(folder_ / "bin/python3"), true);
    for (const char* module : {"sglang.launch_server", "sglang_router.launch_router"}) {
      write(std::string("bin/") + module, *text, true);
    }
    for (std::size_t i = 0; i + 1 < more.size(); i += 2) write("bin/" + more[i], more[i + 1], true);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() {
    if (child_ > 0) kill(child_, SIGKILL);
    for (const pid_t pid : left()) kill(pid, SIGKILL);
    if (child_ > 0) waitpid(child_, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // In a process group of its own, as a shell starts it.
  void start(const std::string& script, std::map<std::string, std::string> environment = {}) {
    environment["STAND_IN"] = (folder_ / "stand-in").string();
    environment["REAL_PYTHON"] = real_python();
    environment["PATH"] = (folder_ / "bin").string() + ":" + getenv("PATH");
    environment.try_emplace("START_TIMEOUT_S", "60");
    child_ = fork();
    if (child_ != 0) return;
    setpgid(0, 0);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    const int log = open((folder_ / "said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    signal(SIGINT, SIG_DFL);
    execl(("/" / folder_ / "plan" / script).c_str(), script.c_str(), nullptr);
    _exit(127);
  }
  void signal_script(int signal) const { kill(child_, signal); }
  // Of the script; -1 when it does not end in time.
  int exit_code(double seconds = 60) {
    int status = 0;
    if (!poll([&] { return waitpid(child_, &status, WNOHANG) == child_; }, seconds)) return -1;
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string said() const { return text("said"); }
  std::string log(const std::string& name) const { return text("plan/logs/" + name + ".log"); }
  bool wait_said(const std::string& words) const {
    return poll([&] { return said().find(words) != std::string::npos; });
  }
  std::filesystem::path plan() const { return folder_ / "plan"; }
  void demand(const std::string& what) { write("stand-in/" + what, "", false); }
  void withdraw(const std::string& what) { std::filesystem::remove(folder_ / "stand-in" / what); }

  // What the stand-ins recorded, in order.
  std::vector<base::Json> events(const std::string& kind = "start") const {
    std::vector<base::Json> out;
    std::ifstream file(folder_ / "stand-in/events");
    for (std::string line; std::getline(file, line);) {
      auto event = base::Json::parse(line);
      if (kind.empty() || event["event"] == kind) out.push_back(std::move(event));
    }
    return out;
  }

  // Processes of this launch that still run, told by the environment that all inherit.
  std::vector<pid_t> left() const {
    std::vector<pid_t> out;
    const std::string mark = "STAND_IN=" + (folder_ / "stand-in").string();
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream file(entry.path() / "environ");
      const std::string environ{std::istreambuf_iterator<char>(file), {}};
      if (environ.find(mark) != std::string::npos) out.push_back(std::stoi(name));
    }
    return out;
  }

 private:
  static std::string real_python() {
    auto ran = base::run_program({"python3", "-c", "import sys; print(sys.executable, end='')"});
    return ran.ok() ? ran->out : "python3";
  }
  void write(const std::string& path, const std::string& text, bool executable) const {
    std::ofstream(folder_ / path) << text;
    if (!executable) return;
    using std::filesystem::perms;
    std::filesystem::permissions(folder_ / path, perms::owner_all);
  }
  std::string text(const std::string& path) const {
    std::ifstream file(folder_ / path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
  pid_t child_ = 0;
};

}  // namespace setpoint::generate
