// SPDX-License-Identifier: Apache-2.0
//
// Whoever may talk to a session may say anything: it is a change or an error, and a change reads
// back as the same.

#include <cstdint>
#include <cstdlib>

#include "record/session_change.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata::record;
  const auto question = ControlSocket::Json::parse(data, data + size, nullptr, false);
  if (!question.is_object()) return 0;
  const strata::Result<SessionChange> change = parse_change(question);
  if (!change) return 0;
  const strata::Result<SessionChange> again = parse_change(to_json(*change));
  if (!again || *again != *change) abort();
  return 0;
}
