// SPDX-License-Identifier: Apache-2.0
//
// The headers of packets, as LTTng's events hold them since version 2.9.
#include "trace/tcp_segment.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <vector>

#include "recording/open.h"
#include "support/temporary_folder.h"

namespace strata::recording {
namespace {

constexpr const char* kMetadata = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 16; align = 8; signed = false; byte_order = be; } := be16_t;
typealias integer { size = 32; align = 8; signed = false; byte_order = be; } := be32_t;
trace { major = 1; minor = 8; byte_order = le; };
clock { name = monotonic; };
stream {
  event.header := struct {
    uint8_t id;
    integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } timestamp;
  };
};
event {
  name = "net_dev_queue"; id = 0;
  fields := struct {
    uint64_t _skbaddr;
    enum : uint8_t { "_unknown" = 0, "_ipv4" = 1, "_ipv6" = 2 } _network_header_type;
    variant <_network_header_type> {
      struct { } _unknown;
      struct {
        uint8_t _ttl;
        enum : uint8_t { "_unknown" = 0, "_tcp" = 1 } _transport_header_type;
        variant <_transport_header_type> {
          struct { } _unknown;
          struct { be16_t _source_port; be16_t _dest_port; be32_t _seq; be32_t _ack_seq;
                   be16_t _flags; } _tcp;
        } _transport_header;
      } _ipv4;
      struct {
        uint8_t _saddr[16];
        enum : uint8_t { "_unknown" = 0, "_tcp" = 1 } _transport_header_type;
        variant <_transport_header_type> {
          struct { } _unknown;
          struct { be16_t _source_port; be16_t _dest_port; be32_t _seq; be32_t _ack_seq;
                   be16_t _flags; } _tcp;
        } _transport_header;
      } _ipv6;
    } _network_header;
  };
};
)";

struct Record {
  std::string bytes;
  explicit Record(char time) {
    put("0");
    bytes.back() = 0;
    bytes += time;
    bytes.append(7 + 8, '\0');  // the rest of the time, and _skbaddr
  }
  Record& put(std::string_view some) {
    bytes += some;
    return *this;
  }
};

TEST(TcpFields, AreReadWhereThePacketHoldsATcpSegment) {
  using namespace std::string_view_literals;
  constexpr std::string_view kTcp =
      "\x01\xbb\x12\x34"
      "\x01\x02\x03\x04"
      "\xf1\xf2\xf3\xf4"
      "\x50\x18"sv;
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("trace"));
  folder.write("trace/metadata", kMetadata);
  std::string stream;
  stream += Record(1).put("\x01\x40\x01"sv).put(kTcp).bytes;
  stream += Record(2).put("\x01\x40\x00"sv).bytes;
  stream += Record(3).put("\x02"sv).put(std::string(16, 'a')).put("\x01"sv).put(kTcp).bytes;
  stream += Record(4).put("\x00"sv).bytes;
  folder.write("trace/stream", stream);

  const auto traces = open_traces(folder.file("trace"));
  ASSERT_TRUE(traces) << traces.error().text();
  const trace::Trace& trace = *traces->front();
  const trace::TcpFields fields(*trace.event_types().front());
  EXPECT_EQ(fields.way(), trace::TcpFields::Way::Sent);
  const trace::TcpSegment segment{0x01020304, 0xf1f2f3f4, 0x5018};
  std::vector<std::optional<trace::TcpSegment>> read;
  const auto streams = trace.open_streams();
  while (streams.front()->next() == trace::Step::Event)
    read.push_back(fields.read(streams.front()->event()));
  EXPECT_EQ(streams.front()->problem(), std::nullopt);
  EXPECT_THAT(read, testing::ElementsAre(segment, std::nullopt, segment, std::nullopt));
}

TEST(TcpFields, OfOtherEventsAreNone) {
  trace::EventType type;
  type.name = "net_dev_queue";
  EXPECT_EQ(trace::TcpFields(type).way(), trace::TcpFields::Way::None) << "it has no headers";
  type.name = "sched_switch";
  EXPECT_EQ(trace::TcpFields(type).way(), trace::TcpFields::Way::None);
}

}  // namespace
}  // namespace strata::recording
