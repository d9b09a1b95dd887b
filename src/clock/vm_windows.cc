// SPDX-License-Identifier: Apache-2.0
#include "clock/vm_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "trace/merge.h"

namespace strata::clock {
namespace {

using Traces = std::span<const std::unique_ptr<trace::Trace>>;
using trace::Word;

constexpr size_t kMostKept = size_t{1} << 21;  // windows, and events of a guest
constexpr size_t kMostInjections = size_t{1} << 18;
constexpr size_t kMostAwakenings = 512;
constexpr int64_t kQuiet = 500'000;  // ns in which a CPU did nothing

trace::Merge merge_of(Traces traces) {
  std::vector<std::unique_ptr<trace::Stream>> streams;
  for (const auto& trace : traces)
    for (auto& stream : trace->open_streams()) streams.push_back(std::move(stream));
  return trace::Merge(std::move(streams));
}

void tell_problems(const trace::Merge& merge, std::vector<Error>& problems) {
  for (const auto& stream : merge.streams())
    if (stream->problem()) problems.push_back(*stream->problem());
}

// How a vCPU's windows come about, also where an entry or an exit was lost: a window that is too
// long is still one that holds what was done in it.
struct OpenWindow {
  std::optional<int64_t> entry;
  int64_t last_exit = -2 * kFarthest;  // before all that is near
};

// How far apart the clocks may be, and the votes for it.
struct Candidate {
  int64_t ahead = 0;  // of the host's clock
  uint32_t votes = 0;
};

constexpr size_t kCandidates = 8;

// The most frequent distances from an awakening to an injection, in bins of `width`.
std::vector<Candidate> vote(const std::vector<int64_t>& awakenings,
                            const std::vector<int64_t>& injections, int64_t& width) {
  const int64_t least = injections.front() - awakenings.back();
  const Int128 range = Int128{injections.back()} - awakenings.front() - least;
  constexpr int64_t kMostBins = int64_t{1} << 24;
  width = std::max<int64_t>(100'000, saturated(range / kMostBins + 1));
  std::vector<uint16_t> bins(static_cast<size_t>(range / width) + 2);
  for (const int64_t awakening : awakenings)
    for (const int64_t injection : injections)
      ++bins[static_cast<size_t>((Int128{injection} - awakening - least) / width)];
  // What is at a bin's edge falls into two.
  std::vector<Candidate> best;
  for (size_t i = 0; i + 1 < bins.size(); ++i) {
    const Candidate one{least + static_cast<int64_t>(i + 1) * width,
                        static_cast<uint32_t>(bins[i]) + bins[i + 1]};
    if (best.size() == kCandidates && one.votes <= best.back().votes) continue;
    if (best.size() == kCandidates) best.pop_back();
    best.insert(std::ranges::upper_bound(best, one.votes, std::greater(), &Candidate::votes), one);
  }
  return best;
}

// The windows that are not wholly before or behind from..to, as the first one's entry and the last
// one's exit.
std::optional<VmWindow> around(const std::vector<VmWindow>& windows, int64_t from, int64_t to) {
  const auto first = std::ranges::lower_bound(windows, from, {}, &VmWindow::exit);
  const auto behind = std::ranges::upper_bound(windows, to, {}, &VmWindow::entry);
  if (first >= behind) return std::nullopt;
  return VmWindow{first->entry, (behind - 1)->exit};
}

// Events of a guest's CPU within so short a time that the clocks' rates do not matter.
using Moments = std::span<const int64_t>;

// Some such, from here and there, since for a while a guest may run without an exit.
std::vector<Moments> samples_of(const std::vector<int64_t>& moments) {
  constexpr size_t kSamples = 8;
  constexpr ptrdiff_t kMostEvents = 256;
  constexpr int64_t kLength = 50'000'000;
  constexpr int64_t kSpan = 1'000'000'000;
  const auto late = std::ranges::upper_bound(moments, moments.front() + kSpan);
  const size_t early = std::max(static_cast<size_t>(late - moments.begin()),
                                std::min(moments.size(), kSamples * kMostEvents));
  std::vector<Moments> samples;
  for (size_t i = 0; i < kSamples; ++i) {
    const auto begin = moments.begin() + static_cast<ptrdiff_t>(i * early / kSamples);
    const auto end = std::upper_bound(begin, moments.end(), *begin + kLength);
    samples.emplace_back(begin,
                         std::min(end, begin + std::min(kMostEvents, moments.end() - begin)));
  }
  return samples;
}

// How far the host's clock is ahead, and how many events then lie in no window.
struct Place {
  int64_t ahead = 0;
  size_t outside = 0;
};

// The best one near `ahead`, looked for twice, the second time between the first one's neighbours.
Place best_near(const std::vector<VmWindow>& windows, Moments sample, int64_t ahead,
                int64_t reach) {
  constexpr int64_t kSteps = 10;
  const auto outside = [&](int64_t by) {
    return static_cast<size_t>(std::ranges::count_if(
        sample, [&](int64_t moment) { return !around(windows, moment + by, moment + by); }));
  };
  Place best{ahead, outside(ahead)};
  for (int round = 0; round < 2; ++round, reach /= kSteps) {
    const int64_t middle = best.ahead;
    for (int64_t step = -kSteps; step <= kSteps && best.outside > 0; ++step) {
      const int64_t by = middle + step * reach / kSteps;
      if (const Place tried{by, outside(by)}; tried.outside < best.outside) best = tried;
    }
  }
  return best;
}

// Which vCPU each CPU of the guest is, if the clocks are about so far apart.
struct Seating {
  int64_t ahead = 0;
  std::map<CpuId, Tid> vcpus = {};
  size_t events = 0;
  size_t outside = 0;
};

Seating seat(const HostWindows& host, const GuestMoments& guest, int64_t ahead, int64_t reach) {
  Seating seating{.ahead = ahead};
  for (const auto& [cpu, moments] : guest.cpus) {
    const std::vector<Moments> samples = samples_of(moments);
    size_t events = 0;
    for (const Moments& sample : samples) events += sample.size();
    size_t fewest = events + 1;
    for (const auto& [tid, windows] : host.vcpus) {
      size_t outside = 0;
      for (const Moments& sample : samples)
        outside += best_near(windows, sample, ahead, reach).outside;
      if (outside >= fewest) continue;
      fewest = outside;
      seating.vcpus[cpu] = tid;
    }
    seating.events += events;
    seating.outside += std::min(fewest, events);
  }
  return seating;
}

// Follows one CPU of the guest along its windows.
class Follower {
 public:
  Follower(const std::vector<VmWindow>& windows, int64_t ahead, int64_t tolerance)
      : windows_(windows), ahead_(ahead), tolerance_(tolerance) {}

  // What the event at `moment` lies between, or nothing where no window is near.
  std::optional<VmWindow> place(int64_t moment) {
    if (Int128{moment} - begin_ > kBlock) finish_block(moment);
    const int64_t time = moment + ahead_;
    const std::optional<VmWindow> window = around(windows_, time - tolerance_, time + tolerance_);
    if (window) {
      least_ = std::max(least_, window->entry - moment);
      most_ = std::min(most_, window->exit - moment);
    }
    return window;
  }

 private:
  // So long the clocks' rates do not matter: 100 ms x 100 ppm is 10 us.
  static constexpr int64_t kBlock = 100'000'000;
  static constexpr int64_t kSlack = 20'000;

  // What the events of a while agree on is where the next ones are looked for. Where they do not
  // agree, or were few, it is as before.
  void finish_block(int64_t moment) {
    if (least_ <= most_ && Int128{most_} - least_ < 2 * tolerance_) {
      ahead_ = least_ + (most_ - least_) / 2;
      tolerance_ = (most_ - least_) / 2 + kSlack;
    } else if (least_ > most_) {
      tolerance_ = std::min(2 * tolerance_, kBlock);
    }
    begin_ = moment;
    least_ = std::numeric_limits<int64_t>::min();
    most_ = std::numeric_limits<int64_t>::max();
  }

  const std::vector<VmWindow>& windows_;
  int64_t ahead_;
  int64_t tolerance_;
  int64_t begin_ = std::numeric_limits<int64_t>::min() / 2;
  int64_t least_ = std::numeric_limits<int64_t>::min();
  int64_t most_ = std::numeric_limits<int64_t>::max();
};

// How far a time is from the nearest window.
int64_t distance(const std::vector<VmWindow>& windows, int64_t time) {
  const auto next = std::ranges::lower_bound(windows, time, {}, &VmWindow::exit);
  int64_t least = std::numeric_limits<int64_t>::max();
  if (next != windows.end()) least = std::max<int64_t>(next->entry - time, 0);
  if (next != windows.begin()) least = std::min(least, time - (next - 1)->exit);
  return least;
}

// How far the guest's events lie outside of its windows, at most, along the line of a stretch.
uint64_t unevenness(const Stretch& stretch, const std::vector<VmWindow>& windows,
                    const std::vector<int64_t>& moments, Towards towards) {
  const Line line = towards == Towards::Host ? stretch.line : stretch.line.inverse();
  int64_t most = 0;
  for (const int64_t moment : moments) {
    const int64_t time = line.at.y + std::llround(std::clamp(line.rise(moment), -0x1p61L, 0x1p61L));
    const int64_t own = towards == Towards::Host ? moment : time;
    // The guest may tell of a longer time than the host does.
    const bool is_told = time >= windows.front().entry && time <= windows.back().exit;
    if (is_told && own >= stretch.begin && own <= stretch.end)
      most = std::max(most, distance(windows, time));
  }
  return static_cast<uint64_t>(most);
}

Error failed(const char* why) { return {"", std::nullopt, why}; }

}  // namespace

HostWindows read_host(Traces host) {
  HostWindows found;
  std::map<Tid, OpenWindow> open;
  size_t kept = 0;
  trace::Merge merge = merge_of(host);
  while (kept < kMostKept && merge.next() == trace::Step::Event) {
    const trace::Event& event = merge.event();
    const Word word = event.type->meaning.word;
    if (!is_near(event.time.count)) continue;
    if (word == Word::VmInjection && found.injections.size() < kMostInjections)
      found.injections.push_back(event.time.count);
    if (word != Word::VmEntry && word != Word::VmExit) continue;
    OpenWindow& window = open[event.tid()];
    if (word == Word::VmEntry) {
      if (!window.entry) window.entry = event.time.count;
      continue;
    }
    found.vcpus[event.tid()].push_back({window.entry.value_or(window.last_exit), event.time.count});
    window = {std::nullopt, event.time.count};
    ++kept;
  }
  tell_problems(merge, found.problems);
  std::ranges::sort(found.injections);
  return found;
}

GuestMoments read_guest(Traces guest) {
  GuestMoments found;
  size_t kept = 0;
  trace::Merge merge = merge_of(guest);
  while (kept < kMostKept && merge.next() == trace::Step::Event) {
    const trace::Event& event = merge.event();
    const int64_t time = event.time.count;
    if (!is_near(time)) continue;
    std::vector<int64_t>& moments = found.cpus[event.cpu];
    if (!moments.empty() && time - moments.back() > kQuiet &&
        found.awakenings.size() < kMostAwakenings)
      found.awakenings.push_back(time);
    moments.push_back(time);
    ++kept;
  }
  tell_problems(merge, found.problems);
  std::ranges::sort(found.awakenings);
  return found;
}

bool tells_windows(Traces traces) {
  const auto has = [&](Word word) {
    return std::ranges::any_of(traces, [&](const auto& trace) {
      return std::ranges::any_of(trace->event_types(), [&](const trace::EventType* type) {
        return type->meaning.word == word;
      });
    });
  };
  return has(Word::VmEntry) && has(Word::VmExit);
}

Result<WindowFit> match_windows(const HostWindows& host, const GuestMoments& guest,
                                Towards towards) {
  if (host.vcpus.empty()) return failed("the host's trace has no exits from a guest");
  if (host.injections.empty())
    return failed("the host's trace tells of no interrupt that was given to a guest");
  if (guest.awakenings.empty()) return failed("the guest was never idle for half a millisecond");
  int64_t width = 0;
  const std::vector<Candidate> candidates = vote(guest.awakenings, host.injections, width);
  Seating best;
  // Of others, which are not the same but for a bin or two.
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  size_t fewest_else = kNone;
  for (const Candidate& candidate : candidates) {
    Seating tried = seat(host, guest, candidate.ahead, width);
    const bool is_same = std::abs(tried.ahead - best.ahead) <= 4 * width;
    if (best.events == 0 || tried.outside < best.outside) std::swap(tried, best);
    if (!is_same && tried.events > 0) fewest_else = std::min(fewest_else, tried.outside);
  }
  if (best.outside > best.events / 50)
    return failed(
        "the guest's events lie in no windows between its entries and exits: it is not "
        "this host's, or not of this time");
  if (fewest_else < 2 * best.outside + 20)
    return failed(
        "the guest's events lie in its windows however the clocks are apart: it was not "
        "interrupted often enough to tell");

  CausalFit fit;
  for (const auto& [cpu, moments] : guest.cpus) {
    Follower follower(host.vcpus.at(best.vcpus.at(cpu)), best.ahead, 2 * width);
    for (const int64_t moment : moments) {
      const std::optional<VmWindow> window = follower.place(moment);
      if (!window) continue;
      if (towards == Towards::Host) {
        fit.caused_by(moment, window->entry);
        fit.caused(moment, window->exit);
      } else {
        fit.caused(window->entry, moment);
        fit.caused_by(window->exit, moment);
      }
    }
  }
  Result<std::vector<Stretch>> stretches = fit.finish();
  if (!stretches) return std::move(stretches).error();
  for (Stretch& stretch : *stretches) {
    uint64_t most = 0;
    for (const auto& [cpu, moments] : guest.cpus)
      most =
          std::max(most, unevenness(stretch, host.vcpus.at(best.vcpus.at(cpu)), moments, towards));
    stretch.bound += most;
  }
  return WindowFit{fit.pairs(), *std::move(stretches)};
}

}  // namespace strata::clock
