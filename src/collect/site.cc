// SPDX-License-Identifier: Apache-2.0
#include "collect/site.h"

#include <charconv>
#include <string_view>

namespace strata::collect {
namespace abi = probe::abi;
namespace {

// "idle=0,busy=1"
bool read_labels(std::string_view text, SiteField& field) {
  while (!text.empty()) {
    const std::string_view label = text.substr(0, text.find(','));
    text.remove_prefix(std::min(label.size() + 1, text.size()));
    const size_t equals = label.rfind('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    const std::string_view number = label.substr(equals + 1);
    int32_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc{} || end != number.data() + number.size()) return false;
    field.labels.emplace_back(label.substr(0, equals), value);
  }
  return true;
}

// "u32", "f64"
bool read_number_type(std::string_view type, SiteField& field) {
  if (type.empty()) return false;
  field.is_signed = type[0] == 's' || type[0] == 'f';
  field.is_float = type[0] == 'f';
  if (!field.is_signed && type[0] != 'u') return false;
  const std::string_view bits = type.substr(1);
  if (bits == "8" && !field.is_float) {
    field.bytes = 1;
  } else if (bits == "16" && !field.is_float) {
    field.bytes = 2;
  } else if (bits == "32") {
    field.bytes = 4;
  } else if (bits == "64") {
    field.bytes = 8;
  } else {
    return false;
  }
  return true;
}

// "TYPE NAME", "enum NAME LABELS"
bool read_field(std::string_view text, SiteField& field) {
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view type = text.substr(0, space);
  text.remove_prefix(space + 1);
  const size_t end = text.find(' ');
  field.name = text.substr(0, end);
  if (field.name.empty()) return false;
  if (type == "enum") {
    field.shape = FieldShape::Enum;
    field.is_signed = true;
    return end == std::string_view::npos || read_labels(text.substr(end + 1), field);
  }
  if (end != std::string_view::npos) return false;
  if (type == "string") {
    field.shape = FieldShape::String;
    field.bytes = 1;
    return true;
  }
  if (type == "bytes") {
    field.shape = FieldShape::Sequence;
    field.bytes = 1;
    return true;
  }
  constexpr std::string_view kSequence = "seq_";
  if (!type.starts_with(kSequence)) return read_number_type(type, field);
  field.shape = FieldShape::Sequence;
  return read_number_type(type.substr(kSequence.size()), field);
}

uint64_t relative(uint64_t address, int32_t distance) {
  return address + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

}  // namespace

Result<std::vector<Site>> read_sites(Bytes section, uint64_t address, const std::string& file) {
  std::vector<Site> sites;
  for (size_t at = 0; at < section.size();) {
    const auto bad = [&](std::string cause) { return Error{file, at, std::move(cause)}; };
    abi::Site head;
    if (section.size() - at < sizeof head) return bad("a probe site is cut short");
    std::memcpy(&head, section.data() + at, sizeof head);
    if (head.size < sizeof head || head.size % 4 != 0 || head.size > section.size() - at)
      return bad("a probe site leads out of its section");
    if (head.version != abi::kSiteVersion) return bad("a probe site of an unknown version");
    if (head.kind > abi::SiteKind::Counter) return bad("a probe site of an unknown kind");
    Site site;
    site.kind = head.kind;
    site.level = head.level;
    site.flag = relative(address + at + offsetof(abi::Site, flag), head.flag);
    site.anchor = relative(address + at + offsetof(abi::Site, anchor), head.anchor);
    ByteReader strings(section.subspan(at + sizeof head, head.size - sizeof head), kNativeOrder);
    site.provider = strings.string();
    site.name = strings.string();
    for (unsigned i = 0; i < head.fields; ++i) {
      SiteField& field = site.fields.emplace_back();
      if (!read_field(strings.string(), field)) return bad("a field of a probe site is not known");
    }
    if (!strings.ok() || site.provider.empty() || site.name.empty())
      return bad("the names of a probe site are cut short");
    sites.push_back(std::move(site));
    at += head.size;
  }
  return sites;
}

std::optional<size_t> payload_size(const Site& site, Bytes payload) {
  size_t at = site.kind == abi::SiteKind::Span ? sizeof(uint64_t) : 0;
  for (const SiteField& field : site.fields) {
    if (at > payload.size()) return std::nullopt;
    const Bytes rest = payload.subspan(at);
    switch (field.shape) {
      case FieldShape::Number:
      case FieldShape::Enum:
        at += field.bytes;
        break;
      case FieldShape::String: {
        const void* end = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
        if (end == nullptr) return std::nullopt;
        at += static_cast<size_t>(static_cast<const std::byte*>(end) - rest.data()) + 1;
        break;
      }
      case FieldShape::Sequence:
        if (rest.size() < sizeof(uint16_t)) return std::nullopt;
        at += sizeof(uint16_t) + size_t{load_once<uint16_t>(rest.data())} * field.bytes;
        break;
    }
  }
  if (at > payload.size()) return std::nullopt;
  return at;
}

Status Dictionary::update(Bytes memory, const RingLayout& layout) {
  const uint32_t used = __atomic_load_n(
      reinterpret_cast<const uint32_t*>(memory.data() + offsetof(abi::Header, dictionary_used)),
      __ATOMIC_ACQUIRE);
  const auto bad = [&](std::string cause) {
    return Error{"a program's dictionary", read_, std::move(cause)};
  };
  if (used > layout.dictionary_size || used < read_) return bad("its size is impossible");
  while (read_ < used) {
    abi::Module module;
    const Bytes rest = memory.subspan(layout.dictionary() + read_, used - read_);
    if (rest.size() < sizeof module) return bad("an entry is cut short");
    std::memcpy(&module, rest.data(), sizeof module);
    if (module.size < sizeof module || module.size > rest.size() || module.size % 8 != 0 ||
        module.sites_size > module.size - sizeof module)
      return bad("an entry leads out of it");
    // Each site takes more room than the id it may use.
    if (module.first_id != abi::kFirstId + sites_.size() ||
        module.count > module.sites_size / sizeof(abi::Site))
      return bad("the ids of an entry are not the next ones");
    const Bytes section = rest.subspan(sizeof module, module.sites_size);
    // The program may write here meanwhile: sites are read from a copy.
    const std::vector<std::byte> copy(section.begin(), section.end());
    Result<std::vector<Site>> sites = read_sites(copy, module.sites, "a program's dictionary");
    if (!sites) return std::move(sites).error();
    const size_t first = sites_.size();
    sites_.resize(first + module.count);
    for (Site& site : *sites) {
      const uint64_t index = (site.flag - module.flags) / sizeof(abi::Flag);
      if (index < module.count) sites_[first + index] = std::move(site);
    }
    read_ += module.size;
  }
  return {};
}

}  // namespace strata::collect
