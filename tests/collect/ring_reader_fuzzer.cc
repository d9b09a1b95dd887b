// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the memory of a program: its dictionary, its rings.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "collect/ring_reader.h"
#include "collect/site.h"
#include "fuzzed_memory.h"

namespace {

struct Visitor {
  const strata::collect::Dictionary& dictionary;
  const std::vector<std::byte>& memory;
  uint64_t bytes = 0;

  void record(const strata::collect::RingRecord& record) {
    bytes += record.payload.size();
    if (!record.contexts.empty() && !strata::collect::RecordContexts::read(record.contexts))
      abort();
    // Every byte can be read.
    unsigned sum = 0;
    for (const std::byte byte : record.payload) sum += static_cast<unsigned>(byte);
    if (sum > 255u * record.payload.size()) abort();
    if (const strata::collect::Site* site = dictionary.find(record.id)) {
      const auto size = strata::collect::payload_size(*site, record.payload);
      if (size && *size > record.payload.size()) abort();
    }
  }
  void lost(uint64_t) {}
};

}  // namespace

// The first byte chooses the policy; the rest is what the program wrote.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  if (size == 0) return 0;
  const collect::RingLayout layout = test::fuzzed_layout(data[0]);
  // The same for all inputs, since most of it is the collector's and stays as it is.
  static std::vector<std::byte> memory(layout.size());
  size_t used = 1;
  for (const test::MemoryPart part : test::programs_parts(layout)) {
    const size_t written = std::min<size_t>(size - used, part.size);
    std::memcpy(memory.data() + part.at, data + used, written);
    std::fill_n(memory.begin() + static_cast<long>(part.at + written), part.size - written,
                std::byte{0});
    used += written;
  }

  collect::Dictionary dictionary;
  if (Status status = dictionary.update(memory, layout); !status && status.error().cause.empty())
    abort();
  collect::RingReader reader(layout, 0);
  Visitor visitor{dictionary, memory};
  reader.read_all(memory, visitor);
  if (visitor.bytes > layout.capacity()) abort();
  if (Result<collect::RingLayout> read = collect::RingLayout::read(memory, layout.policy, "input");
      !read && read.error().cause.empty())
    abort();
  return 0;
}
