// SPDX-License-Identifier: Apache-2.0
//
// Any text as what an agent is asked to record: a request or an error, and a request reads back as
// the same.
#include <cstdlib>

#include "base/bytes.h"
#include "guest/request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  const std::string_view text = as_text({reinterpret_cast<const std::byte*>(data), size});
  const Result<guest::Request> request = guest::parse_request(text);
  if (!request) return 0;
  const Result<guest::Request> again = guest::parse_request(guest::to_json(*request));
  if (!again || *again != *request) abort();
  return 0;
}
