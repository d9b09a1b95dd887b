// SPDX-License-Identifier: Apache-2.0
#include "live/interface_counters.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <cstring>

namespace strata::live {
namespace {

// An answer as <linux/rtnetlink.h> describes it, built by hand.
class Answer {
 public:
  // A message with the statistics of an interface behind an attribute of another kind.
  void interface(uint32_t question, uint32_t index, uint64_t received) {
    rtnl_link_stats64 statistics{};
    statistics.rx_bytes = received;
    statistics.tx_packets = 3;
    if_stats_msg what{};
    what.ifindex = index;
    const rtattr other{.rta_len = 5, .rta_type = IFLA_STATS_LINK_XSTATS};
    const rtattr attribute{.rta_len = sizeof(rtattr) + sizeof statistics,
                           .rta_type = IFLA_STATS_LINK_64};
    const size_t size = sizeof(nlmsghdr) + sizeof what + 8 + sizeof attribute + sizeof statistics;
    put(head(question, RTM_NEWSTATS, size));
    put(what);
    put(other);
    put(uint32_t{7});  // a byte, and what is left to a multiple of four
    put(attribute);
    put(statistics);
  }
  void end(uint32_t question) { put(head(question, NLMSG_DONE, sizeof(nlmsghdr))); }

  Bytes bytes() const { return as_bytes(bytes_); }

 private:
  static nlmsghdr head(uint32_t question, uint16_t type, size_t size) {
    return {.nlmsg_len = static_cast<uint32_t>(size),
            .nlmsg_type = type,
            .nlmsg_flags = NLM_F_MULTI,
            .nlmsg_seq = question,
            .nlmsg_pid = 0};
  }
  void put(const auto& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::string bytes_;
};

struct Told {
  std::map<uint32_t, uint64_t> received;
  bool goes_on = false;
};

Told told(Bytes datagram) {
  Told told;
  told.goes_on = each_interface(datagram, 9, [&](uint32_t index, const rtnl_link_stats64& counted) {
    EXPECT_EQ(counted.tx_packets, 3u);
    told.received[index] = counted.rx_bytes;
  });
  return told;
}

TEST(InterfaceCounters, AreReadFromAnAnswer) {
  Answer answer;
  answer.interface(9, 1, 100);
  answer.interface(8, 5, 7);  // to somebody's earlier question
  answer.interface(9, 2, 200);
  EXPECT_EQ(told(answer.bytes()).received, (std::map<uint32_t, uint64_t>{{1, 100}, {2, 200}}));
  EXPECT_TRUE(told(answer.bytes()).goes_on);
  answer.end(9);
  answer.interface(9, 3, 300);
  EXPECT_EQ(told(answer.bytes()).received.size(), 2u) << "behind the end is nothing";
  EXPECT_FALSE(told(answer.bytes()).goes_on);
}

TEST(InterfaceCounters, AreReadAsFarAsAnAnswerGoes) {
  Answer answer;
  answer.interface(9, 1, 100);
  const size_t one = answer.bytes().size();
  answer.interface(9, 2, 200);
  for (size_t size = 0; size <= answer.bytes().size(); ++size) {
    const std::string cut(as_text(answer.bytes().first(size)));  // its own end is its end
    EXPECT_EQ(told(as_bytes(cut)).received.size(), size / one) << size;
  }
}

}  // namespace
}  // namespace strata::live
