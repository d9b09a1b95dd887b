// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/guest_option.h"

#include "base/byte_writer.h"

namespace strata::tracedat {
namespace {

constexpr uint32_t kMostVcpus = 1u << 14;  // what is beyond was never a number of a CPU

}  // namespace

trace::GuestInfo read_guest(Bytes option, ByteOrder order) {
  ByteReader in(option, order);
  trace::GuestInfo guest;
  guest.name = in.string();
  guest.trace_id = in.u64();
  for (uint32_t count = in.u32(); count > 0; --count) {
    const uint32_t cpu = in.u32();
    const auto thread = static_cast<int32_t>(in.u32());
    if (!in.ok()) break;
    if (cpu >= kMostVcpus) continue;
    if (cpu >= guest.vcpus.size()) guest.vcpus.resize(cpu + 1, kNoTid);
    if (thread > 0) guest.vcpus[cpu] = Tid{thread};
  }
  return guest;
}

std::vector<std::byte> encode_guest(const trace::GuestInfo& guest, ByteOrder order) {
  ByteWriter out(order);
  out.string(guest.name);
  out.u64(guest.trace_id);
  out.u32(static_cast<uint32_t>(guest.vcpus.size()));
  for (size_t cpu = 0; cpu < guest.vcpus.size(); ++cpu) {
    out.u32(static_cast<uint32_t>(cpu));
    out.u32(static_cast<uint32_t>(raw(guest.vcpus[cpu])));
  }
  return std::move(out).bytes();
}

}  // namespace strata::tracedat
