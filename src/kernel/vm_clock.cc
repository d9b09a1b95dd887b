// SPDX-License-Identifier: Apache-2.0
#include "kernel/vm_clock.h"

#include <optional>

#include "clock/tsc.h"
#include "kernel/open_folder.h"
#include "kernel/text_parts.h"

namespace strata::kernel {
namespace {

template <typename T>
std::optional<T> read_value(const OpenFolder& vcpu, const char* name, std::string& buffer) {
  const std::optional<std::string_view> text = vcpu.read(name, buffer, 64);
  return text ? whole_number<T>(trimmed(*text)) : std::nullopt;
}

std::optional<clock::CounterShift> read_shift(const OpenFolder& vcpu, std::string& buffer) {
  const auto offset = read_value<int64_t>(vcpu, "tsc-offset", buffer);
  if (!offset) return std::nullopt;
  clock::CounterShift shift{.offset = static_cast<uint64_t>(*offset)};
  // Only there where the processor can give a guest another rate.
  const auto ratio = read_value<uint64_t>(vcpu, "tsc-scaling-ratio", buffer);
  const auto bits = read_value<uint8_t>(vcpu, "tsc-scaling-ratio-frac-bits", buffer);
  if (ratio && bits) {
    shift.ratio = *ratio;
    shift.fraction_bits = *bits;
  }
  if (!shift.is_valid()) return std::nullopt;
  return shift;
}

}  // namespace

std::vector<clock::CounterChange> read_vm_clocks(int32_t pid, const std::string& debugfs) {
  std::vector<clock::CounterChange> found;
  std::string buffer;
  const OpenFolder machines(debugfs.c_str());
  // A folder there is named PID-FD.
  machines.each([&](const char* name) {
    std::string_view text = name;
    if (whole_number<int32_t>(take_until(text, '-')) != pid) return;
    const OpenFolder machine(machines, name);
    machine.each([&](const char* entry) {
      std::string_view digits = entry;
      if (!digits.starts_with("vcpu")) return;
      digits.remove_prefix(4);
      const auto number = whole_number<uint32_t>(digits);
      const OpenFolder vcpu(machine, entry);
      const std::optional<clock::CounterShift> shift = read_shift(vcpu, buffer);
      if (number && shift) found.push_back({clock::read_tsc(), *number, *shift});
    });
  });
  return found;
}

}  // namespace strata::kernel
