// SPDX-License-Identifier: Apache-2.0
#include "collect/collector.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <future>

#include "base/signals_blocked.h"
#include "collect/ring_alarm.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

constexpr std::chrono::milliseconds kPeriod(100);
// For a program that has its rings and is about to tell of its sites, so that it knows of filters
// before it has written much.
constexpr std::chrono::milliseconds kFirstSites(1);
// Other sessions come, and are killed, of which programs are to be told.
constexpr std::chrono::milliseconds kOtherReaders(1000);
// A record that was being written when its site was switched off, or the rings were closed, is
// there after this.
constexpr std::chrono::milliseconds kLastRecords(2);
// Of a flight recorder: how often it looks which processes have ended, and what is kept of those,
// the newest first.
constexpr std::chrono::milliseconds kFlightPeriod(1000);
constexpr size_t kMostEnded = 64;
constexpr uint64_t kMostEndedBytes = uint64_t{256} << 20;

template <typename Body>
std::thread start_thread(const char* name, std::vector<pid_t>& ids, Body body) {
  const SignalsBlocked blocked;
  std::promise<pid_t> told;
  std::future<pid_t> id = told.get_future();
  std::thread thread([name, &told, body] {
    pthread_setname_np(pthread_self(), name);
    told.set_value(gettid());
    body();
  });
  ids.push_back(id.get());
  return thread;
}

}  // namespace

std::string default_socket() {
  if (geteuid() == 0) return abi::kMachineSocket;
  std::string path = abi::kUserSocket;
  return path.replace(path.find("%u"), 2, std::to_string(geteuid()));
}

Result<std::unique_ptr<Collector>> Collector::start(CollectorOptions options) {
  const std::string folder = std::filesystem::path(options.socket).parent_path();
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    return system_error(folder, "cannot make the folder of the socket", errno);
  Rendezvous::Options meeting{options.socket, options.layout, options.clock, options.contexts};
  std::unique_ptr<Collector> collector(new Collector(std::move(options)));
  Collector* self = collector.get();
  self->stop_serving_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  if (!self->stop_serving_) return system_error("", "cannot make an eventfd", errno);
  Result<std::unique_ptr<Rendezvous>> programs =
      Rendezvous::open(std::move(meeting), [self](SharedRings rings) {
        auto drain = std::make_unique<ProcessDrain>(std::move(rings), self->options_);
        {
          const std::lock_guard lock(self->mutex_);
          self->arrived_.push_back(std::move(drain));
        }
        self->wake();
      });
  if (!programs) return std::move(programs).error();
  self->programs_ = std::move(*programs);
  self->server_ = start_thread("strata-rings", self->threads_,
                               [self] { self->programs_->serve(self->stop_serving_.get()); });
  self->collector_ = start_thread("strata-collect", self->threads_, [self] { self->collect(); });
  return collector;
}

Collector::Collector(CollectorOptions options)
    : policy_(options.layout.policy),
      contexts_(options.contexts),
      options_{options.clock, options.quota, std::move(options.sites), std::move(options.filters),
               false},
      traces_(std::move(options.folder), std::move(options.declared_clock), options.contexts) {}

Collector::~Collector() { (void)stop(); }

std::vector<ProgramTraces::Told> Collector::traces() const {
  const std::lock_guard lock(mutex_);
  return told_;
}

Status Collector::stop() {
  if (!collector_.joinable()) return {};
  stop_serving();
  server_.join();
  stopping_ = true;
  wake();
  collector_.join();
  return std::move(status_);
}

void Collector::stop_serving() {
  const uint64_t one = 1;
  (void)!write(stop_serving_.get(), &one, sizeof one);
}

void Collector::collect() {
  next_flush_ = std::chrono::steady_clock::now() + kPeriod;
  for (bool goes_on = true; goes_on;) {
    {
      const std::lock_guard lock(processes_mutex_);
      take_arrived();
      look_after_readers();
      if (is_flight())
        set_aside_ended();
      else if (status_)
        status_ = drain_all();
      tell();
      goes_on = !stopping_ && status_;
    }
    if (goes_on) sleep();
  }
  const std::lock_guard lock(processes_mutex_);
  take_arrived();
  if (!status_) {
    // Somebody else is to have the socket, and the rings.
    failed_ = true;
    stop_serving();
  }
  if (status_ && !is_flight())
    status_ = leave_all();
  else
    for (const auto& process : processes_) process->leave();
  if (Status finished = traces_.finish(); !finished && status_) status_ = std::move(finished);
  tell();
}

void Collector::take_arrived() {
  std::vector<std::unique_ptr<ProcessDrain>> arrived;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  for (auto& process : arrived) {
    for (const auto& other : processes_)
      if (other->process().pid == process->process().pid) other->look_whether_mapped();
    processes_.push_back(std::move(process));
  }
}

void Collector::look_after_readers() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_after_readers_) return;
  next_look_after_readers_ = now + kOtherReaders;
  for (const auto& process : processes_) process->look_after_readers();
}

Status Collector::drain_all() {
  const bool flushes = std::chrono::steady_clock::now() >= next_flush_;
  if (flushes) next_flush_ = std::chrono::steady_clock::now() + kPeriod;
  Status status;
  std::erase_if(processes_, [&](const std::unique_ptr<ProcessDrain>& process) {
    if (!status) return false;
    const bool ends = process->has_ended();  // before it is drained: then that was all
    status = ends ? process->finish(traces_) : process->drain(traces_);
    if (status && !ends && flushes) status = process->flush();
    if (ends) programs_->forget(process->memory());
    return ends;
  });
  return status;
}

