// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/dynamic_probes.h"
#include "kernel/probe_spec.h"

namespace strata::kernel {

// One probe of a preset.
struct PresetProbe {
  std::string_view event;   // what its event is called
  std::string_view symbol;  // with "%return" where it is at the function's return
  std::string_view arguments;
  std::string_view filter;
};

// Probes with a name: what someone who knows a program would look at. They sit on functions that
// the program exports, so that they need neither its sources nor debug information, and take only
// arguments that are in registers or in structures of the kernel, which stay as they are.
struct ProbePreset {
  std::string_view name;
  std::string_view about;
  std::vector<std::string_view> programs;      // globs for the names of running programs
  std::vector<std::string_view> usual_places;  // looked at in turn where none runs
  std::vector<PresetProbe> probes;
};

// All that there are.
const std::vector<ProbePreset>& probe_presets();

// The specs of a preset for each of these binaries; without any, for those that run now, or else
// for the first of the usual places that is there.
Result<std::vector<ProbeSpec>> preset_specs(std::string_view name,
                                            std::vector<std::string> binaries = {});

// Adds them. Functions that a binary lacks are left out and told in the remarks; it is an error
// where none is there.
Status add_preset(DynamicProbes& probes, std::string_view name,
                  std::vector<std::string> binaries = {});

}  // namespace strata::kernel
