// SPDX-License-Identifier: Apache-2.0
#include "probe/filters.h"

#include "probe/load_order.h"

namespace strata::probe {
namespace {

// A filter that changes time and again while it is looked at: then the record passes.
constexpr int kAttempts = 4;

// The predicate of the site; empty, where the half has none.
View find_predicate(const abi::FilterHalf& half, uint32_t id) {
  const View bytes{half.bytes, sizeof half.bytes};
  uint32_t low = 0;
  uint32_t high = load(half.count);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    abi::FilterEntry entry;
    if (!bytes.read(middle * sizeof entry, entry)) return {};
    if (entry.id == id) {
      if (entry.predicate > bytes.size || entry.size > bytes.size - entry.predicate) return {};
      return {bytes.data + entry.predicate, entry.size};
    }
    if (entry.id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return {};
}

// `filtering` is what Header::filtering said just now, and `says` is where it says so.
bool passes_area(const abi::FilterArea& area, const uint32_t& says, uint32_t filtering, uint32_t id,
                 View fields) {
  for (int attempt = 0; filtering > abi::kEverything && attempt < kAttempts; ++attempt) {
    const View predicate = find_predicate(area.halves[filtering % 2], id);
    const bool passed = predicate.size == 0 || passes(predicate, fields);
    // All of this was read before it is looked at again.
    keep_loads_in_order();
    const uint32_t now = load(says);
    if (now == filtering) return passed;
    filtering = now;
  }
  return filtering != abi::kNobody;
}

}  // namespace

bool is_wanted(const Attachment& on, uint32_t id, View fields) {
  bool read_by_anybody = false;
  for (uint32_t reader = 0; reader < abi::kMaxReaders; ++reader) {
    const uint32_t& says = on.header->filtering[static_cast<uint32_t>(on.policy)][reader];
    const uint32_t filtering = load(says);
    if (filtering == abi::kNobody) continue;
    if (passes_area(on.filters[reader], says, filtering, id, fields)) return true;
    read_by_anybody = true;
  }
  return !read_by_anybody;
}

}  // namespace strata::probe
