// SPDX-License-Identifier: Apache-2.0
#include "collect/site_file.h"

#include <elf.h>

#include <unordered_map>

namespace strata::collect {
namespace abi = probe::abi;
namespace {

using Patches = std::unordered_map<uint64_t, std::vector<uint64_t>>;

uint64_t relative(const elf::Section& section, Bytes bytes, uint64_t at) {
  const auto distance = static_cast<int64_t>(load_once<int32_t>(bytes.data() + at));
  return section.address + at + static_cast<uint64_t>(distance);
}

// The places that each flag switches, by its address.
Result<Patches> patches_of(const elf::ElfFile& file) {
  Patches patches;
  const elf::Section* section = file.section("strata_patches");
  if (section == nullptr) return patches;
  Result<Bytes> bytes = file.contents(*section);
  if (!bytes) return std::move(bytes).error();
  for (uint64_t at = 0; at + sizeof(abi::Patch) <= bytes->size(); at += sizeof(abi::Patch)) {
    const uint64_t flag = relative(*section, *bytes, at + offsetof(abi::Patch, flag));
    patches[flag].push_back(relative(*section, *bytes, at + offsetof(abi::Patch, code)));
  }
  return patches;
}

}  // namespace

Result<std::vector<FileSite>> sites_of(const elf::ElfFile& file) {
  std::vector<FileSite> found;
  const elf::Section* section = file.section("strata_sites");
  if (section == nullptr) return found;
  if (!file.is_64_bit() || file.order() != kNativeOrder)
    return Error{file.path(), {}, "its probes are for another kind of machine"};
  Result<Bytes> bytes = file.contents(*section);
  if (!bytes) return std::move(bytes).error();
  Result<std::vector<Site>> sites = read_sites(*bytes, section->address, file.path());
  if (!sites) return std::move(sites).error();
  Result<Patches> patches = patches_of(file);
  if (!patches) return std::move(patches).error();
  for (Site& site : *sites) {
    const std::optional<uint64_t> flag = file.file_offset(site.flag);
    const std::optional<uint64_t> anchor = file.file_offset(site.anchor);
    if (!flag || !anchor)
      return Error{file.path(), section->offset,
                   "the flag of probe " + site.provider + ":" + site.name + " is not in the file"};
    std::vector<uint64_t> places = std::move((*patches)[site.flag]);
    found.push_back({std::move(site), *flag, *anchor, std::move(places)});
  }
  return found;
}

}  // namespace strata::collect
