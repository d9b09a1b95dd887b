// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the memory of a program: its dictionary, its rings.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "collect/ring_reader.h"
#include "collect/site.h"

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

// The first byte chooses the policy; the rest is what the program wrote, from the program's part of
// the header on. The collector's parts, the filters among them, are its own.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  if (size == 0) return 0;
  collect::RingLayout layout;
  layout.policy = probe::abi::Policy{data[0] % 3u};
  layout.capacity_log2 = 15;
  layout.block_log2 = 14;
  layout.dictionary_size = 512;
  // The same for all inputs, since most of it is the collector's and stays as it is.
  static std::vector<std::byte> memory(layout.size());
  constexpr size_t kProgramsPart = offsetof(probe::abi::Header, dictionary_used);
  std::fill_n(memory.begin() + kProgramsPart, layout.filters() - kProgramsPart, std::byte{0});
  std::fill(memory.begin() + static_cast<long>(layout.controls()), memory.end(), std::byte{0});
  const size_t before_filters = std::min(size - 1, layout.filters() - kProgramsPart);
  std::memcpy(memory.data() + kProgramsPart, data + 1, before_filters);
  std::memcpy(memory.data() + layout.controls(), data + 1 + before_filters,
              std::min(size - 1 - before_filters, memory.size() - layout.controls()));

  collect::Dictionary dictionary;
  if (Status status = dictionary.update(memory, layout); !status && status.error().cause.empty())
    abort();
  collect::RingReader reader(layout, 0);
  Visitor visitor{dictionary, memory};
  reader.read_all(memory, visitor);
  if (visitor.bytes > layout.capacity()) abort();
  if (Result<collect::RingLayout> read = collect::RingLayout::read(memory, "input");
      !read && read.error().cause.empty())
    abort();
  return 0;
}
