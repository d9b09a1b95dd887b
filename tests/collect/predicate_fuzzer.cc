// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a predicate and as a record, and any text as a filter of any record; patterns mean
// the same as elsewhere.
#include <cstdlib>

#include "base/glob.h"
#include "collect/site_filter.h"
#include "fields_of.h"
#include "probe/predicate.h"

// A byte that says which; up to the first NUL the one, behind it the other.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 3 == 0) {  // their length is the next byte: predicates have zeros
    if (text.empty()) return 0;
    const size_t length = std::min<size_t>(static_cast<uint8_t>(text[0]), text.size() - 1);
    const Bytes bytes = as_bytes(text.substr(1));
    const std::vector<std::byte> predicate(bytes.begin(),
                                           bytes.begin() + static_cast<long>(length));
    const std::vector<std::byte> fields(bytes.begin() + static_cast<long>(length), bytes.end());
    (void)probe::passes({predicate.data(), predicate.size()}, {fields.data(), fields.size()});
    return 0;
  }
  const std::string first(text.substr(0, text.find('\0')));
  const std::string rest(text.substr(std::min(first.size() + 1, text.size())));
  if (data[0] % 3 == 1) {
    const bool matches = probe::glob_matches({first.data(), first.data() + first.size()},
                                             {rest.data(), rest.data() + rest.size()});
    if (matches != Glob(first).matches(rest)) abort();
    return 0;
  }
  Result<trace::FilterTree> filter = trace::parse_filter(first);
  if (!filter) return 0;
  const std::vector<trace::FilterTree> filters = {*std::move(filter)};
  const collect::Site site = test::order_site();
  const Result<std::vector<std::byte>> made = collect::make_predicate(filters, site);
  if (!made) return 0;
  const std::vector<std::byte> fields(as_bytes(rest).begin(), as_bytes(rest).end());
  const bool passes = probe::passes({made->data(), made->size()}, {fields.data(), fields.size()});
  // What drops everything has nothing to look at; what is a record is decided on.
  if (collect::drops_everything(*made) && passes) abort();
  return 0;
}
