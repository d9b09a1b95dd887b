// SPDX-License-Identifier: Apache-2.0
#include "record/counters_source.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>

#include "base/signals_blocked.h"
#include "clock/anchor.h"
#include "kernel/cpu_list.h"
#include "kernel/tracepoint.h"
#include "record/host_clock.h"

namespace strata::record {
namespace {

// How often packets are written that are not full, and the rings emptied however little is there.
constexpr std::chrono::milliseconds kFlushEvery(1000);

}  // namespace

Result<std::unique_ptr<CountersSource>> CountersSource::create(const kernel::Tracefs& tracefs,
                                                               CountersOptions options) {
  CountersTraceOptions trace;
  Result<std::vector<kernel::Counter>> counters = kernel::counters_by_name(options.counters);
  if (!counters) return std::move(counters).error();
  trace.counters = std::move(*counters);
  if (trace.counters.empty()) return Error{"", std::nullopt, "no counter is named"};
  if (options.read_at.empty())
    return Error{"", std::nullopt, "no event is named at which to read the counters"};
  for (const std::string& name : options.read_at) {
    Result<trace::EventType> type = kernel::find_tracepoint(tracefs, name);
    if (!type) return std::move(type).error();
    const bool again = std::any_of(trace.read_at.begin(), trace.read_at.end(),
                                   [&](const auto& other) { return other.id == type->id; });
    if (!again) trace.read_at.push_back(std::move(*type));
  }
  Result<std::vector<uint32_t>> cpus = kernel::online_cpus();
  if (!cpus) return std::move(cpus).error();
  trace.cpus = std::move(*cpus);
  return std::unique_ptr<CountersSource>(new CountersSource(std::move(options), std::move(trace)));
}

CountersSource::CountersSource(CountersOptions options, CountersTraceOptions trace)
    : options_(std::move(options)), described_(std::move(trace)) {}

CountersSource::~CountersSource() { (void)stop(); }

Status CountersSource::start() {
  for (Status (CountersSource::*step)() :
       {&CountersSource::open_groups, &CountersSource::open_trace, &CountersSource::start_thread,
        &CountersSource::enable}) {
    if (Status status = (this->*step)(); !status) {
      undo();
      return status;
    }
  }
  return {};
}

Status CountersSource::open_groups() {
  kernel::CounterGroupOptions group;
  for (const trace::EventType& tracepoint : described_.read_at)
    group.read_at.push_back(tracepoint.id);
  group.counters = described_.counters;
  group.ring_size = options_.ring_size;
  for (const uint32_t cpu : described_.cpus) {
    group.cpu = cpu;
    Result<kernel::CounterGroup> opened = kernel::CounterGroup::open(group);
    if (!opened) return std::move(opened).error();
    cpus_.push_back({std::move(*opened)});
  }
  return {};
}

Result<CountersTrace> CountersSource::make_trace(const std::string& recording) {
  const clock::Anchor anchor = clock::take_anchor();
  described_.epoch_ns = anchor.wall_ns - anchor.monotonic_raw_ns;
  const std::string folder = recording + "/" + kFolder;
  if (Status status = ctf::check_folder(folder, false); !status) return std::move(status).error();
  return CountersTrace::create(folder, described_);
}

Status CountersSource::open_trace() {
  utsname names{};
  uname(&names);
  described_.host = names.nodename;
  described_.kernel = names.release;
  described_.boot_id = machine_uuid();
  Result<CountersTrace> trace = make_trace(options_.folder);
  if (!trace) return std::move(trace).error();
  trace_.emplace(std::move(*trace));
  return {};
}

Status CountersSource::start_thread() {
  wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return system_error("", "cannot make an eventfd", errno);
  std::promise<pid_t> told;
  std::future<pid_t> own = told.get_future();
  const SignalsBlocked blocked;
  thread_ = std::thread([this, told = std::move(told)]() mutable {
    pthread_setname_np(pthread_self(), "strata-counters");
    told.set_value(gettid());
    run();
  });
  leave_out_own(own.get());
  return {};
}

// Where the kernel cannot, they stay in: that is no reason not to record.
void CountersSource::leave_out_own(pid_t thread) {
  std::vector<pid_t> threads = options_.leave_out;
  threads.push_back(thread);
  for (Cpu& cpu : cpus_) {
    for (size_t i = 0; i < described_.read_at.size(); ++i) {
      if (described_.read_at[i].meaning.word == trace::Word::SchedSwitch) continue;
      (void)cpu.group.leave_out(i, threads);
    }
  }
}

Status CountersSource::enable() {
  for (Cpu& cpu : cpus_)
    if (Status status = cpu.group.enable(); !status) return status;
  return {};
}

void CountersSource::end_thread() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
  thread_.join();
}

// As if it had never been started.
void CountersSource::undo() {
  end_thread();
  cpus_.clear();
  if (!trace_) return;
  trace_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(options_.folder + "/" + kFolder, ignored);
}

SourceStatus CountersSource::status() {
  return {events_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed),
          lost_.load(std::memory_order_relaxed)};
}

