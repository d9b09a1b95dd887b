// SPDX-License-Identifier: Apache-2.0
#include "state/network.h"

#include <gtest/gtest.h>

#include "state/told_events.h"

namespace strata::state {
namespace {

TEST(Network, PacketsAreCountedByInterface) {
  Told told;
  told.at(0, 0, 5).returns("read");
  told.event("net", "net_dev_queue", {{"len", 1500}, {"name", 0, "eth0"}});
  told.event("net", "net_dev_xmit", {{"len", 1500}, {"rc", 16}, {"name", 0, "eth0"}});
  told.event("net", "net_dev_xmit", {{"len", 1500}, {"rc", 0}, {"name", 0, "eth0"}});
  told.event("net", "netif_receive_skb", {{"len", 60}, {"name", 0, "eth0"}});
  told.event("net", "netif_receive_skb", {{"len", 70}, {"name", 0, "lo"}});
  const Interfaces& all = told.engine.interfaces();
  ASSERT_EQ(all.size(), 2u);
  const Interface& eth0 = all.at(told.engine.names().find("eth0"));
  EXPECT_EQ(eth0.queued.count, 1u);
  EXPECT_EQ(eth0.sent.bytes, 1500u);
  EXPECT_EQ(eth0.refused.count, 1u) << "the first time it was busy";
  EXPECT_EQ(eth0.received.bytes, 60u);
  EXPECT_EQ(all.at(told.engine.names().find("lo")).received.count, 1u);
}

}  // namespace
}  // namespace strata::state
