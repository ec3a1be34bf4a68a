// SPDX-License-Identifier: Apache-2.0
#include "generate/targets/scripts.h"

#include <fmt/format.h>

#include "base/embedded.h"
#include "generate/shell.h"

namespace setpoint::generate {

std::string script_head(const std::string& heading) {
  return "#!/usr/bin/env bash\n" + heading + "set -euo pipefail\n";
}

std::string start_line(const std::string& name, Command command, int indent) {
  command.argv.insert(command.argv.begin(), {{"start"}, {name}});
  return shell_command(command, indent) + "\n";
}

std::string health_line(const std::string& verb, const std::string& name, const Word& address,
                        std::int64_t port) {
  const Word url{fmt::format("http://{}:{}/health", address.text, port), address.expands};
  return verb + " " + shell_words({{name}, url}) + "\n";
}

std::string write_line(const std::string& text, const std::string& path) {
  return "printf %s " + quoted({text, true}) + " >" + quoted({path}) + "\n";
}

std::string visible_devices(const Process& process) {
  return fmt::format("{}", fmt::join(process.devices, ","));
}

std::string balancer_lines(const Processes& all, const std::string& conf) {
  const Command nginx{.environment = {},
                      .argv = {{"nginx"},
                               {"-p"},
                               {"$PWD/logs/", true},
                               {"-c"},
                               {"$PWD/" + conf, true},
                               {"-g"},
                               {"pid nginx.pid;"}},
                      .config_yaml = {},
                      .notes = {}};
  std::string urls;
  for (const Process& process : all.workers) {
    if (process.rank == 0) urls += fmt::format(" {}:{}", process.address.text, process.port);
  }
  const Word missing{fmt::format("nginx is not installed, so nothing listens on port {}: clients "
                                 "must spread their requests over{}",
                                 all.port, urls),
                     true};
  return "if command -v nginx >/dev/null; then\n" + start_line("balancer", nginx, 2) +
         health_line("  await", "balancer", {"127.0.0.1"}, all.port) + "else\n  say " +
         quoted(missing) + "\nfi\n";
}

std::string balancer_paths() {
  std::string out;
  for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    out += fmt::format("  {}_temp_path nginx_{};\n", kind, kind);
  }
  return out;
}

std::string ready_lines(const Word& text, const std::string& watches) {
  return "say " + quoted(text) + "\nwhile sleep 1; do\n  check\n" + watches + "done\n";
}

}  // namespace setpoint::generate
