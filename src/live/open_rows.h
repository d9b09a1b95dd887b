// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "live/bpf/layout.h"
#include "period/table.h"

namespace strata::live {

// The rows of descriptors and files: what went through them since the last call.
class OpenRows {
 public:
  // What the programs have counted so far. An entry that is not there any more was taken out.
  void tell(std::span<const OpenKey> keys, std::span<const OpenFile> opens,
            period::Machine& machine);
  // Of these, those through which nothing went in so many tables.
  std::vector<OpenKey> idle_since(uint32_t tables) const;
  void forget(std::span<const OpenKey> keys);

 private:
  // As the kernel has no order of its own for them.
  using Place = std::tuple<int32_t, int32_t, uint64_t, uint64_t>;
  static Place place_of(const OpenKey& key) {
    return {key.pid, key.descriptor, key.device, key.inode};
  }
  struct Known {
    OpenKey key = {};
    OpenFile open = {};
    uint32_t idle_tables = 0;
    std::string path = {};  // where it was looked up
  };
  std::map<Place, Known> known_;
};

// The kind and the name of what a descriptor leads to, as the kernel tells them; the last part of a
// path where the whole of it is not known.
std::string kind_of(const OpenFile& open);
std::string name_of(const OpenKey& key, const OpenFile& open);

}  // namespace strata::live
