// SPDX-License-Identifier: Apache-2.0
#include "collect/drain_filter.h"

#include <algorithm>

#include "probe/predicate.h"

namespace strata::collect {

void DrainFilter::update(const Dictionary& dictionary, RingMemory& memory, uint32_t reader) {
  if (seen_ == dictionary.size()) return;
  const size_t before = predicates_.size();
  for (; seen_ < dictionary.size(); ++seen_) {
    const auto id = static_cast<uint32_t>(probe::abi::kFirstId + seen_);
    const Site* site = dictionary.find(id);
    if (site == nullptr) continue;
    const auto filters = filters_.find(site->provider + ":" + site->name);
    if (filters == filters_.end()) continue;
    // One with too many comparisons was refused before anything was recorded.
    if (Result<std::vector<std::byte>> predicate = make_predicate(filters->second, *site))
      predicates_.push_back({id, std::move(*predicate)});
  }
  if (predicates_.size() != before) memory.set_filters(reader, predicates_);
}

bool DrainFilter::passes(uint32_t id, Bytes fields, uint64_t duration) const {
  const auto found = std::ranges::lower_bound(predicates_, id, {}, &SitePredicate::id);
  if (found == predicates_.end() || found->id != id) return true;
  return probe::passes({found->bytes.data(), found->bytes.size()}, {fields.data(), fields.size()},
                       &duration);
}

}  // namespace strata::collect
