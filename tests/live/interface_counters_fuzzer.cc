// SPDX-License-Identifier: Apache-2.0
//
// Whatever the bytes of an answer are: it is read to its end, and no further.
#include "live/interface_counters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint64_t sum = 0;
  strata::live::each_interface({reinterpret_cast<const std::byte*>(data), size}, 1,
                               [&](uint32_t index, const rtnl_link_stats64& counted) {
                                 sum += index + counted.rx_nohandler;
                               });
  return 0;
}
