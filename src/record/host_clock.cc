// SPDX-License-Identifier: Apache-2.0
#include "record/host_clock.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/byte_writer.h"
#include "clock/calibrate.h"
#include "clock/tsc.h"
#include "format/ctf/uuid.h"
#include "kernel/kernel_files.h"

namespace strata::record {
namespace {

// Below this, what anchors miss by is a large part of what lies between them.
constexpr int64_t kShortestLine = 1'000'000;

constexpr const char* kRawClock = "host.mono_raw";

std::optional<clock::Reading> reading_of(const std::string& kernel_clock) {
  if (kernel_clock == "x86-tsc") return clock::Reading::Tsc;
  if (kernel_clock == "mono_raw") return clock::Reading::MonotonicRaw;
  if (kernel_clock == "mono") return clock::Reading::Monotonic;
  if (kernel_clock == "boot") return clock::Reading::Boottime;
  return std::nullopt;
}

std::optional<trace::ClockMap> map_to_epoch(const std::vector<clock::Anchor>& anchors,
                                            clock::Reading from, const std::string& name) {
  Result<trace::ClockMap> map = clock::follow_wall(anchors, from);
  if (!map) return std::nullopt;
  map->from = name;
  map->to = "epoch";
  return *std::move(map);
}

}  // namespace

ctf::Uuid machine_uuid() {
  ctf::Uuid id{};
  if (const std::optional<std::string> bytes = ctf::parse_uuid(kernel::boot_id()))
    std::memcpy(id.data(), bytes->data(), id.size());
  return id;
}

Result<HostClock> HostClock::choose(const std::string& wanted) {
  HostClock clock;
  clock.kernel_name_ = wanted;
  clock.note_ = "as it was asked for";
  if (wanted.empty()) {
    const clock::TscCheck check = clock::check_tsc();
    clock.kernel_name_ = check.trusted() ? "x86-tsc" : "mono_raw";
    clock.note_ = check.trusted()
                      ? "constant, nonstop, the kernel's own clocksource, and monotonic "
                        "across CPUs"
                      : "the TSC is not used: " + check.reason;
  }
  clock.name_ = clock.kernel_name_ == "x86-tsc" ? "host.tsc" : "host." + clock.kernel_name_;
  clock.take_anchor();
  return clock;
}

std::optional<Ticks> HostClock::now() const { return reading_at(clock::take_anchor()); }

void HostClock::take_anchor() { anchors_.push_back(clock::take_anchor()); }

void HostClock::begin_chunk() {
  anchors_.erase(anchors_.begin(), anchors_.begin() + static_cast<ptrdiff_t>(chunk_begin_));
  chunk_begin_ = anchors_.size() - 1;
}

void HostClock::forget_anchors(size_t but_last) {
  if (anchors_.size() > but_last)
    anchors_.erase(anchors_.begin(), anchors_.end() - static_cast<ptrdiff_t>(but_last));
}

std::optional<Ticks> HostClock::last_reading() const { return reading_at(anchors_.back()); }

std::optional<Ticks> HostClock::reading_at(const clock::Anchor& anchor) const {
  const std::optional<clock::Reading> which = reading_of(kernel_name_);
  if (!which) return std::nullopt;
  return Ticks{static_cast<uint64_t>(clock::reading(anchor, *which))};
}

std::optional<trace::ClockMap> HostClock::to_epoch() const {
  const std::optional<clock::Reading> from = reading_of(kernel_name_);
  return from ? map_to_epoch(anchors_, *from, name_) : std::nullopt;
}

std::vector<trace::ClockMap> HostClock::maps() const {
  std::vector<trace::ClockMap> maps;
  if (std::optional<trace::ClockMap> own = to_epoch()) maps.push_back(*std::move(own));
  if (name_ == kRawClock) return maps;
  if (std::optional<trace::ClockMap> map =
          map_to_epoch(anchors_, clock::Reading::MonotonicRaw, kRawClock))
    maps.push_back(*std::move(map));
  return maps;
}

HostClock::Line HostClock::line() const {
  const std::optional<clock::Reading> from = reading_of(kernel_name_);
  if (!from) return {};
  const clock::Anchor& first = anchors_.front();
  const clock::Anchor& last = anchors_.back();
  if (*from != clock::Reading::Tsc) {
    const int64_t since_zero = *from == clock::Reading::MonotonicRaw ? last.monotonic_raw_ns
                               : *from == clock::Reading::Monotonic  ? last.monotonic_ns
                                                                     : last.boottime_ns;
    return {1, 0, last.wall_ns - since_zero, true};
  }
  if (last.monotonic_raw_ns - first.monotonic_raw_ns < kShortestLine) return {};
  const Result<trace::ClockPiece> piece = clock::fit_line(anchors_, *from, clock::Reading::Wall);
  if (!piece) return {};
  const clock::Tsc2Nsec said = clock::tsc2nsec(*piece, first.tsc + (last.tsc - first.tsc) / 2);
  return {said.mult, said.shift, said.offset_ns, true};
}

std::vector<recording::NamedClock> HostClock::descriptions(const std::string& machine) const {
  constexpr uint64_t kNanoseconds = 1'000'000'000;
  recording::NamedClock own{name_, machine, kNanoseconds, note_};
  if (kernel_name_ == "x86-tsc") {
    own.frequency = 0;
    if (const Result<trace::ClockPiece> piece =
            clock::fit_line(anchors_, clock::Reading::Tsc, clock::Reading::MonotonicRaw))
      own.frequency = clock::whole_hertz(*piece, anchors_.front().tsc).frequency;
  }
  std::vector<recording::NamedClock> clocks = {std::move(own)};
  if (name_ != kRawClock)
    clocks.push_back({kRawClock, machine, kNanoseconds, "CLOCK_MONOTONIC_RAW"});
  clocks.push_back({"epoch", "", kNanoseconds, "nanoseconds since 1970, UTC"});
  return clocks;
}

kernel::StateClock HostClock::state_clock() const {
  return kernel_name_ == "x86-tsc" ? kernel::StateClock::Tsc : kernel::StateClock::MonotonicRaw;
}

std::string HostClock::state_clock_name() const {
  return state_clock() == kernel::StateClock::Tsc ? name_ : kRawClock;
}

ctf::NewClock HostClock::ctf_clock() const {
  ctf::NewClock clock;
  const bool is_tsc = state_clock() == kernel::StateClock::Tsc;
  clock.name = is_tsc ? "tsc" : "mono_raw";
  clock.description = is_tsc ? "Time stamp counter" : "CLOCK_MONOTONIC_RAW";
  clock.uuid = machine_uuid();
  clock.since_epoch = true;
  const clock::Reading from = is_tsc ? clock::Reading::Tsc : clock::Reading::MonotonicRaw;
  if (const Result<trace::ClockPiece> line =
          clock::fit_line(anchors_, from, clock::Reading::Wall)) {
    const clock::WholeHertz said = clock::whole_hertz(
        *line,
        is_tsc ? anchors_.front().tsc : static_cast<uint64_t>(anchors_.front().monotonic_raw_ns));
    clock.frequency = said.frequency;
    clock.offset_seconds = said.offset_seconds;
    clock.offset_cycles = said.offset_cycles;
  }
  return clock;
}

std::vector<tracedat::NewOption> HostClock::options() const {
  using tracedat::OptionId;
  std::vector<tracedat::NewOption> options;
  options.push_back(tracedat::text_option(OptionId::TraceClock, "[" + kernel_name_ + "]"));
  const Line line = this->line();
  if (!line.is_known) return options;
  // DATE has microseconds only; what is left over goes into OFFSET.
  int64_t microseconds = line.offset_ns / 1000;
  if (line.offset_ns % 1000 < 0) --microseconds;
  char date[32];
  std::snprintf(date, sizeof date, "0x%" PRIx64, static_cast<uint64_t>(microseconds));
  options.push_back(tracedat::text_option(OptionId::Date, date));
  options.push_back(tracedat::text_option(OptionId::Offset,
                                          std::to_string(line.offset_ns - microseconds * 1000)));
  if (line.mult != 1 || line.shift != 0) {
    ByteWriter data(kNativeOrder);
    data.u32(line.mult);
    data.u32(line.shift);
    data.u64(0);
    options.push_back({OptionId::Tsc2Nsec, std::move(data).bytes()});
  }
  return options;
}

}  // namespace strata::record
