// SPDX-License-Identifier: Apache-2.0
#include "record/flight.h"

#include <unistd.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/time_text.h"

namespace strata::record {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::string_view name_of(FlightWay way) {
  switch (way) {
    case FlightWay::Mapped:
      return "mapped";
    case FlightWay::Swapped:
      return "swapped";
    case FlightWay::Stopped:
      return "stopped";
  }
  return "";
}

Status Flight::start(std::vector<pid_t> own_threads) {
  if (Status status = events_.prepare(); !status) return status;
  const kernel::Instance& instance = events_.instance();
  // The kernel's own default; without it a full ring would keep what came first.
  if (Status status = instance.write("options/overwrite", "1"); !status) return status;
  if (Status status = choose_way(); !status) return status;
  own_threads.push_back(getpid());
  if (Status status = events_.start(std::move(own_threads)); !status) return status;
  since_ns_ = now_since_epoch().count;
  return {};
}

Status Flight::choose_way() {
  const auto may = [&](FlightWay way) { return !wanted_ || *wanted_ == way; };
  std::optional<Error> why_not;
  if (may(way_ = FlightWay::Mapped)) {
    Status status = map_rings();
    if (status) return {};
    why_not = std::move(status).error();
    mapped_.clear();
  }
  if (may(way_ = FlightWay::Swapped)) {
    // Makes the second rings: while it flies there may be no memory for them.
    Status status = events_.instance().write("snapshot", "1");
    if (status) return {};
    why_not = std::move(status).error();
  }
  if (may(way_ = FlightWay::Stopped)) return {};
  return *why_not;
}

Status Flight::map_rings() {
  for (const uint32_t cpu : events_.instance().cpus()) {
    Result<kernel::MappedRing> ring = kernel::MappedRing::map(events_.instance(), cpu);
    if (!ring) return std::move(ring).error();
    mapped_.push_back(*std::move(ring));
  }
  return {};
}

SourceStatus Flight::status() const {
  const KernelEvents::Rings rings = events_.rings();
  return {.events = rings.together.events() + rings.together.overrun,
          .bytes = rings.together.bytes,
          .lost = rings.together.dropped + rings.together.commit_overrun,
          .fill = std::min(rings.fill, 1.0)};
}

std::optional<std::chrono::nanoseconds> Flight::reach() const {
  const std::optional<trace::ClockMap> to_epoch = clock_.to_epoch();
  if (!to_epoch) return std::nullopt;
  int64_t begin = since_ns_;
  for (size_t ring = 0; ring < events_.instance().cpus().size(); ++ring) {
    const kernel::RingStats stats = events_.stats(ring);
    if (stats.overrun > 0 && stats.oldest)
      begin = std::max(begin, to_epoch->at(raw(*stats.oldest)));
  }
  return std::chrono::nanoseconds(now_since_epoch().count - begin);
}

Result<FlightCopy> Flight::copy() {
  clock_.take_anchor();
  FlightCopy copy;
  copy.way = way_;
  copy.end_ns = now_since_epoch().count;
  copy.begin_ns = since_ns_;
  copy.gap_ns = gap_ns_;
  const Clock::time_point begin = Clock::now();
  Result<std::vector<kernel::RingCopy>> rings =
      take(clock_.last_reading().value_or(kernel::kEverything));
  if (!rings) return std::move(rings).error();
  copy.took = Clock::now() - begin;
  copy.rings = *std::move(rings);
  const std::optional<trace::ClockMap> to_epoch = clock_.to_epoch();
  for (const kernel::RingCopy& ring : copy.rings) {
    if (!ring.overwritten || !to_epoch) continue;
    const int64_t first =
        ring.pages.empty() ? copy.end_ns : to_epoch->at(load<uint64_t>(ring.pages.data(), false));
    if (first > copy.begin_ns) copy.gap_ns = 0;
    copy.begin_ns = std::max(copy.begin_ns, first);
  }
  if (way_ == FlightWay::Stopped) gap_ns_ = copy.end_ns;
  return copy;
}

Result<std::vector<kernel::RingCopy>> Flight::take(Ticks until) {
  const kernel::Instance& instance = events_.instance();
  if (way_ == FlightWay::Mapped) {
    std::vector<kernel::RingCopy> rings;
    for (const kernel::MappedRing& ring : mapped_) rings.push_back(ring.copy(until));
    for (size_t i = 0; i < rings.size(); ++i) rings[i].overwritten = events_.stats(i).overrun > 0;
    return rings;
  }
  if (way_ == FlightWay::Swapped) {
    if (Status status = instance.write("snapshot", "1"); !status) return std::move(status).error();
    since_ns_ = now_since_epoch().count;
    auto rings = take_files("snapshot_raw");
    // Empties what is the next to be written to.
    if (Status status = instance.write("snapshot", "2"); !status) return std::move(status).error();
    return rings;
  }
  if (Status status = events_.stop(); !status) return std::move(status).error();
  auto rings = take_files("trace_pipe_raw");
  if (Status status = events_.go_on(); !status) return std::move(status).error();
  since_ns_ = now_since_epoch().count;
  return rings;
}

Result<std::vector<kernel::RingCopy>> Flight::take_files(std::string_view file) const {
  const kernel::Instance& instance = events_.instance();
  // A page of the ring is full before its last bytes are; one is with the reader, and one not full.
  const size_t bytes =
      events_.buffer_bytes() + events_.buffer_bytes() / 64 + size_t{4} * instance.page_size();
  std::vector<kernel::RingCopy> rings;
  for (const uint32_t cpu : instance.cpus()) {
    Result<kernel::RingCopy> ring =
        kernel::take_ring(instance.cpu_file(cpu, file), instance.page_size(), bytes);
    if (!ring) return std::move(ring).error();
    rings.push_back(*std::move(ring));
  }
  return rings;
}

Status Flight::stop() {
  mapped_.clear();
  return events_.remove();
}

}  // namespace strata::record
