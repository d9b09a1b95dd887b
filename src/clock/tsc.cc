// SPDX-License-Identifier: Apache-2.0
#include "clock/tsc.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <vector>

#include "base/file_descriptor.h"
#include "base/small_file.h"

namespace strata::clock {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kMessages = 200;
constexpr const char* kClocksource =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";

void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#endif
}

// A thread on one CPU. Both ends of an exchange have to run at the same time; on a machine with
// more to do than it has CPUs that would be a rare chance, so they go before all others where that
// is allowed, from their start on.
class PinnedThread {
 public:
  // `run` lives until the thread was joined.
  PinnedThread(uint32_t cpu, std::function<void()>& run) {
    if (cpu >= CPU_SETSIZE) return;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &lowest);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    runs_ = pthread_create(&thread_, &attributes, enter, &run) == 0;
    if (!runs_) {
      pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
      runs_ = pthread_create(&thread_, &attributes, enter, &run) == 0;
    }
    pthread_attr_destroy(&attributes);
  }
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;
  ~PinnedThread() {
    if (runs_) pthread_join(thread_, nullptr);
  }
  bool runs() const { return runs_; }

 private:
  static void* enter(void* run) {
    (*static_cast<std::function<void()>*>(run))();
    return nullptr;
  }

  pthread_t thread_{};
  bool runs_ = false;
};

// Two ends that hand one word to and fro. Both spin: a sleep would make a message take so long that
// a counter behind by microseconds went unseen.
class Exchange {
 public:
  explicit Exchange(Clock::time_point deadline) : deadline_(deadline) {}

  // Lets both begin. Until then they sleep: spinning, the first would keep the CPU from whoever is
  // to start the second.
  void let_go() {
    going_.store(true, std::memory_order_release);
    going_.notify_all();
  }
  void begin() {
    going_.wait(false, std::memory_order_acquire);
    if (!await(present_, 1)) return;
    for (uint32_t i = 0; i < kMessages; ++i) {
      forward_stamp_ = read_tsc();
      turn_.store(2 * i + 1, std::memory_order_release);
      if (!await(turn_, 2 * i + 2)) return;
      // The load that saw the turn is over before the counter is read: read_tsc() sees to it.
      const uint64_t now = read_tsc();
      take_least(agreement_.least_backward, now - backward_stamp_);
      ++agreement_.messages;
    }
  }
  void answer() {
    going_.wait(false, std::memory_order_acquire);
    present_.store(1, std::memory_order_release);
    for (uint32_t i = 0; i < kMessages; ++i) {
      if (!await(turn_, 2 * i + 1)) return;
      const uint64_t now = read_tsc();
      take_least(agreement_.least_forward, now - forward_stamp_);
      backward_stamp_ = read_tsc();
      turn_.store(2 * i + 2, std::memory_order_release);
    }
  }
  void give_up() { given_up_.store(true, std::memory_order_relaxed); }
  const CpuAgreement& agreement() const { return agreement_; }

 private:
  bool await(const std::atomic<uint32_t>& word, uint32_t value) {
    for (uint32_t spins = 1;; ++spins) {
      if (word.load(std::memory_order_acquire) == value) return true;
      pause_cpu();
      if (given_up_.load(std::memory_order_relaxed)) return false;
      if (spins % 64 == 0 && Clock::now() > deadline_) {
        give_up();
        return false;
      }
    }
  }
  static void take_least(int64_t& least, uint64_t difference) {
    least = std::min(least, static_cast<int64_t>(difference));
  }

  Clock::time_point deadline_;
  std::atomic<bool> going_ = false;
  std::atomic<bool> given_up_ = false;
  std::atomic<uint32_t> present_ = 0;
  alignas(64) std::atomic<uint32_t> turn_ = 0;
  uint64_t forward_stamp_ = 0;
  uint64_t backward_stamp_ = 0;
  alignas(64) CpuAgreement agreement_{.least_forward = std::numeric_limits<int64_t>::max(),
                                      .least_backward = std::numeric_limits<int64_t>::max()};
};

