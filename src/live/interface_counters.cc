// SPDX-License-Identifier: Apache-2.0
#include "live/interface_counters.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "live/since.h"

namespace strata::live {
namespace {

using period::Column;

// The kernel fills no more of a datagram, whatever room there is.
constexpr size_t kLargestDatagram = size_t{1} << 15;

// What a structure of the kernel's begins with here; an older kernel's is shorter, and a newer
// one's longer.
template <typename T>
T beginning(Bytes bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

// From the first byte of the next one, which begins at a multiple of four.
Bytes behind(Bytes bytes, size_t length) {
  return bytes.subspan(std::min<size_t>(NLMSG_ALIGN(length), bytes.size()));
}

std::optional<rtnl_link_stats64> statistics_in(Bytes attributes) {
  while (attributes.size() >= sizeof(rtattr)) {
    const auto head = beginning<rtattr>(attributes);
    if (head.rta_len < sizeof head || head.rta_len > attributes.size()) return std::nullopt;
    if (head.rta_type == IFLA_STATS_LINK_64)
      return beginning<rtnl_link_stats64>(attributes.first(head.rta_len).subspan(sizeof head));
    attributes = behind(attributes, head.rta_len);
  }
  return std::nullopt;
}

std::string name_of(uint32_t index) {
  char name[IF_NAMESIZE] = "";
  return if_indextoname(index, name) != nullptr ? name : "";
}

}  // namespace

bool each_interface(Bytes datagram, uint32_t question,
                    const std::function<void(uint32_t, const rtnl_link_stats64&)>& visit) {
  while (datagram.size() >= sizeof(nlmsghdr)) {
    const auto head = beginning<nlmsghdr>(datagram);
    if (head.nlmsg_len < sizeof head || head.nlmsg_len > datagram.size()) return false;
    if (head.nlmsg_seq == question) {
      if (head.nlmsg_type == NLMSG_DONE || head.nlmsg_type == NLMSG_ERROR) return false;
      const Bytes body = datagram.first(head.nlmsg_len).subspan(sizeof head);
      if (head.nlmsg_type == RTM_NEWSTATS && body.size() >= sizeof(if_stats_msg)) {
        if (const auto statistics = statistics_in(behind(body, sizeof(if_stats_msg))))
          visit(beginning<if_stats_msg>(body).ifindex, *statistics);
      }
    }
    datagram = behind(datagram, head.nlmsg_len);
  }
  return true;
}

InterfaceCounters::InterfaceCounters()
    : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)),
      room_(kLargestDatagram) {}

bool InterfaceCounters::ask() {
  struct {
    nlmsghdr head;
    if_stats_msg what;
  } question{};
  question.head = {.nlmsg_len = sizeof question,
                   .nlmsg_type = RTM_GETSTATS,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                   .nlmsg_seq = ++asked_,
                   .nlmsg_pid = 0};
  question.what.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
  return send(socket_.get(), &question, sizeof question, 0) == sizeof question;
}

// The kernel has answered before anybody waits for it.
Bytes InterfaceCounters::next_answer() {
  const ssize_t size = recv(socket_.get(), room_.data(), room_.size(), MSG_DONTWAIT);
  return {room_.data(), size > 0 ? static_cast<size_t>(size) : 0};
}

void InterfaceCounters::tell(period::Machine& machine) {
  if (!ask()) return;
  std::map<uint32_t, period::InterfaceRow> now;
  const auto take = [&](uint32_t index, const rtnl_link_stats64& counted) {
    const auto known = known_.find(index);
    const bool is_known = known != known_.end();
    period::InterfaceRow row{.name = is_known ? known->second.name : name_of(index)};
    row.values.set(Column::ReadBytes, counted.rx_bytes);
    row.values.set(Column::WrittenBytes, counted.tx_bytes);
    row.values.set(Column::PacketsIn, counted.rx_packets);
    row.values.set(Column::PacketsOut, counted.tx_packets);
    row.values.set(Column::PacketsRefused, counted.tx_dropped);
    machine.interfaces.push_back(
        since(row, is_known ? known->second.values : period::InterfaceRow::Values()));
    now.insert_or_assign(index, std::move(row));
  };
  for (Bytes answer = next_answer(); !answer.empty() && each_interface(answer, asked_, take);)
    answer = next_answer();
  known_ = std::move(now);
}

}  // namespace strata::live
