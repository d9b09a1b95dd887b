// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "format/tracedat/cpu_pages.h"
#include "ftrace/ring_page.h"
#include "trace/clock_map.h"
#include "trace/stream.h"

namespace strata::tracedat {

// Event types by the number in a record's first field.
struct EventTypes {
  std::vector<const trace::EventType*> by_id;
  const trace::EventType* unknown =
      nullptr;  // stands in for numbers that the file does not explain
};

// The events of one CPU of one buffer.
class CpuStream final : public trace::Stream {
 public:
  CpuStream(const MappedFile& file, const Layout& layout, const Buffer& buffer, CpuData data,
            const EventTypes& types, std::vector<trace::ClockMap> clock, LivePages* live);

  trace::Step next() override;
  // Where it is still being recorded, and somebody tells how far.
  void follow() override;
  void skip_to(Nanoseconds time) override;
  uint64_t bytes_done() const override { return pages_.bytes_done(); }
  uint64_t bytes_total() const override { return pages_.bytes_total(); }

  // The time of the last event, found from the end.
  std::optional<Nanoseconds> last_time();

 private:
  // What is rare is kept out of next(), where it would cost every event the saving of registers.
  [[gnu::noinline]] trace::Step next_page();  // Event: there is one
  [[gnu::noinline]] void leave_corrupt_page();
  // What stands in for a type that the file does not explain, which is noted.
  [[gnu::noinline]] const trace::EventType* unknown_type(uint16_t id);
  std::optional<Nanoseconds> block_time(uint64_t block);

  ftrace::RingPage page_;
  trace::ClockReader clock_;
  const trace::EventType* const* types_;
  size_t type_count_;
  bool swap_;
  bool ended_ = false;
  CpuPages pages_;
  const MappedFile& file_;
  const EventTypes& all_types_;
  LivePages* live_;
  ftrace::Target target_;
};

}  // namespace strata::tracedat
