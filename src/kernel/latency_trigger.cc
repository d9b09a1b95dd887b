// SPDX-License-Identifier: Apache-2.0
#include "kernel/latency_trigger.h"

#include <bpf/libbpf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/time_text.h"
#include "kernel/bpf/latency.skel.h"
#include "kernel/perf_event.h"
#include "kernel/tracepoint.h"

namespace strata::kernel {
namespace {

// Where in an event's record the thread stands that it is about; 0: nowhere, it is the one that
// runs.
uint32_t thread_offset(const trace::EventType& type, bool begins) {
  if (type.system != "sched") return 0;
  std::string_view field;
  if (type.name == "sched_waking" || type.name == "sched_wakeup" || type.name == "sched_wakeup_new")
    field = "pid";
  if (type.name == "sched_switch") field = begins ? "prev_pid" : "next_pid";
  const trace::Field* found = field.empty() ? nullptr : type.find(field);
  return found != nullptr ? found->offset : 0;
}

// The program runs for events of all CPUs, whichever the perf event is on.
bpf_link* attach(bpf_program* program, uint32_t tracepoint) {
  perf_event_attr attributes = perf_attributes(PERF_TYPE_TRACEPOINT, tracepoint);
  attributes.sample_period = 1;
  attributes.wakeup_events = 1;
  FileDescriptor event(open_perf_event(attributes, -1, 0, -1));
  if (!event) return nullptr;
  bpf_link* link = bpf_program__attach_perf_event(program, event.get());
  if (link != nullptr) event.release();  // it is the link's now
  return link;
}

}  // namespace

Result<std::unique_ptr<Trigger>> LatencyTrigger::open(const Tracefs& tracefs,
                                                      const TriggerSpec& spec) {
  std::unique_ptr<LatencyTrigger> trigger(new LatencyTrigger(spec.text));
  if (Status status = trigger->load(tracefs, spec); !status) return std::move(status).error();
  return std::unique_ptr<Trigger>(std::move(trigger));
}

Status LatencyTrigger::load(const Tracefs& tracefs, const TriggerSpec& spec) {
  const Result<trace::EventType> entry = find_tracepoint(tracefs, spec.event);
  if (!entry) return entry.error();
  const Result<trace::EventType> exit = find_tracepoint(tracefs, spec.exit);
  if (!exit) return exit.error();
  auto opened = open_ebpf<latency>(text_);
  if (!opened) return std::move(opened).error();
  program_ = std::move(*opened);
  program_->rodata->entry_thread = thread_offset(*entry, true);
  program_->rodata->exit_thread = thread_offset(*exit, false);
  program_->rodata->longer_than_ns = static_cast<uint64_t>(spec.longer_than.count);
  program_->rodata->own_process = static_cast<uint32_t>(getpid());
  if (Status status = load_ebpf(program_, text_); !status) return status;
  const auto told = [](void* self, void* data, size_t size) {
    static_cast<LatencyTrigger*>(self)->note(data, size);
    return 0;
  };
  slow_ = ring_buffer__new(bpf_map__fd(program_->maps.slow), told, this, nullptr);
  if (slow_ == nullptr) return refused(text_, errno);
  // The end first: a thread that was between the two already is not taken for a slow one.
  program_->links.on_exit = attach(program_->progs.on_exit, exit->id);
  if (program_->links.on_exit == nullptr) return refused(text_, errno);
  program_->links.on_entry = attach(program_->progs.on_entry, entry->id);
  if (program_->links.on_entry == nullptr) return refused(text_, errno);
  return {};
}

LatencyTrigger::LatencyTrigger(std::string text) : text_(std::move(text)) {}

LatencyTrigger::~LatencyTrigger() { ring_buffer__free(slow_); }

std::vector<int> LatencyTrigger::files() const { return {ring_buffer__epoll_fd(slow_)}; }

void LatencyTrigger::note(const void* data, size_t size) {
  uint64_t found[2];
  if (size < sizeof found) return;
  std::memcpy(found, data, sizeof found);
  ++count_;
  last_thread_ = found[0];
  last_took_ns_ = found[1];
}

uint64_t LatencyTrigger::take() {
  ring_buffer__consume(slow_);
  const uint64_t untold = __atomic_load_n(&program_->bss->untold, __ATOMIC_RELAXED);
  const uint64_t before = std::exchange(untold_, untold);
  return std::exchange(count_, 0) + (untold - before);
}

std::string LatencyTrigger::what() const {
  return text_ + ": thread " + std::to_string(last_thread_) + " took " +
         duration_text(Nanoseconds{static_cast<int64_t>(last_took_ns_)});
}

}  // namespace strata::kernel