// The CPUs that this process may run on.
std::vector<uint32_t> own_cpus() {
  std::vector<uint32_t> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

// The kernel makes /proc/cpuinfo anew for each CPU and asks each for its frequency; the first one's
// lines are all that is wanted.
std::string read_first_cpu() {
  const FileDescriptor file(open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC));
  std::string text(16384, '\0');
  const ssize_t size = file ? read(file.get(), text.data(), text.size()) : -1;
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

std::string_view without_end_of_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

void compare_cpus(TscCheck& check, std::chrono::nanoseconds limit) {
  const std::vector<uint32_t> cpus = own_cpus();
  const Clock::time_point end = Clock::now() + limit;
  check.monotonic = true;
  for (size_t i = 1; i < cpus.size(); ++i) {
    // Each of those to come gets its share of what is left, so that one that is busy does not take
    // it all.
    const auto left = (end - Clock::now()) / static_cast<int64_t>(cpus.size() - i);
    std::optional<CpuAgreement> found;
    if (left.count() > 0) found = measure_agreement(cpus[0], cpus[i], left);
    if (!found || found->messages == 0) {
      ++check.unmeasured;
      continue;
    }
    ++check.compared;
    const int64_t least = std::min(found->least_forward, found->least_backward);
    const int64_t most = std::max(found->least_forward, found->least_backward);
    if (least < 0) check.monotonic = false;
    check.apart_cycles = std::max<uint64_t>(
        check.apart_cycles, static_cast<uint64_t>(std::max(most, least < 0 ? -least : least)));
  }
}

}  // namespace

std::optional<CpuAgreement> measure_agreement(uint32_t one, uint32_t other,
                                              std::chrono::nanoseconds limit) {
  if (!kHasTsc) return std::nullopt;
  Exchange exchange(Clock::now() + limit);
  std::function<void()> answer = [&] { exchange.answer(); };
  std::function<void()> begin = [&] { exchange.begin(); };
  bool placed = false;
  {
    const PinnedThread answering(other, answer);
    const PinnedThread beginning(one, begin);
    placed = answering.runs() && beginning.runs();
    if (!placed) exchange.give_up();
    exchange.let_go();
  }
  if (!placed) return std::nullopt;
  return exchange.agreement();
}

TscCheck check_tsc(std::chrono::nanoseconds limit) {
  TscCheck check;
  check.available = kHasTsc;
  if (const Result<std::string> source = read_small_file(kClocksource, 4096))
    check.clocksource = without_end_of_line(*source);
  if (check.available) {
    read_flags(read_first_cpu(), check);
    // What failed already does not have to be measured.
    if (check.constant && check.nonstop && check.clocksource == "tsc") compare_cpus(check, limit);
  }
  judge(check);
  return check;
}

void read_flags(std::string_view cpuinfo, TscCheck& check) {
  check.constant = false;
  check.nonstop = false;
  size_t at = 0;
  while (at < cpuinfo.size()) {
    const size_t end = std::min(cpuinfo.find('\n', at), cpuinfo.size());
    std::string_view line = cpuinfo.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("flags")) continue;
    line.remove_prefix(std::min(line.find(':'), line.size()));
    while (!line.empty()) {
      line.remove_prefix(std::min(line.find_first_not_of(": \t"), line.size()));
      const std::string_view flag = line.substr(0, line.find(' '));
      if (flag == "constant_tsc") check.constant = true;
      if (flag == "nonstop_tsc") check.nonstop = true;
      line.remove_prefix(flag.size());
    }
    return;
  }
}

void judge(TscCheck& check) {
  check.reason.clear();
  if (!check.available) {
    check.reason = "this processor has no time stamp counter";
  } else if (!check.constant) {
    check.reason = "the TSC does not count at a constant rate (no constant_tsc in /proc/cpuinfo)";
  } else if (!check.nonstop) {
    check.reason = "the TSC stops while a CPU sleeps (no nonstop_tsc in /proc/cpuinfo)";
  } else if (check.clocksource.empty()) {
    check.reason = "the kernel does not tell which clocksource it uses";
  } else if (check.clocksource == "kvm-clock") {
    check.reason =
        "the kernel keeps time by kvm-clock: the hypervisor does not promise a stable TSC";
  } else if (check.clocksource != "tsc") {
    check.reason = "the kernel keeps time by " + check.clocksource + ", not by the TSC";
  } else if (!check.monotonic) {
    check.reason = "the TSC went backwards between two CPUs, they are " +
                   std::to_string(check.apart_cycles) + " cycles apart or more";
  }
}

}  // namespace strata::clock
