// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "collect/ring_memory.h"
#include "collect/site.h"
#include "collect/site_filter.h"

namespace strata::collect {

// Which records of one process are wanted. What it decides counts; that the process is told the
// same only spares it the writing.
class DrainFilter {
 public:
  // `filters` outlives this.
  explicit DrainFilter(const SiteFilters& filters) : filters_(filters) {}

  // Whether there is anything to decide.
  bool is_active() const { return !filters_.empty(); }

  // Tells the process what of its sites is wanted by this reader, as far as the dictionary knows
  // them. To be called whenever it may have grown.
  void update(const Dictionary& dictionary, RingMemory& memory, uint32_t reader);

  // Of a site that is not known yet, all. `duration`: of a span, in ns.
  bool passes(uint32_t id, Bytes fields, uint64_t duration) const;

 private:
  const SiteFilters& filters_;
  size_t seen_ = 0;                        // of the dictionary's sites
  std::vector<SitePredicate> predicates_;  // by ascending id
};

}  // namespace strata::collect
