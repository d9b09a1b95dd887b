// SPDX-License-Identifier: Apache-2.0
#include "collect/left_flags.h"

#include <iterator>

#include "collect/memory_flags.h"
#include "collect/switch.h"

namespace strata::collect {
namespace {

Status clear(pid_t process, const std::vector<FileSite>& sites, uint64_t bias, LeftFlags& left) {
  const Result<std::vector<probe::abi::Flag>> flags = read_flags(process, sites, bias);
  if (!flags) return flags.error();
  size_t written = 0;
  for (const probe::abi::Flag& flag : *flags) {
    if (flag.collector != 0) ++written;
    if (flag.kernel != 0) ++left.held;
  }
  if (written == 0) return {};
  if (Status status = change_flags(process, sites, bias, UINT16_MAX, false); !status) return status;
  left.cleared += written;
  return {};
}

}  // namespace

LeftFlags clear_left_flags(const FileIdentity& file, const std::vector<FileSite>& sites,
                           const std::vector<pid_t>& processes) {
  LeftFlags left;
  if (sites.empty()) return left;
  left.cleared = clear_leaked_flags(file, sites, processes);
  for (const pid_t process : processes.empty() ? running_processes() : processes)
    for (const uint64_t bias : load_biases(mappings_of(process, file), sites.front()))
      if (const Status status = clear(process, sites, bias, left); !status)
        left.remarks.push_back(status.error().text());
  std::vector<std::string> unsettled = settle_processes(file, patched_among(sites), processes);
  left.remarks.insert(left.remarks.end(), std::make_move_iterator(unsettled.begin()),
                      std::make_move_iterator(unsettled.end()));
  return left;
}

}  // namespace strata::collect
