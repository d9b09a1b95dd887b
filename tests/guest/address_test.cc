// SPDX-License-Identifier: Apache-2.0
#include "guest/address.h"

#include <gmock/gmock.h>

namespace strata::guest {
namespace {

using ::testing::HasSubstr;

Address parsed(std::string_view text) {
  const Result<Address> address = parse_address(text);
  EXPECT_TRUE(address) << address.error().text();
  return address ? *address : Address();
}

TEST(Address, EachTransportHasItsOwnKindOfPlace) {
  EXPECT_EQ(parsed("tcp://db1:99"),
            (Address{.transport = Transport::Tcp, .host = "db1", .port = 99}));
  EXPECT_EQ(parsed("tcp://10.0.0.7"),
            (Address{.transport = Transport::Tcp, .host = "10.0.0.7", .port = 7823}));
  EXPECT_EQ(parsed("vsock://3:1024"),
            (Address{.transport = Transport::Vsock, .cid = 3, .port = 1024}));
  EXPECT_EQ(parsed("vsock://3"), (Address{.transport = Transport::Vsock, .cid = 3, .port = 7823}));
  EXPECT_EQ(parsed("vsock://*:5"), (Address{.transport = Transport::Vsock, .port = 5}));
  EXPECT_EQ(parsed("virtio:///run/vm/strata.ctl"),
            (Address{.transport = Transport::Virtio, .path = "/run/vm/strata.ctl"}));
  EXPECT_EQ(parsed("virtio://strata.ctl"),
            (Address{.transport = Transport::Virtio, .path = "strata.ctl"}));
  EXPECT_EQ(parsed("unix:///tmp/a b"), (Address{.transport = Transport::Unix, .path = "/tmp/a b"}));
}

TEST(Address, AnIpv6AddressStandsInBrackets) {
  EXPECT_EQ(parsed("tcp://[::1]:99"),
            (Address{.transport = Transport::Tcp, .host = "::1", .port = 99}));
  EXPECT_EQ(parsed("tcp://[fe80::1%eth0]"),
            (Address{.transport = Transport::Tcp, .host = "fe80::1%eth0", .port = 7823}));
  EXPECT_THAT(parse_address("tcp://::1").error().text(), HasSubstr("in brackets"));
  EXPECT_THAT(parse_address("tcp://2001:db8::1:99").error().text(), HasSubstr("in brackets"));
  EXPECT_THAT(parse_address("tcp://[web1]:99").error().text(), HasSubstr("in brackets"));
}

TEST(Address, ATextIsReadBackAsTheSame) {
  for (const std::string_view text :
       {"tcp://db1:99", "tcp://[::1]:7823", "tcp://*:7823", "vsock://3:1024", "vsock://*:7823",
        "virtio:///run/vm/strata.ctl", "unix:///tmp/x"})
    EXPECT_EQ(parsed(text).text(), text);
}

TEST(Address, WhatIsNoneIsToldInWords) {
  const auto why = [](std::string_view text) {
    const Result<Address> address = parse_address(text);
    return address ? "" : address.error().text();
  };
  EXPECT_THAT(why("web1"), HasSubstr("is no address; that is tcp://"));
  EXPECT_THAT(why("udp://web1"), HasSubstr("'udp' is no transport; tcp, vsock, virtio and unix"));
  EXPECT_THAT(why("tcp://"), HasSubstr("names no host"));
  EXPECT_THAT(why("tcp://:99"), HasSubstr("names no host"));
  for (const std::string_view text :
       {"tcp://a:", "tcp://a:x", "tcp://a:65536", "tcp://a:-1", "tcp://a:99999999999999999999"})
    EXPECT_THAT(why(text), HasSubstr("is no port")) << text;
  for (const std::string_view text :
       {"vsock://", "vsock://web1", "vsock://-1", "vsock://4294967295"})
    EXPECT_THAT(why(text), HasSubstr("is no CID")) << text;
  EXPECT_THAT(why("virtio://"), HasSubstr("names no file"));
  EXPECT_THAT(why("unix:///tmp/\33[1m"), HasSubstr("odd characters"));
}

TEST(Address, BesideAControlPortThereIsOneForEachStream) {
  EXPECT_EQ(stream_port(parsed("virtio:///run/ctl/strata.ctl.sock"), 12)->path,
            "/run/ctl/strata.cpu12.sock");
  EXPECT_EQ(stream_port(parsed("virtio://strata.ctl"), 0)->path, "strata.cpu0");
  EXPECT_EQ(stream_port(parsed("virtio://strata.ctl"), UINT32_MAX)->path, "strata.clock");
  EXPECT_THAT(stream_port(parsed("virtio:///run/ctl/strata"), 0).error().text(),
              HasSubstr("no 'ctl'"));
  EXPECT_FALSE(stream_port(parsed("tcp://ctl"), 0));
}

}  // namespace
}  // namespace strata::guest
