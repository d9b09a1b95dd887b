// SPDX-License-Identifier: Apache-2.0
#include "traced_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "format/ctf/ctf_trace.h"

namespace strata::test {
namespace abi = probe::abi;

collect::RingLayout small_ring(abi::Policy policy) {
  collect::RingLayout layout;
  layout.policy = policy;
  layout.capacity_log2 = 16;
  layout.block_log2 = 14;
  layout.dictionary_size = 1024;
  return layout;
}

collect::RingMemory memory_of(const RingMaker& program, const collect::RingLayout& layout) {
  Result<collect::RingMemory> memory = collect::RingMemory::create(layout, abi::Clock::Tsc);
  EXPECT_TRUE(memory) << memory.error().text();
  write_to(*memory, program);
  return *std::move(memory);
}

void write_to(const collect::RingMemory& memory, const RingMaker& program) {
  constexpr size_t kProgramsPart = offsetof(abi::Header, dictionary_used);
  const Bytes written = program.bytes().subspan(kProgramsPart);
  EXPECT_EQ(pwrite(memory.descriptor(), written.data(), written.size(), kProgramsPart),
            static_cast<ssize_t>(written.size()));
}

std::vector<std::string> told_by(const std::string& folder) {
  std::vector<std::string> told;
  auto traces = ctf::CtfTrace::open_all(folder);
  if (!traces) return {traces.error().text()};
  uint64_t lost = 0;
  bool unknown = false;
  for (const auto& trace : *traces) {
    for (const auto& stream : trace->open_streams()) {
      while (stream->next() == trace::Step::Event) {
        const trace::Event& event = stream->event();
        const std::string& first = event.type->fields.front().name;
        told.push_back(event.type->name + " " +
                       std::to_string(event.integer(event.type->ref(first)).value_or(-1)));
        lost += event.lost;
        unknown = unknown || event.lost_unknown;
      }
      lost += stream->unplaced_loss().count;
      unknown = unknown || stream->unplaced_loss().unknown;
      if (stream->problem()) told.push_back(stream->problem()->text());
    }
  }
  if (lost > 0) told.push_back("lost " + std::to_string(lost));
  if (unknown) told.emplace_back("lost unknown");
  return told;
}

}  // namespace strata::test
