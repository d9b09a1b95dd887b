// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/clock_options.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/byte_writer.h"

namespace strata::tracedat {
namespace {

constexpr uint32_t kInterpolate = 1;

// The host's clock at a sample.
int64_t host_time(const ShiftSample& sample) {
  const Int128 guest = Int128{sample.time} + sample.offset;
  if (sample.scaling == uint64_t{1} << sample.fraction) return saturated(guest);
  // 2^63 x 2^63 still fits; what is larger is no time.
  return saturated((Int128{saturated(guest)} << sample.fraction) / Int128{sample.scaling});
}

trace::ClockPiece piece_from(const ShiftSample& sample) {
  const trace::Slope slope = trace::slope(uint64_t{1} << sample.fraction, sample.scaling);
  return {.t0 = sample.time,
          .u0 = host_time(sample),
          .mult = slope.mult,
          .shift = slope.shift,
          .rounding = slope.shift == 0 ? 0 : uint64_t{1} << (slope.shift - 1)};
}

// The straight line through two samples. Rounded as trace-cmd rounds it, so that both show the same
// instant to the nanosecond: the change of the offset is (x + 1/2) cut off towards zero. Where it
// is above zero that is to the nearest. Where it is below, it is, once half a nanosecond is
// reached, one up from that.
class Line {
 public:
  // Nothing where the samples would turn time around: no line can join them.
  static std::optional<Line> through(const ShiftSample& a, const ShiftSample& b) {
    const Int128 rise = Int128{host_time(b)} - host_time(a);
    if (rise <= 0 || rise > std::numeric_limits<int64_t>::max()) return std::nullopt;
    return Line(a, static_cast<uint64_t>(rise), b.time - a.time);
  }

  // From the first sample up to the second, and on.
  void add_from_start(std::vector<trace::ClockPiece>& pieces) const {
    if (rise_ >= run_) {
      pieces.push_back(piece(t0_, half_));
      return;
    }
    pieces.push_back({.t0 = t0_, .u0 = u0_});
    const uint64_t far = half_a_nanosecond();
    if (far < run_) pieces.push_back(piece(t0_ + far, half_ + one_ - 1));
  }
  // What lies before the first sample.
  void add_before_start(std::vector<trace::ClockPiece>& pieces) const {
    if (t0_ == 0) return;
    if (rise_ <= run_) {
      pieces.push_back(piece(t0_ - 1, half_));
      return;
    }
    const uint64_t far = half_a_nanosecond();
    if (far <= t0_) pieces.push_back(piece(t0_ - far, half_ + one_ - 1));
    const uint64_t near = t0_ - std::min(far - 1, t0_);
    if (near < t0_) pieces.push_back({.t0 = near, .u0 = saturated(Int128{u0_} - (t0_ - near))});
  }

 private:
  Line(const ShiftSample& start, uint64_t rise, uint64_t run)
      : t0_(start.time),
        u0_(host_time(start)),
        rise_(rise),
        run_(run),
        slope_(trace::slope(rise, run)),
        one_(uint64_t{1} << slope_.shift),
        half_(one_ / 2) {}

  // How far it is until the offset has changed by more than half a nanosecond.
  uint64_t half_a_nanosecond() const {
    return run_ / (rise_ < run_ ? run_ - rise_ : rise_ - run_) / 2 + 1;
  }
  // The line from `begin` on, though computed from its start.
  trace::ClockPiece piece(uint64_t begin, uint64_t rounding) const {
    const Int128 at_begin = (Int128{begin} - Int128{t0_}) * Int128{slope_.mult} + Int128{rounding};
    return {.t0 = begin,
            .u0 = saturated(Int128{u0_} + (at_begin >> slope_.shift)),
            .mult = slope_.mult,
            .shift = slope_.shift,
            .rounding = static_cast<uint64_t>(at_begin) & (one_ - 1)};
  }

