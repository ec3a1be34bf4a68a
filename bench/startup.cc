// SPDX-License-Identifier: Apache-2.0
// Whole-process times, as a user waits for them: help must be there within 10 ms.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace {

// The program of this build, beside this benchmark.
std::string program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "aiconf").string();
}

void run(benchmark::State& state, std::vector<const char*> args) {
  const std::string path = program();
  args.insert(args.begin(), path.c_str());
  args.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  for (auto iteration : state) {
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, path.c_str(), &quiet, nullptr, const_cast<char* const*>(args.data()),
                    environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
      state.SkipWithError("the program failed");
      break;
    }
  }
  posix_spawn_file_actions_destroy(&quiet);
}

void help(benchmark::State& state) { run(state, {"search", "--help"}); }
void systems(benchmark::State& state) { run(state, {"systems"}); }

BENCHMARK(help)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(systems)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
