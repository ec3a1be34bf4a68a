// SPDX-License-Identifier: Apache-2.0
// aiconf generate: the launch files of one configuration.
#include "setpoint/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/estimate_flags.h"
#include "generate/deployment.h"
#include "generate/write.h"

namespace setpoint::cli {
namespace {

struct Inputs {
  EstimateFlags configuration;
  generate::Options options;
  std::string from, out, target = "run";
  std::int64_t rank = 1;
  bool no_prefix_cache = false, force = false;
};

constexpr std::array kRankFields{
    base::Field<Inputs>{"rank", &Inputs::rank, 1, 1000, "N", "Which of the file's rows"},
};
constexpr std::array kPortFields{
    base::Field<generate::Options>{"port", &generate::Options::port, 1, 60000, "N",
                                   "Where clients connect"},
};

void declare(Flags& flags, Inputs& in) {
  flags.group("From a result");
  flags.text("--from", in.from, "FILE", "Of search --save or --json, or estimate --json");
  flags.numbers(kRankFields, in);
  in.configuration.shared.version_help = "Of the engine to start; default: that of the tables";
  in.configuration.declare(flags);
  flags.instead_of_required("--from");
  flags.group("Launch files");
  flags.text("--out", in.out, "DIR", "Folder to write them to");
  flags.toggle("--force", in.force, "Replace files that are there");
  flags.choice("--target", in.target,
               {generate::kTargetNames.begin(), generate::kTargetNames.end()}, "What starts them");
  flags.text("--served-name", in.options.served_name, "NAME",
             "What clients ask for; default: the model");
  flags.text("--model-path", in.options.model_path, "PATH", "What is loaded; default: the model");
  flags.text("--image", in.options.image, "IMAGE", "Container; default: the engine's published");
  flags.text("--namespace", in.options.namespace_name, "NAME", "Of Kubernetes objects");
  flags.numbers(kPortFields, in.options);
  flags.toggle("--no-prefix-cache", in.no_prefix_cache, "Cached prefixes are not kept");
  flags.toggle("--trust-remote-code", in.options.trust_remote_code,
               "Code that the checkpoint brings may run");
  flags.toggle("--lenient", in.options.lenient,
               "Leave out what this engine version has no flag for");
}

// What --from says cannot be said again.
Result<void> check_sources(const Flags& flags, const Inputs& in) {
  if (in.from.empty()) {
    return flags.given("--rank") ? Result<void>(Error::bad_input("--rank: needs --from"))
                                 : Result<void>();
  }
  const Strings own{"From a result", "Launch files", "Every command"};
  for (const Flag& flag : flags.all()) {
    const bool shared = flag.name == "--mode" || flag.name == "--framework-version";
    if (flag.given == 0 || shared || std::count(own.begin(), own.end(), flag.group) > 0) continue;
    return Error::bad_input(flag.name + ": not beside --from, whose file says it");
  }
  return {};
}

Result<generate::Deployment> deployment(const Flags& flags, const Inputs& in) {
  search::Estimator estimator;
  if (in.from.empty()) {
    SP_TRY(const search::EstimateRequest request, in.configuration.resolve());
    return generate::price(estimator, request);
  }
  SP_TRY(const std::string text, base::read_file(in.from));
  SP_TRY(const base::Json document, base::parse_json(text, in.from));
  generate::Choice choice{{}, static_cast<std::size_t>(in.rank)};
  if (flags.given("--mode")) choice.mode = mode_named(in.configuration.mode);
  SP_TRY(const generate::Saved saved,
         generate::read_saved(base::JsonView(document, in.from), choice));
  return generate::price(estimator, saved);
}

Result<int> run_generate(const Flags& flags, const Inputs& in, const Console& console) {
  SP_CHECK(check_sources(flags, in));
  generate::Options options = in.options;
  options.target = *generate::target_named(in.target);
  options.prefix_cache = !in.no_prefix_cache;
  options.engine_version = in.configuration.shared.subject.framework_version;
  SP_TRY(const generate::Deployment made, deployment(flags, in));
  SP_TRY(const std::vector<generate::File> files, generate::generate(made, options));
  SP_CHECK(generate::write_files(in.out, files, in.force));
  SP_TRY(const base::Json plan, base::parse_json(files.back().text, files.back().path));
  for (const auto& warning : plan["warnings"]) console.note("note: " + warning.get<std::string>());
  base::Json document{{"out", in.out}, {"files", base::Json::array()}, {"plan", plan}};
  std::string lines;
  for (const generate::File& file : files) {
    document["files"].push_back(file.path);
    lines += (std::filesystem::path(in.out) / file.path).string() + "\n";
  }
  SP_CHECK(console.print(console.json ? base::json_text(document, 2) + "\n" : lines));
  return kDone;
}

}  // namespace

Action generate_command(Flags& flags) {
  auto in = std::make_shared<Inputs>();
  declare(flags, *in);
  return [in, &flags](const Console& console) -> Result<int> {
    if (in->out.empty()) return Error::bad_input("--out: expected a folder for the launch files");
    return run_generate(flags, *in, console);
  };
}

}  // namespace setpoint::cli