  uint64_t t0_;
  int64_t u0_;
  uint64_t rise_;
  uint64_t run_;
  trace::Slope slope_;
  uint64_t one_;
  uint64_t half_;
};

// The number in a text option, decimal or 0x hexadecimal.
std::optional<int64_t> number_in(const Option& option) {
  const std::string text(as_text(option.data).substr(0, 64));
  char* end = nullptr;
  errno = 0;
  const int64_t value = std::strtoll(text.c_str(), &end, 0);
  if (errno != 0 || end == text.c_str()) return std::nullopt;
  return value;
}

}  // namespace

Result<TimeShift> parse_time_shift(const Option& option, ByteOrder order, const std::string& file) {
  ByteReader in(option.data, order, option.offset);
  TimeShift shift;
  shift.peer_trace_id = in.u64();
  shift.interpolate = (in.u32() & kInterpolate) != 0;
  const uint32_t cpus = in.u32();
  for (uint32_t cpu = 0; cpu < cpus && in.ok(); ++cpu) {
    const uint32_t count = in.u32();
    // Three numbers a sample follow: a count that they cannot be is not believed.
    if (count > in.remaining() / 24) in.skip(std::numeric_limits<uint64_t>::max());
    if (!in.ok()) break;
    auto& samples = shift.cpus.emplace_back(count);
    for (ShiftSample& sample : samples) sample.time = in.u64();
    for (ShiftSample& sample : samples) sample.offset = in.s64();
    for (ShiftSample& sample : samples) sample.scaling = in.u64();
  }
  // Older writers end here.
  if (in.ok() && in.remaining() > 0) {
    for (auto& samples : shift.cpus) {
      for (ShiftSample& sample : samples) {
        const uint64_t fraction = in.u64();
        if (fraction > 62)
          return Error{file, in.file_offset() - 8, "a clock's scale that makes no sense"};
        sample.fraction = static_cast<uint8_t>(fraction);
      }
    }
  }
  if (!in.ok()) return in.truncated(file, "the option TIME_SHIFT");
  for (auto& samples : shift.cpus) {
    for (ShiftSample& sample : samples) {
      if (sample.scaling == 0 || sample.scaling > uint64_t{1} << 62)
        return Error{file, option.offset, "a clock's scale that makes no sense"};
    }
    std::ranges::stable_sort(samples, {}, &ShiftSample::time);
    samples.erase(
        std::unique(samples.begin(), samples.end(),
                    [](const ShiftSample& a, const ShiftSample& b) { return a.time == b.time; }),
        samples.end());
  }
  return shift;
}

std::vector<std::byte> encode_time_shift(const TimeShift& shift, ByteOrder order) {
  ByteWriter out(order);
  out.u64(shift.peer_trace_id);
  out.u32(shift.interpolate ? kInterpolate : 0);
  out.u32(static_cast<uint32_t>(shift.cpus.size()));
  for (const auto& samples : shift.cpus) {
    out.u32(static_cast<uint32_t>(samples.size()));
    for (const ShiftSample& sample : samples) out.u64(sample.time);
    for (const ShiftSample& sample : samples) out.u64(static_cast<uint64_t>(sample.offset));
    for (const ShiftSample& sample : samples) out.u64(sample.scaling);
  }
  for (const auto& samples : shift.cpus) {
    for (const ShiftSample& sample : samples) out.u64(sample.fraction);
  }
  return std::move(out).bytes();
}

trace::ClockMap shift_map(const std::vector<ShiftSample>& samples, bool interpolate) {
  std::vector<trace::ClockPiece> pieces;
  if (interpolate && samples.size() > 1) {
    for (size_t i = 0; i + 1 < samples.size(); ++i) {
      const std::optional<Line> line = Line::through(samples[i], samples[i + 1]);
      if (!line) {
        pieces.push_back(piece_from(samples[i]));
        continue;
      }
      if (i == 0) line->add_before_start(pieces);
      line->add_from_start(pieces);
    }
  } else {
    for (const ShiftSample& sample : samples) pieces.push_back(piece_from(sample));
  }
  trace::ClockMap map(std::move(pieces));
  map.from = "guest";
  map.to = "host";
  return map;
}

std::vector<trace::ClockMap> ClockOptions::chain(uint32_t cpu) const {
  std::vector<trace::ClockMap> chain;
  if (shift && cpu < shift->cpus.size() && !shift->cpus[cpu].empty())
    chain.push_back(shift_map(shift->cpus[cpu], shift->interpolate));
  if (has_tsc || offset_ns != 0) {
    chain.push_back(trace::ClockMap({{.u0 = offset_ns,
                                      .mult = has_tsc ? tsc_mult : 1,
                                      .shift = static_cast<uint8_t>(has_tsc ? tsc_shift : 0)}}));
  }
  return chain;
}

ClockOptions read_clock_options(const Layout& layout, const std::string& file,
                                std::vector<Error>& problems) {
  ClockOptions clock;
  const auto add_offset = [&](const Option& option, int64_t scale) {
    const std::optional<int64_t> value = number_in(option);
    int64_t scaled = 0;
    int64_t sum = 0;
    if (!value || __builtin_mul_overflow(*value, scale, &scaled) ||
        __builtin_add_overflow(clock.offset_ns, scaled, &sum)) {
      problems.push_back({file, option.offset, "a time offset that is no usable number"});
      return false;
    }
    clock.offset_ns = sum;
    return true;
  };
  for (const Option& option : layout.options) {
    switch (option.id) {
      case OptionId::Date:
        clock.has_date |= add_offset(option, 1000);
        break;
      case OptionId::Offset:
        add_offset(option, 1);
        break;
      case OptionId::TimeShift: {
        Result<TimeShift> shift = parse_time_shift(option, layout.target.order, file);
        if (shift)
          clock.shift = *std::move(shift);
        else
          problems.push_back(shift.error());
        break;
      }
      case OptionId::Tsc2Nsec: {
        ByteReader in(option.data, layout.target.order, option.offset);
        const uint32_t mult = in.u32();
        const uint32_t shift = in.u32();
        const uint64_t offset = in.u64();
        if (!in.ok() || mult == 0 || shift > 63) {
          problems.push_back({file, option.offset, "an option TSC2NSEC that makes no sense"});
          break;
        }
        clock.has_tsc = true;
        clock.tsc_mult = mult;
        clock.tsc_shift = shift;
        clock.tsc_offset = offset;
        break;
      }
      default:
        break;
    }
  }
  return clock;
}

}  // namespace strata::tracedat
