// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

int main(int argc, char** argv) {
  return setpoint::cli::run(std::vector<std::string>(argv, argv + argc));
}
