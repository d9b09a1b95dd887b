// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "collect/ring_memory.h"
#include "probe/abi.h"

namespace strata::collect {

enum class FieldShape : uint8_t { Number, Enum, String, Sequence };

// A field of a site, as probe.h writes it: numbers as they are in memory, strings up to a NUL,
// sequences behind a 16-bit count of their elements.
struct SiteField {
  std::string name;
  FieldShape shape = FieldShape::Number;
  uint8_t bytes = 4;  // of the number, or of a sequence's elements
  bool is_signed = false;
  bool is_float = false;
  std::vector<std::pair<std::string, int32_t>> labels;  // of an enum

  bool operator==(const SiteField&) const = default;
};

// An event that a program or library declares: what stands in its section strata_sites.
struct Site {
  std::string provider;
  std::string name;
  probe::abi::SiteKind kind = probe::abi::SiteKind::Event;
  uint8_t level = 0;
  std::vector<SiteField> fields;
  uint64_t flag = 0;  // addresses, by the addresses of the sections
  uint64_t anchor = 0;
};

// The sites in these bytes, a section strata_sites whose address in the program is `address`.
// `file` is for errors.
Result<std::vector<Site>> read_sites(Bytes section, uint64_t address, const std::string& file);

// How many bytes the fields of such a record take; none: these bytes are no such record.
std::optional<size_t> payload_size(const Site& site, Bytes payload);

// The sites behind the ids of a process's records, as its dictionary tells them. It grows while the
// process runs.
class Dictionary {
 public:
  // Reads what was added. An error: the program has written nonsense there; what was read before
  // stays.
  Status update(Bytes memory, const RingLayout& layout);

  // Null: unknown.
  const Site* find(uint32_t id) const {
    const uint64_t index = uint64_t{id} - probe::abi::kFirstId;
    return index < sites_.size() && sites_[index] ? &*sites_[index] : nullptr;
  }
  size_t size() const { return sites_.size(); }

 private:
  std::vector<std::optional<Site>> sites_;  // by id - kFirstId
  uint32_t read_ = 0;                       // bytes of the dictionary
};

}  // namespace strata::collect