Status Collector::leave_all() {
  std::this_thread::sleep_for(kLastRecords);
  Status status;
  bool closed = false;
  for (const auto& process : processes_) {
    if (status) status = process->drain(traces_);
    closed = process->leave() || closed;
  }
  if (closed) std::this_thread::sleep_for(kLastRecords);
  for (const auto& process : processes_)
    if (status) status = process->finish(traces_);
  return status;
}

// What they told last is wanted more than what others told before: of these the oldest go.
void Collector::set_aside_ended() {
  const auto ended =
      std::stable_partition(processes_.begin(), processes_.end(),
                            [](const auto& process) { return !process->has_ended(); });
  for (auto process = ended; process != processes_.end(); ++process) {
    programs_->forget((*process)->memory());
    ended_.push_back(std::move(*process));
  }
  processes_.erase(ended, processes_.end());
  uint64_t bytes = 0;
  size_t kept = 0;
  for (auto process = ended_.rbegin(); process != ended_.rend(); ++process) {
    bytes += (*process)->memory().used_bytes();
    if (kept > 0 && (kept == kMostEnded || bytes > kMostEndedBytes)) break;
    ++kept;
  }
  ended_.erase(ended_.begin(), ended_.end() - static_cast<ptrdiff_t>(kept));
}

Result<std::vector<ProgramTraces::Told>> Collector::continue_in(std::string folder,
                                                                ctf::NewClock clock) {
  const std::lock_guard lock(processes_mutex_);
  for (const auto& process : processes_) {
    if (status_) status_ = process->drain(traces_);
    if (status_) status_ = process->end_streams();
  }
  if (status_) status_ = traces_.finish();
  if (!status_) return status_.error();
  std::vector<ProgramTraces::Told> complete = traces_.told();
  traces_ = ProgramTraces(std::move(folder), std::move(clock), contexts_);
  tell();
  return complete;
}

ChosenSites Collector::sites() const {
  const std::lock_guard lock(processes_mutex_);
  return options_.sites;
}

Status Collector::choose(ChosenSites sites) {
  const std::lock_guard lock(processes_mutex_);
  for (const auto& process : processes_)
    if (status_ && !is_flight()) status_ = process->drain(traces_);
  options_.sites = std::move(sites);
  for (const auto& process : processes_) process->choose_again();
  return status_;
}

template <typename Visit>
void Collector::each_process(Visit visit) const {
  const std::lock_guard lock(processes_mutex_);  // nobody goes meanwhile
  std::vector<ProcessDrain*> all;
  const auto add = [&](const auto& processes) {
    for (const auto& process : processes) all.push_back(process.get());
  };
  add(ended_);
  add(processes_);
  {
    const std::lock_guard arriving(mutex_);
    add(arrived_);
  }
  for (ProcessDrain* process : all) visit(*process);
}

Result<std::vector<RingsCopy>> Collector::copy() const {
  std::vector<RingsCopy> copies;
  Status status;
  each_process([&](ProcessDrain& process) {
    if (!status) return;
    Result<RingMemory> memory = process.memory().copy();
    if (memory)
      copies.push_back({process.process(), *std::move(memory)});
    else
      status = std::move(memory).error();
  });
  if (!status) return std::move(status).error();
  return copies;
}

Collector::Held Collector::held() const {
  Held held;
  each_process([&](ProcessDrain& process) {
    const RingMemory& memory = process.memory();
    held.begin = std::max(held.begin, memory.begin());
    held.lost += memory.lost_outside();
    for (uint32_t ring = 0; ring <= memory.layout().rings; ++ring) {
      held.bytes += memory.filled(ring);
      held.lost += memory.lost(ring);
    }
  });
  return held;
}

// In an order in which nobody who finds a ring half full is overheard: the words first, then a look
// at the rings, then the wait, which does not begin where a word has changed.
void Collector::sleep() {
  std::vector<const uint32_t*> words = {&asleep_};
  __atomic_store_n(&asleep_, 1, __ATOMIC_SEQ_CST);
  bool is_urgent = stopping_;
  {
    const std::lock_guard lock(mutex_);
    is_urgent = is_urgent || !arrived_.empty();
  }
  if (is_flight()) {  // full rings are no concern
    if (!is_urgent) wait_for_any(words, kFlightPeriod);
    __atomic_store_n(&asleep_, 0, __ATOMIC_SEQ_CST);
    return;
  }
  for (const auto& process : processes_) {
    if (words.size() < kMostAlarms) {
      if (const uint32_t* word = process->set_alarm()) words.push_back(word);
    }
    is_urgent = is_urgent || process->is_urgent();
  }
  const bool awaits_sites =
      std::ranges::any_of(processes_, [](const auto& process) { return process->awaits_sites(); });
  if (!is_urgent) wait_for_any(words, awaits_sites ? kFirstSites : kPeriod);
  __atomic_store_n(&asleep_, 0, __ATOMIC_SEQ_CST);
  for (const auto& process : processes_) process->end_alarm();
}

void Collector::wake() {
  if (__atomic_exchange_n(&asleep_, 0, __ATOMIC_SEQ_CST) == 1)
    syscall(SYS_futex, &asleep_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void Collector::tell() {
  std::vector<ProgramTraces::Told> told = traces_.told();
  const std::lock_guard lock(mutex_);
  told_ = std::move(told);
}

}  // namespace strata::collect
