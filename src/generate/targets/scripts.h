// SPDX-License-Identifier: Apache-2.0
// Lines of the scripts that start processes (recipes/serve/launch.sh says what the functions do).
#pragma once

#include <string>
#include <string_view>

#include "generate/targets/processes.h"

namespace setpoint::generate {

// "#!" line, comments, `set`, and the functions that follow.
std::string script_head(const std::string& heading);
// `start NAME COMMAND`, the command with its environment.
std::string start_line(const std::string& name, Command command, int indent = 0);
// `VERB NAME http://ADDRESS:PORT/health`; the verb may be indented.
std::string health_line(const std::string& verb, const std::string& name, const Word& address,
                        std::int64_t port);
// Writes `text` to `path` when the script runs, because addresses in it are known only then.
std::string write_line(const std::string& text, const std::string& path);
std::string visible_devices(const Process& process);  // "0,1"

// In front of several workers when nginx is there; else says how to reach them. `conf` is the path
// of its configuration below the folder of the script.
std::string balancer_lines(const Processes& all, const std::string& conf);
// What nginx writes lies below logs/.
std::string balancer_paths();

// Says that all is ready and looks at it every second.
std::string ready_lines(const Word& text, const std::string& watches);

}  // namespace setpoint::generate
