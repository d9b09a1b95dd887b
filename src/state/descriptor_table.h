// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "state/open_files.h"

namespace strata::state {

struct Descriptor {
  int32_t fd = -1;
  OpenId open = 0;
  bool close_on_exec = false;
  const FileCall* made_by = nullptr;  // null: it was used, and nobody told how it came
  int64_t since = 0;                  // when that was
  Traffic traffic = {};               // through this one, since then
};

// The descriptors of one process, in order. Each keeps its file open; hence `ended` is told of
// every one that is there no more, and whoever has a table has to close() it before it goes.
class DescriptorTable {
 public:
  static constexpr int32_t kLast = INT32_MAX;

  const std::vector<Descriptor>& all() const { return descriptors_; }
  const Descriptor* find(int32_t fd) const;
  Descriptor* find(int32_t fd);
  // In the place of what had its number.
  template <typename Ended>
  Descriptor& set(const Descriptor& descriptor, Ended&& ended) {
    const auto at = std::ranges::lower_bound(descriptors_, descriptor.fd, {}, &Descriptor::fd);
    if (at == descriptors_.end() || at->fd != descriptor.fd)
      return *descriptors_.insert(at, descriptor);
    ended(std::exchange(*at, descriptor));
    return *at;
  }
  // All from the first to the last, both included.
  template <typename Ended>
  void close(int32_t first, int32_t last, Ended&& ended) {
    const auto from = std::ranges::lower_bound(descriptors_, first, {}, &Descriptor::fd);
    const auto to = std::ranges::upper_bound(descriptors_, last, {}, &Descriptor::fd);
    if (from >= to) return;
    std::for_each(from, to, ended);
    descriptors_.erase(from, to);
  }
  // Marks them to be closed then.
  void close_on_exec(int32_t first, int32_t last);
  template <typename Ended>
  void close_for_exec(Ended&& ended) {
    std::erase_if(descriptors_, [&](const Descriptor& descriptor) {
      if (descriptor.close_on_exec) ended(descriptor);
      return descriptor.close_on_exec;
    });
  }

 private:
  std::vector<Descriptor> descriptors_;
};

}  // namespace strata::state
