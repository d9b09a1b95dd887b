// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/site.h"
#include "trace/filter_parser.h"

namespace strata::collect {

// Which events of sites are wanted, by "PROVIDER:NAME": those that fulfil all of these.
using SiteFilters = std::map<std::string, std::vector<trace::FilterTree>>;

// The filters of a site as a predicate (probe/predicate.h), which programs and collector evaluate.
// Besides its fields, a filter may name a span's duration_ns, and of what docs/filter.md tells of
// every event, `event` and `system`. A field that the site lacks makes a comparison fail. An error:
// there are too many comparisons.
Result<std::vector<std::byte>> make_predicate(std::span<const trace::FilterTree> filters,
                                              const Site& site);

// No record can pass.
bool drops_everything(std::span<const std::byte> predicate);

// Whether a filter may name this of the site's events.
bool has_field(const Site& site, std::string_view name);

}  // namespace strata::collect
