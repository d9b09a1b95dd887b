// SPDX-License-Identifier: Apache-2.0
#include "collect/drain_filter.h"

#include <algorithm>
#include <span>

#include "probe/predicate.h"

namespace strata::collect {

namespace {

std::vector<std::byte> never() {
  const probe::abi::Predicate predicate{probe::abi::kDrop, 0, 0, 0};
  const Bytes bytes = std::as_bytes(std::span(&predicate, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

void DrainFilter::update(const Dictionary& dictionary, RingMemory& memory, uint32_t reader) {
  for (; seen_ < dictionary.size(); ++seen_) {
    const auto id = static_cast<uint32_t>(probe::abi::kFirstId + seen_);
    const Site* site = dictionary.find(id);
    if (site == nullptr) continue;
    if (!sites_.takes(process_, *site)) {
      predicates_.push_back({id, never()});
      is_told_ = false;
      continue;
    }
    const auto filters = filters_.find(site->provider + ":" + site->name);
    if (filters == filters_.end()) continue;
    // One with too many comparisons was refused before anything was recorded.
    if (Result<std::vector<std::byte>> predicate = make_predicate(filters->second, *site)) {
      predicates_.push_back({id, std::move(*predicate)});
      is_told_ = false;
    }
  }
  if (is_told_ || !(is_active() || memory.looks_at_filters())) return;
  memory.set_filters(reader, predicates_);
  if (is_active()) memory.clock_word().look();
  is_told_ = true;
}

void DrainFilter::choose_again() {
  is_told_ = is_told_ && predicates_.empty();
  predicates_.clear();
  seen_ = 0;
}

bool DrainFilter::passes(uint32_t id, Bytes fields, uint64_t duration) const {
  const auto found = std::ranges::lower_bound(predicates_, id, {}, &SitePredicate::id);
  if (found == predicates_.end() || found->id != id) return true;
  return probe::passes({found->bytes.data(), found->bytes.size()}, {fields.data(), fields.size()},
                       &duration);
}

}  // namespace strata::collect
