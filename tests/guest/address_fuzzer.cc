// SPDX-License-Identifier: Apache-2.0
//
// Any text as an address: one that reads back as the same, or an error.
#include <cstdlib>

#include "base/bytes.h"
#include "guest/address.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  const Result<guest::Address> address =
      guest::parse_address(as_text({reinterpret_cast<const std::byte*>(data), size}));
  if (!address) return 0;
  const Result<guest::Address> again = guest::parse_address(address->text());
  if (!again || *again != *address) abort();
  (void)static_cast<bool>(guest::stream_port(*address, 3));
  return 0;
}
