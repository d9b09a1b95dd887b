// SPDX-License-Identifier: Apache-2.0
#include "kernel/device_text.h"

#include "kernel/text_parts.h"

namespace strata::kernel {

std::vector<Interrupt> parse_interrupts(std::string_view text) {
  std::vector<Interrupt> interrupts;
  // "  CPU0  CPU1": as many counts stand in each line.
  std::string_view heads = take_line(text);
  size_t cpus = 0;
  while (take_word(heads).starts_with("CPU")) ++cpus;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const auto number = whole_number<uint32_t>(trimmed(take_until(line, ':')));
    if (!number) continue;
    for (size_t i = 0; i < cpus; ++i) take_word(line);
    // The chip, its own number of the line with how it is raised ("5-edge"), who handles it. Some
    // architectures have how it is raised as a word of its own.
    const std::string_view chip = take_word(line);
    take_word(line);
    std::string_view action = trimmed(line);
    std::string_view behind = action;
    if (const std::string_view word = take_word(behind); word == "Level" || word == "Edge")
      action = trimmed(behind);
    interrupts.push_back({*number, std::string(chip), std::string(action)});
  }
  return interrupts;
}

CpuModel parse_cpu_model(std::string_view cpuinfo) {
  CpuModel model;
  while (!cpuinfo.empty()) {
    std::string_view line = take_line(cpuinfo);
    if (line.empty()) break;  // the next processor
    const std::string_view key = trimmed(take_until(line, ':'));
    const std::string_view value = trimmed(line);
    if (key == "vendor_id") model.vendor = value;
    if (key == "model name") model.name = value;
    if (key == "cpu family") model.family = whole_number<uint32_t>(value).value_or(0);
    if (key == "model") model.model = whole_number<uint32_t>(value).value_or(0);
    if (key == "cpu cores") model.cores = whole_number<uint32_t>(value).value_or(0);
  }
  return model;
}

}  // namespace strata::kernel
