// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpu_list.h"

#include <algorithm>
#include <charconv>

#include "base/small_file.h"

namespace strata::kernel {
namespace {

constexpr uint32_t kMostCpus = 1 << 16;  // the kernel's own limit is 8192

// Takes a number off the front of `text`.
std::optional<uint32_t> take_number(std::string_view& text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number >= kMostCpus) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<std::vector<uint32_t>> parse_cpu_list(std::string_view text) {
  std::vector<uint32_t> cpus;
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return cpus;
  do {
    const std::optional<uint32_t> first = take_number(text);
    if (!first) return std::nullopt;
    const std::optional<uint32_t> last = take(text, '-') ? take_number(text) : first;
    if (!last || *last < *first) return std::nullopt;
    for (uint32_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    if (cpus.size() > kMostCpus) return std::nullopt;
  } while (take(text, ','));
  if (!text.empty()) return std::nullopt;
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

Result<std::vector<uint32_t>> online_cpus() {
  const char* const path = "/sys/devices/system/cpu/online";
  const Result<std::string> text = read_small_file(path);
  if (!text) return text.error();
  std::optional<std::vector<uint32_t>> cpus = parse_cpu_list(*text);
  if (!cpus || cpus->empty()) return Error{path, std::nullopt, "is no list of CPUs"};
  return std::move(*cpus);
}

}  // namespace strata::kernel
