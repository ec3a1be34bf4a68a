// SPDX-License-Identifier: Apache-2.0
#include "cli/save.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "generate/deployment.h"

namespace setpoint::cli {
namespace {

struct Launch {
  std::vector<generate::File> files;
  std::string_view target;
};

Result<Launch> launch_of(search::Estimator& estimator, const base::JsonView& document,
                         const generate::Choice& choice) {
  SP_TRY(const generate::Saved saved, generate::read_saved(document, choice));
  SP_TRY(const generate::Deployment deployment, generate::price(estimator, saved));
  generate::Options options;
  const auto able = generate::targets_for(deployment, options);
  if (!able.empty()) options.target = able.front();
  SP_TRY(std::vector<generate::File> files, generate::generate(deployment, options));
  return Launch{std::move(files), generate::kTargetNames[static_cast<std::size_t>(options.target)]};
}

}  // namespace

Result<std::vector<generate::File>> saved_files(const std::string& json,
                                                const search::SearchResult& result,
                                                const Console& console) {
  std::vector<generate::File> out{{std::string(kResultFile), json, false}};
  SP_TRY(const base::Json parsed, base::parse_json(json, std::string(kResultFile)));
  const base::JsonView document(parsed, std::string(kResultFile));
  search::Estimator estimator;
  std::map<std::string_view, std::vector<std::string>> by_target;
  for (const search::ModeResult& mode : result.modes) {
    for (std::size_t rank = 1; rank <= mode.configs.size(); ++rank) {
      const std::string folder =
          fmt::format("{}-{}", kModeNames[static_cast<std::size_t>(mode.mode)], rank);
      auto launch = launch_of(estimator, document, {mode.mode, rank});
      if (!launch) {
        console.note(fmt::format("{}: no launch files: {}", folder, launch.error().text));
        continue;
      }
      by_target[launch->target].push_back(folder);
      for (generate::File& file : launch->files) {
        file.path.insert(0, folder + "/");
        out.push_back(std::move(file));
      }
    }
  }
  for (const auto& [target, folders] : by_target) {
    console.note(fmt::format("launch files for target {}: {}", target, base::join(folders)));
  }
  return out;
}

}  // namespace setpoint::cli