Status CountersSource::stop() {
  if (cpus_.empty()) return {};
  Status first;
  const auto keep = [&](Status status) {
    if (!status && first) first = std::move(status);
  };
  for (Cpu& cpu : cpus_) keep(cpu.group.disable());
  end_thread();
  keep(std::move(failed_));
  keep(count_rest());
  keep(trace_->finish());
  cpus_.clear();  // may take long, hence after all that matters
  finished_ = static_cast<bool>(first);
  return first;
}

std::vector<recording::Part> CountersSource::parts() const {
  return {{.file = kFolder,
           .kind = "ctf",
           .what = "counters",
           .machine = options_.machine,
           .clock = options_.clock,
           .lost = lost_.load(std::memory_order_relaxed),
           .lost_unknown = lost_unknown_.load(std::memory_order_relaxed),
           .finished = finished_}};
}

// The thread: until it is told to stop, and then once more for what is left in the rings.
void CountersSource::run() {
  std::vector<pollfd> waiting = {{wake_.get(), POLLIN, 0}};
  for (const Cpu& cpu : cpus_) waiting.push_back({cpu.group.descriptor(), POLLIN, 0});
  auto flush_at = std::chrono::steady_clock::now() + kFlushEvery;
  for (bool last = false; !last;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(flush_at - std::chrono::steady_clock::now());
    const int timeout = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 10'000));
    const int ready = poll(waiting.data(), waiting.size(), timeout);
    if (ready < 0 && errno != EINTR) {
      failed_ = system_error("", "cannot wait for counters", errno);
      break;
    }
    uint64_t woken = 0;
    (void)!read(wake_.get(), &woken, sizeof woken);
    last = stopping_;
    // A CPU that was taken off the machine is always "ready".
    for (size_t i = 1; i < waiting.size(); ++i)
      if ((waiting[i].revents & (POLLHUP | POLLERR)) != 0) waiting[i].fd = -1;
    failed_ = drain();
    if (failed_) failed_ = change_trace();
    if (failed_ && std::chrono::steady_clock::now() >= flush_at) {
      failed_ = trace_->flush();
      flush_at = std::chrono::steady_clock::now() + kFlushEvery;
    }
    if (!failed_) break;
  }
  {
    const std::lock_guard lock(changing_);
    has_ended_ = true;
    changed_.notify_all();
  }
  if (failed_) return;
  // Nobody reads any more: it is not to cost anything either.
  for (Cpu& cpu : cpus_) (void)cpu.group.disable();
}

recording::Part CountersSource::continue_in(const std::string& folder) {
  std::unique_lock lock(changing_);
  next_folder_ = folder;
  complete_.reset();
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
  changed_.wait(lock, [this] { return complete_ || has_ended_; });
  next_folder_.reset();
  return complete_ ? *complete_ : parts().front();
}

// If somebody asks for it.
Status CountersSource::change_trace() {
  const std::lock_guard lock(changing_);
  if (!next_folder_ || complete_) return {};
  Result<CountersTrace> next = make_trace(*next_folder_);
  if (!next) return std::move(next).error();
  if (Status status = trace_->finish(); !status) return status;
  tell_status();
  complete_ = parts().front();
  complete_->finished = true;
  trace_.emplace(*std::move(next));
  options_.folder = *next_folder_;
  lost_unknown_ = 0;
  tell_status();
  changed_.notify_all();
  return {};
}

Status CountersSource::drain() {
  for (size_t i = 0; i < cpus_.size(); ++i)
    if (Status status = drain(i); !status) return status;
  tell_status();
  return {};
}

void CountersSource::tell_status() {
  SourceStatus sum;
  for (size_t i = 0; i < cpus_.size(); ++i) {
    sum.events += trace_->events(i);
    sum.bytes += trace_->bytes(i);
    sum.lost += trace_->discarded(i);
  }
  events_.store(sum.events, std::memory_order_relaxed);
  bytes_.store(sum.bytes, std::memory_order_relaxed);
  lost_.store(sum.lost, std::memory_order_relaxed);
}

Status CountersSource::drain(size_t index) {
  using Step = kernel::PerfRecords::Step;
  Cpu& cpu = cpus_[index];
  kernel::PerfRecords records = cpu.group.pending();
  bool fine = true;
  for (Step step; fine && (step = records.next()) != Step::End;) {
    if (step == Step::Sample) [[likely]] {
      ++cpu.samples;
      fine = trace_->write(index, records.sample());
    } else if (step == Step::Lost) {
      cpu.lost += records.lost();
      fine = trace_->discard(index, records.lost());
    } else {
      lost_unknown_.fetch_add(1, std::memory_order_relaxed);
      fine = trace_->discard_unknown(index);
      break;
    }
  }
  cpu.group.release();
  return fine ? Status() : trace_->status(index);
}

// The kernel tells of a loss with the next record that has room again: of the last one it never
// does. But the group counts the events themselves.
Status CountersSource::count_rest() {
  for (size_t i = 0; i < cpus_.size(); ++i) {
    const Cpu& cpu = cpus_[i];
    const Result<uint64_t> all = cpu.group.occurrences();
    if (!all) return all.error();
    const uint64_t known = cpu.samples + cpu.lost;
    if (*all <= known) continue;
    if (!trace_->discard(i, *all - known)) return trace_->status(i);
  }
  tell_status();
  return {};
}

}  // namespace strata::record
