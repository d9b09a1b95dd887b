// SPDX-License-Identifier: Apache-2.0
#include "guest/address.h"

#include <charconv>
#include <optional>

#include "guest/protocol.h"

namespace strata::guest {
namespace {

constexpr uint32_t kMaxTcpPort = UINT16_MAX;

Error wrong(std::string_view text, std::string cause) {
  return {"", std::nullopt, "'" + std::string(text) + "': " + std::move(cause)};
}

std::optional<uint32_t> number_of(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// What stands before the port, which is taken off; empty: there is none.
std::optional<std::string_view> take_port(std::string_view& place) {
  const size_t bracket = place.rfind(']');
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket))
    return std::nullopt;
  const std::string_view port = place.substr(colon + 1);
  place = place.substr(0, colon);
  return port;
}

Result<Address> parse_tcp(std::string_view text, std::string_view place) {
  Address address{.transport = Transport::Tcp};
  if (const auto port = take_port(place)) {
    const std::optional<uint32_t> number = number_of(*port);
    if (!number || *number > kMaxTcpPort)
      return wrong(text, "'" + std::string(*port) + "' is no port; that is 0 to 65535");
    address.port = *number;
  }
  if (place.starts_with('[') && place.ends_with(']')) {
    address.host = place.substr(1, place.size() - 2);
    if (address.host.find(':') == std::string::npos)
      return wrong(text, "in brackets there is an IPv6 address");
    return address;
  }
  if (place.find_first_of(":[]/") != std::string_view::npos)
    return wrong(text, "an IPv6 address stands in brackets, as in tcp://[::1]:7823");
  if (place.empty()) return wrong(text, "names no host; * is everywhere");
  if (place != "*") address.host = place;
  return address;
}

Result<Address> parse_vsock(std::string_view text, std::string_view place) {
  Address address{.transport = Transport::Vsock};
  if (const auto port = take_port(place)) {
    const std::optional<uint32_t> number = number_of(*port);
    if (!number) return wrong(text, "'" + std::string(*port) + "' is no port");
    address.port = *number;
  }
  if (place == "*") return address;
  const std::optional<uint32_t> cid = number_of(place);
  if (!cid || *cid == kAnyCid)
    return wrong(text, "'" + std::string(place) + "' is no CID, the number of a virtual machine");
  address.cid = *cid;
  return address;
}

}  // namespace

std::string Address::text() const {
  switch (transport) {
    case Transport::Tcp: {
      const bool in_brackets = host.find(':') != std::string::npos;
      const std::string place = host.empty() ? "*" : in_brackets ? "[" + host + "]" : host;
      return "tcp://" + place + ":" + std::to_string(port);
    }
    case Transport::Vsock:
      return "vsock://" + (cid == kAnyCid ? "*" : std::to_string(cid)) + ":" + std::to_string(port);
    case Transport::Virtio:
      return "virtio://" + path;
    case Transport::Unix:
      break;
  }
  return "unix://" + path;
}

Result<Address> parse_address(std::string_view text) {
  const size_t end = text.find("://");
  if (end == std::string_view::npos)
    return wrong(text, "is no address; that is tcp://, vsock://, virtio:// or unix:// and a place");
  const std::string_view scheme = text.substr(0, end);
  const std::string_view place = text.substr(end + 3);
  for (const char c : place) {
    if (c < ' ' || c > '~') return wrong(text.substr(0, end + 3), "has odd characters behind it");
  }
  if (scheme == "tcp") return parse_tcp(text, place);
  if (scheme == "vsock") return parse_vsock(text, place);
  if (scheme != "virtio" && scheme != "unix")
    return wrong(text,
                 "'" + std::string(scheme) + "' is no transport; tcp, vsock, virtio and unix are");
  if (place.empty()) return wrong(text, "names no file");
  Address address{.transport = scheme == "unix" ? Transport::Unix : Transport::Virtio};
  address.path = place;
  return address;
}

Result<Address> stream_port(const Address& control, uint32_t stream) {
  const std::string name = stream == kClockStream ? "clock" : "cpu" + std::to_string(stream);
  const size_t file = control.path.rfind('/') + 1;  // 0 where there is none
  const size_t at = control.path.rfind("ctl");
  if (control.transport != Transport::Virtio || at == std::string::npos || at < file)
    return wrong(control.text(),
                 "has no 'ctl' in its name, in whose place '" + name + "' would be its port");
  Address port = control;
  port.path.replace(at, 3, name);
  return port;
}

}  // namespace strata::guest
