// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "collect/chosen_sites.h"
#include "collect/ring_memory.h"
#include "collect/site.h"
#include "collect/site_filter.h"

namespace strata::collect {

// Which records of one process are wanted: none of sites that were not chosen, of others those that
// their filters let pass. What it decides counts; that the process is told the same only spares it
// the writing.
class DrainFilter {
 public:
  // `filters` and `sites` outlive this. The latter may change: choose_again().
  DrainFilter(const SiteFilters& filters, const ChosenSites& sites, pid_t process)
      : filters_(filters), sites_(sites), process_(process) {}

  // Whether there are filters.
  bool is_active() const { return !filters_.empty(); }

  // Tells the process what of its sites is wanted by this reader, as far as the dictionary knows
  // them; where there are no filters, only while the process looks at such anyway, for others. To
  // be called whenever the dictionary may have grown, and now and then.
  void update(const Dictionary& dictionary, RingMemory& memory, uint32_t reader);
  // Other sites were chosen: the next update() tells.
  void choose_again();

  // Of a site that is not known yet, all. `duration`: of a span, in ns.
  bool passes(uint32_t id, Bytes fields, uint64_t duration) const;

 private:
  const SiteFilters& filters_;
  const ChosenSites& sites_;
  pid_t process_;
  size_t seen_ = 0;                        // of the dictionary's sites
  std::vector<SitePredicate> predicates_;  // by ascending id
  bool is_told_ = true;                    // these; there are none yet
};

}  // namespace strata::collect
