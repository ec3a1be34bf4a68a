// SPDX-License-Identifier: Apache-2.0
#include "cli/subject_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "framework/framework.h"
#include "search/inputs.h"

namespace setpoint::cli {

void declare_data(Flags& flags, std::string& data) {
  flags.choice("--data", data, {perfdb::kDataModeNames.begin(), perfdb::kDataModeNames.end()},
               "What answers may rest on");
}

perfdb::DataMode data_mode(const std::string& data) {
  const auto& names = perfdb::kDataModeNames;
  return static_cast<perfdb::DataMode>(std::find(names.begin(), names.end(), data) - names.begin());
}

void SubjectFlags::declare(Flags& flags) {
  Strings frameworks = framework::framework_names();
  frameworks.emplace_back("all");
  flags.group("Model and GPU");
  flags.text("--model", subject.model, "MODEL", "Hugging Face id, folder or config.json");
  flags.text("--system", subject.system, "GPU", "GPU system, e.g. h200_sxm (aiconf systems)");
  flags.text("--spec", subject.system_spec, "K=V,..",
             "--system is a new GPU: mem=GiB,bw=GB/s,bf16=TFLOP/s..");
  flags.choice("--framework", framework, frameworks, "Serving framework");
  flags.text("--framework-version", subject.framework_version, "V", version_help);
  flags.choice("--precision", subject.precision, {"bf16", "fp8", "fp4", "int4"},
               "The published checkpoint of that precision");
  flags.texts("--quant", quant, "KEY=MODE", "Override gemm, moe, kv, fmha or comm; repeatable");
  flags.numbers(search::kSubjectFields, subject);
  flags.group("Requests");
  flags.numbers(search::kWorkloadFields, subject.workload);
  flags.group("Data");
  declare_data(flags, data);
  flags.text("--db", database, "FILE", "PerfDatabase; default: $SETPOINT_DB, user, installed");
  flags.require("--model");
  flags.require("--system");
}

void SubjectFlags::declare_decode_system(Flags& flags) {
  flags.text("--decode-system", decode_system, "GPU", "Other GPUs for decode workers");
}

Result<search::Subject> SubjectFlags::resolve() const {
  search::Subject out = subject;
  for (const std::string& text : quant) {
    const auto [key, mode] = base::split_pair(text);
    if (!mode) {
      return Error::bad_input("--quant: expected KEY=MODE, found " + base::shown(text));
    }
    out.quant.push_back({key, *mode});
  }
  out.data = data_mode(data);
  out.database = database;
  SP_CHECK(search::check(out));
  return out;
}

Strings assumed(const Flags& flags) {
  Strings out;
  for (const char* name :
       {"isl", "osl", "prefix", "framework", "framework_version", "alpha", "data"}) {
    std::string flag = std::string("--") + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (!flags.given(flag)) out.emplace_back(name);
  }
  return out;
}

}  // namespace setpoint::cli
