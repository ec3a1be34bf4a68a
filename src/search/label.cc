// SPDX-License-Identifier: Apache-2.0
#include "search/label.h"

#include <fmt/format.h>

namespace setpoint::search {

std::string label(const model::Shard& s) {
  const std::pair<const char*, int> cuts[] = {{"pp", s.pp},
                                              {"dp", s.dp},
                                              {"cp", s.cp},
                                              {"ep", s.moe_ep},
                                              {"mtp", s.moe_ep > 1 ? s.moe_tp : 1}};
  std::string out = fmt::format("tp{}", s.tp);
  for (const auto& [name, width] : cuts) {
    if (width > 1) out += fmt::format("{}{}", name, width);
  }
  return out;
}

std::string label(const Estimate& estimate) {
  constexpr std::array<std::string_view, 3> kRoleLetters{"", "P ", "D "};
  std::string out;
  for (const Worker& worker : estimate.workers) {
    if (!out.empty()) out += " + ";
    if (worker.role != Role::mixed) {
      out += fmt::format("{}{}", worker.count, kRoleLetters[std::size_t(worker.role)]);
    }
    out += label(worker.shard);
  }
  return out;
}

}  // namespace setpoint::search
