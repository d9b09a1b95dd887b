// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
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
  struct Hash {
    size_t operator()(const OpenKey& key) const;
  };
  struct Same {
    bool operator()(const OpenKey& one, const OpenKey& other) const;
  };
  struct Known {
    OpenFile open = {};
    uint32_t idle_tables = 0;
    std::string path = {};  // where it was looked up
  };
  std::unordered_map<OpenKey, Known, Hash, Same> known_;
};

// The kind and the name of what a descriptor leads to, as the kernel tells them; the last part of a
// path where the whole of it is not known.
std::string kind_of(const OpenFile& open);
std::string name_of(const OpenKey& key, const OpenFile& open);

}  // namespace strata::live
