// SPDX-License-Identifier: Apache-2.0
#include "recording/synced.h"

#include <filesystem>
#include <utility>

#include "base/new_folder.h"
#include "recording/description.h"

namespace strata::recording {
namespace {

namespace fs = std::filesystem;

Part part_of(const std::string& file, const std::string& machine) {
  return {.file = file,
          .kind = "link",
          .what = "",
          .machine = machine,
          .clock = file + ".time",
          .finished = true};
}

NamedClock clock_of(const Part& part) {
  return {.name = part.clock,
          .machine = part.machine,
          .note = "the times that " + part.file + " tells",
          .is_timeline = true};
}

}  // namespace

Status write_synced(const std::string& folder, const MachineTraces& machine,
                    const MachineTraces& reference, trace::ClockMap map) {
  std::error_code problem;
  const fs::path from = fs::canonical(machine.path, problem);
  if (problem) return system_error(machine.path, "cannot find", problem.value());
  const fs::path to = fs::canonical(reference.path, problem);
  if (problem) return system_error(reference.path, "cannot find", problem.value());

  Result<NewFolder> made = NewFolder::create(folder);
  if (!made) return std::move(made).error();
  const std::string name = from.filename();
  const std::string other = to.filename() == name ? name + "-2" : to.filename().string();
  for (const auto& [target, link] : {std::pair(from, name), std::pair(to, other)}) {
    fs::create_symlink(target, fs::path(folder) / link, problem);
    if (problem) return system_error(folder + "/" + link, "cannot create", problem.value());
  }

  Description description;
  for (const MachineTraces* one : {&machine, &reference})
    description.machines.emplace_back().name = one->machine;
  description.parts = {part_of(name, machine.machine), part_of(other, reference.machine)};
  for (const Part& part : description.parts) description.clocks.push_back(clock_of(part));
  map.from = description.parts[0].clock;
  map.to = description.parts[1].clock;
  description.maps = {std::move(map)};
  if (Status written = write_description(folder, description); !written) return written;
  made->keep();
  return {};
}

}  // namespace strata::recording
