// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/if_link.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_descriptor.h"
#include "period/table.h"

namespace strata::live {

// What the kernel counts of network interfaces, asked of it by netlink: two calls and numbers,
// where /proc has text.
class InterfaceCounters {
 public:
  InterfaceCounters();

  // Now, less what it was at the last call; the first is that from which to count.
  void tell(period::Machine& machine);

 private:
  bool ask();
  Bytes next_answer();

  FileDescriptor socket_;
  uint32_t asked_ = 0;  // times: the kernel answers with this number
  std::vector<std::byte> room_;
  std::map<uint32_t, period::InterfaceRow> known_;  // as they were at the last call, by index
};

// Visits what one datagram says of interfaces, by their index, in answer to this question. True:
// there are more datagrams.
bool each_interface(Bytes datagram, uint32_t question,
                    const std::function<void(uint32_t, const rtnl_link_stats64&)>& visit);

}  // namespace strata::live
