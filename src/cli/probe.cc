// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/probe_switch.h"
#include "cli/terminal.h"
#include "collect/memory_flags.h"
#include "collect/patching.h"
#include "collect/probed_files.h"
#include "collect/process_files.h"

namespace strata::cli {
namespace {

using collect::ProbedFile;

using Json = nlohmann::ordered_json;

std::string type_text(const collect::SiteField& field) {
  const std::string number = std::string(field.is_float    ? "f"
                                         : field.is_signed ? "s"
                                                           : "u") +
                             std::to_string(field.bytes * 8);
  switch (field.shape) {
    case collect::FieldShape::Number:
      return number;
    case collect::FieldShape::Enum:
      return "enum";
    case collect::FieldShape::String:
      return "string";
    case collect::FieldShape::Sequence:
      return number + "[]";
  }
  return {};
}

std::string fields_text(const collect::Site& site) {
  std::string text;
  for (const collect::SiteField& field : site.fields) {
    if (!text.empty()) text += ", ";
    text += type_text(field) + " " + field.name;
  }
  return text;
}

const char* what_it_is(const collect::Site& site) {
  switch (site.kind) {
    case probe::abi::SiteKind::Event:
      return "event";
    case probe::abi::SiteKind::Span:
      return "span";
    case probe::abi::SiteKind::Counter:
      return "counter";
  }
  return "";
}

// Who has a site on, of a process.
struct SiteState {
  bool kernel = false;  // for one tracer or several: it does not say how many
  bool environment = false;
  int collectors = 0;  // that wrote it there
};

SiteState state_of(const probe::abi::Flag& flag) {
  return {flag.kernel != 0, (flag.collector & 1) != 0,
          std::popcount(uint32_t{flag.collector} >> 1)};
}

std::string state_text(const SiteState& state) {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
  if (state.kernel) add("kernel");
  if (state.environment) add("environment");
  if (state.collectors != 0) add("collector " + std::to_string(state.collectors));
  return text.empty() ? "off" : text;
}

// The states of a file's sites, where a process was named and lets them be seen. A library that is
// loaded several times shows as it is in the first place.
std::vector<SiteState> states_of(const ProbedFile& file) {
  std::vector<SiteState> states;
  if (file.process == 0 || file.sites.empty()) return states;
  const Result<collect::FileIdentity> identity = collect::FileIdentity::of(file.path);
  if (!identity) return states;
  const std::vector<uint64_t> biases =
      collect::load_biases(collect::mappings_of(file.process, *identity), file.sites.front());
  if (biases.empty()) return states;
  const auto flags = collect::read_flags(file.process, file.sites, biases.front());
  if (!flags) {
    warn(flags.error().text());
    return states;
  }
  std::ranges::transform(*flags, std::back_inserter(states), state_of);
  return states;
}

// Says why sites that can be patched would not be.
void warn_of_patches(const std::vector<ProbedFile>& files) {
  const auto patched = std::ranges::find_if(files, [](const ProbedFile& file) {
    return file.process != 0 &&
           std::ranges::any_of(file.sites, [](const auto& site) { return !site.patches.empty(); });
  });
  if (patched == files.end()) return;
  if (const Status status = collect::may_patch(patched->process); !status)
    warn("probes that are patched cannot be switched on (" + status.error().text() +
         "); built without STRATA_PROBE_PATCHED they are flags");
}

Json as_json(const collect::FileSite& site) {
  Json fields = Json::array();
  for (const collect::SiteField& field : site.site.fields) {
    Json one{{"name", field.name}, {"type", type_text(field)}};
    for (const auto& [label, value] : field.labels) one["values"][label] = value;
    fields.push_back(std::move(one));
  }
  return {{"provider", site.site.provider}, {"name", site.site.name},
          {"kind", what_it_is(site.site)},  {"level", site.site.level},
          {"patched", site.patches.size()}, {"fields", std::move(fields)}};
}

Json as_json(const ProbedFile& file, const std::vector<SiteState>& states) {
  Json probes = Json::array();
  for (size_t i = 0; i < file.sites.size(); ++i) {
    Json probe = as_json(file.sites[i]);
    if (!states.empty())
      probe["on"] = {{"kernel", states[i].kernel},
                     {"environment", states[i].environment},
                     {"collectors", states[i].collectors}};
    probes.push_back(std::move(probe));
  }
  return {{"path", file.shown}, {"probes", std::move(probes)}};
}

std::vector<std::string> as_row(const ProbedFile& file, const collect::FileSite& site,
                                const std::string& state) {
  return {site.site.provider + ":" + site.site.name,
          what_it_is(site.site),
          std::to_string(site.site.level),
          site.patches.empty() ? "flag" : "patched, " + std::to_string(site.patches.size()),
          state,
          fields_text(site.site),
          file.shown};
}

int list_probes(const ProbeArguments& arguments) {
  const Result<std::vector<ProbedFile>> files = collect::probed_files(arguments.program);
  if (!files) {
    complain(files.error());
    return kExitInput;
  }
  warn_of_patches(*files);
  Json list = Json::array();
  Table table({"probe", "what", "level", "site", "on", "fields", "file"});
  table.align_left(1);
  for (size_t column : {3, 4, 5, 6}) table.align_left(column);
  for (const ProbedFile& file : *files) {
    const std::vector<SiteState> states = states_of(file);
    list.push_back(as_json(file, states));
    for (size_t i = 0; i < file.sites.size(); ++i)
      table.add(as_row(file, file.sites[i], states.empty() ? "" : state_text(states[i])));
  }
  Output out(STDOUT_FILENO);
  if (arguments.json) {
    put_json_object({{"files", std::move(list)}}, out.text());
  } else if (table.empty()) {
    out.text().put("no probes in " + arguments.program + "\n");
  } else {
    table.put(Style(STDOUT_FILENO), 0, out.text());
  }
  return out.finish() ? kExitFine : kExitInput;
}

}  // namespace

int run(const ProbeArguments& arguments) {
  switch (arguments.action) {
    case ProbeArguments::Action::List:
      return list_probes(arguments);
    case ProbeArguments::Action::Enable:
      return enable_probes(arguments);
    case ProbeArguments::Action::Disable:
      return disable_probes(arguments);
  }
  return kExitUsage;
}

}  // namespace strata::cli
