// SPDX-License-Identifier: Apache-2.0
#include "collect/site_file.h"

#include <elf.h>

#include <unordered_map>

namespace strata::collect {
namespace abi = probe::abi;
namespace {

// How many patches lead to each flag, by its address.
Result<std::unordered_map<uint64_t, uint32_t>> patches_of(const elf::ElfFile& file) {
  std::unordered_map<uint64_t, uint32_t> patches;
  const elf::Section* section = file.section("strata_patches");
  if (section == nullptr) return patches;
  Result<Bytes> bytes = file.contents(*section);
  if (!bytes) return std::move(bytes).error();
  for (uint64_t at = 0; at + sizeof(abi::Patch) <= bytes->size(); at += sizeof(abi::Patch)) {
    const uint64_t member = at + offsetof(abi::Patch, flag);
    const auto distance = static_cast<int64_t>(load_once<int32_t>(bytes->data() + member));
    ++patches[section->address + member + static_cast<uint64_t>(distance)];
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
  Result<std::unordered_map<uint64_t, uint32_t>> patches = patches_of(file);
  if (!patches) return std::move(patches).error();
  for (Site& site : *sites) {
    const std::optional<uint64_t> flag = file.file_offset(site.flag);
    const std::optional<uint64_t> anchor = file.file_offset(site.anchor);
    if (!flag || !anchor)
      return Error{file.path(), section->offset,
                   "the flag of probe " + site.provider + ":" + site.name + " is not in the file"};
    const auto patch = patches->find(site.flag);
    const uint32_t patched = patch == patches->end() ? 0 : patch->second;
    found.push_back({std::move(site), *flag, *anchor, patched});
  }
  return found;
}

}  // namespace strata::collect
