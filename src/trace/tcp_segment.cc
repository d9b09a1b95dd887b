// SPDX-License-Identifier: Apache-2.0
#include "trace/tcp_segment.h"

#include <string>
#include <utility>

#include "trace/event_type.h"

namespace strata::trace {
namespace {

constexpr std::pair<std::string_view, TcpFields::Way> kEvents[] = {
    {"net_dev_queue", TcpFields::Way::Sent},
    {"net_if_receive_skb", TcpFields::Way::Received},
    {"netif_receive_skb", TcpFields::Way::Received},
    {"inet_sock_local_out", TcpFields::Way::Sent},
    {"inet_sock_local_in", TcpFields::Way::Received},
};
constexpr std::string_view kHeaders[] = {"network_header.ipv4.transport_header.tcp.",
                                         "network_header.ipv6.transport_header.tcp."};

}  // namespace

TcpFields::TcpFields(const EventType& type) {
  for (const auto& [name, way] : kEvents)
    if (type.name == name) way_ = way;
  if (way_ == Way::None) return;
  const auto header = [&](std::string_view prefix) {
    const auto field = [&](const char* name) { return type.ref(std::string(prefix) + name); };
    return Header{field("seq"), field("ack_seq"), field("flags")};
  };
  headers_[0] = header("");
  if (!headers_[0].sequence) {
    headers_[0] = header(kHeaders[0]);
    headers_[1] = header(kHeaders[1]);
  }
  if (!headers_[0].sequence && !headers_[1].sequence) way_ = Way::None;
}

std::optional<TcpSegment> TcpFields::read(const Event& event) const {
  for (const Header& header : headers_) {
    const std::optional<int64_t> sequence = event.integer(header.sequence);
    const std::optional<int64_t> acknowledged = event.integer(header.acknowledged);
    const std::optional<int64_t> flags = event.integer(header.flags);
    if (!sequence || !acknowledged || !flags) continue;
    return TcpSegment{static_cast<uint32_t>(*sequence), static_cast<uint32_t>(*acknowledged),
                      static_cast<uint16_t>(*flags)};
  }
  return std::nullopt;
}

}  // namespace strata::trace
