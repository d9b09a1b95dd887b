// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_events.h"

#include <fcntl.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <random>

#include "base/byte_writer.h"
#include "base/rare_calls.h"
#include "kernel/kernel_files.h"
#include "kernel/probe_presets.h"
#include "record/own_threads.h"

namespace strata::record {
namespace {

constexpr uint64_t kBuffer = uint64_t{8} << 20;
constexpr uint64_t kLeastBuffer = uint64_t{1} << 20;
constexpr uint64_t kMostBuffer = uint64_t{64} << 20;
// They are emptied when they are half full: whoever meets them fuller than this sees them emptied
// too slowly.
constexpr double kNearlyFull = 0.75;
// Rings together take at most this part of the memory.
constexpr uint64_t kMemoryShare = 16;

uint64_t random_number() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}

}  // namespace

uint64_t largest_buffer_bytes(size_t cpus) {
  struct sysinfo memory {};
  sysinfo(&memory);
  const uint64_t total = uint64_t{memory.totalram} * memory.mem_unit;
  return std::clamp(total / kMemoryShare / std::max<size_t>(cpus, 1), kLeastBuffer, kMostBuffer);
}

uint64_t default_buffer_bytes(size_t cpus) { return std::min(largest_buffer_bytes(cpus), kBuffer); }

KernelEvents::KernelEvents(kernel::Tracefs tracefs, KernelRequest request, const HostClock& clock)
    : tracefs_(std::move(tracefs)),
      request_(std::move(request)),
      clock_(clock),
      trace_id_(random_number()) {}

Status KernelEvents::prepare() {
  Result<kernel::Instance> instance = kernel::Instance::create(tracefs_, request_.session);
  if (!instance) return std::move(instance).error();
  instance_.emplace(*std::move(instance));
  for (const uint32_t cpu : instance_->cpus())
    stats_files_.push_back(instance_->open_cpu_file(cpu, "stats", O_RDONLY));
  if (Status status = instance_->set_clock(clock_.kernel_name()); !status) return status;
  buffer_bytes_ = request_.buffer_bytes > 0 ? request_.buffer_bytes
                                            : default_buffer_bytes(instance_->cpus().size());
  return instance_->set_buffer_size(buffer_bytes_);
}

Status KernelEvents::start(std::vector<pid_t> own_threads) {
  own_threads_ = std::move(own_threads);
  if (!request_.processes.empty()) {
    if (Status status = instance_->follow(request_.processes); !status) return status;
  }
  if (Status status = add_probes(); !status) return status;
  uses_filters_ = request_.processes.empty() && filters_suffice(request_.events);
  if (Status status = uses_filters_ ? get_busy() : use_list(); !status) return status;
  instance_->enable(request_.events, refused_);
  if (refused_.size() >= request_.events.size() && !refused_.empty()) return refused_.front();
  return instance_->start();
}

Status KernelEvents::filter_busy_systems(const std::string& filter) {
  for (const char* system : kBusySystems) {
    if (Status status = instance_->set_system_filter(system, filter); !status) return status;
  }
  return {};
}

Status KernelEvents::get_busy() {
  if (!uses_filters_) return {};
  is_settled_ = false;
  return filter_busy_systems(none_of(own_threads_));
}

Status KernelEvents::settle() {
  if (!uses_filters_ || is_settled_) return {};
  is_settled_ = true;
  if (Status status = filter_busy_systems(""); !status) return status;
  for (kernel::EventChoice& event : own_calls(request_.events)) {
    event.filter = none_of(own_threads_);
    if (Status status = instance_->set_filter(event); !status) return status;
  }
  return {};
}

// The list before the filters go: nothing of ours comes through between them.
Status KernelEvents::use_list() {
  if (Status status = instance_->leave_out(own_threads_); !status) return status;
  return std::exchange(uses_filters_, false) ? filter_busy_systems("") : Status();
}

// What was asked for and cannot be had is an error here, unlike an event of a profile.
Status KernelEvents::add_probes() {
  if (request_.probes.empty() && request_.presets.empty()) return {};
  probes_.emplace(tracefs_, request_.session);
  for (const kernel::ProbeSpec& spec : request_.probes) {
    if (Status status = probes_->add(spec); !status) return status;
  }
  for (const std::string& preset : request_.presets) {
    if (Status status = kernel::add_preset(*probes_, preset); !status) return status;
  }
  for (const std::string& remark : probes_->remarks())
    refused_.push_back({"", std::nullopt, remark});
  for (kernel::EventChoice& event : probes_->events()) request_.events.push_back(std::move(event));
  return {};
}

std::vector<kernel::EventChoice> KernelEvents::enabled() const {
  std::vector<kernel::EventChoice> events = request_.events;
  std::erase_if(events, [&](const auto& event) { return !instance_->is_enabled(event); });
  for (kernel::EventChoice& event : events) event.filter = instance_->filter_of(event);
  return events;
}

void KernelEvents::explain(const std::vector<kernel::EventChoice>& events) {
  for (const kernel::EventChoice& event : events) {
    const auto is_same = [&](const auto& other) { return other.full_name() == event.full_name(); };
    if (std::ranges::none_of(request_.events, is_same)) request_.events.push_back(event);
  }
}

Status KernelEvents::change(const KernelChange& wanted) {
  if (uses_filters_ && !filters_suffice(wanted.enable)) {
    if (Status status = use_list(); !status) return status;
  }
  std::vector<kernel::EventChoice> before;  // that were enabled, and are changed
  std::vector<kernel::EventChoice> added;   // that were not
  Status changed = change_events(wanted, before, added);
  if (changed && wanted.processes) {
    changed = instance_->follow(*wanted.processes);
    if (changed)
      request_.processes = *wanted.processes;
    else
      (void)static_cast<bool>(instance_->follow(request_.processes));
  }
  if (changed) return {};
  for (const kernel::EventChoice& event : added) (void)static_cast<bool>(instance_->disable(event));
  for (const kernel::EventChoice& event : before)
    (void)static_cast<bool>(instance_->set_filter(event));
  std::vector<Error> ignored;
  instance_->enable(before, ignored);
  return changed;
}

Status KernelEvents::change_events(const KernelChange& wanted,
                                   std::vector<kernel::EventChoice>& before,
                                   std::vector<kernel::EventChoice>& added) {
  for (const kernel::EventChoice& event : wanted.enable) {
    if (!instance_->is_enabled(event)) {
      added.push_back(event);
      continue;
    }
    before.push_back({event.system, event.name, instance_->filter_of(event)});
    if (before.back() == event) continue;
    if (Status status = instance_->set_filter(event); !status) return status;
  }
  std::vector<Error> refused;
  instance_->enable(added, refused);
  if (!refused.empty()) return refused.front();
  for (const kernel::EventChoice& event : wanted.disable) {
    before.push_back({event.system, event.name, instance_->filter_of(event)});
    if (Status status = instance_->disable(event); !status) return status;
  }
  return {};
}

Status KernelEvents::stop() { return instance_->stop(); }
Status KernelEvents::go_on() { return instance_->start(); }

Status KernelEvents::remove() {
  if (!instance_) return {};
  for (size_t ring = 0; ring < instance_->cpus().size(); ++ring)
    final_stats_.push_back("CPU: " + std::to_string(instance_->cpus()[ring]) + "\n" +
                           stats_text(ring));
  stats_files_.clear();
  Status removed;
  // The kernel empties every ring in which a removed probe was enabled: they have been read.
  if (probes_) removed = probes_->remove();
  probes_.reset();
  Status status = instance_->remove();
  instance_.reset();
  return removed ? status : removed;
}

void KernelEvents::fit_rings(double fill, uint64_t lost) {
  const bool too_small = fill > kNearlyFull || lost > lost_;
  const uint64_t larger =
      std::min(buffer_bytes_ * 2, largest_buffer_bytes(instance_->cpus().size()));
  if (request_.buffer_bytes > 0 || !too_small || larger == buffer_bytes_) return;
  lost_ = lost;
  if (instance_->set_buffer_size(larger)) buffer_bytes_ = larger;
}

std::string KernelEvents::stats_text(size_t ring) const {
  std::string text(4096, '\0');
  const ssize_t size = rare::read(stats_files_[ring].get(), text, 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

KernelEvents::Rings KernelEvents::rings() const {
  Rings rings;
  uint64_t most = 0;
  for (size_t ring = 0; ring < stats_files_.size(); ++ring) {
    const kernel::RingStats one = stats(ring);
    rings.together += one;
    most = std::max(most, one.bytes);
  }
  rings.fill = static_cast<double>(most) / static_cast<double>(buffer_bytes());
  return rings;
}

std::vector<tracedat::NewOption> KernelEvents::options() const {
  using tracedat::OptionId;
  std::vector<tracedat::NewOption> options = clock_.options();
  options.push_back(tracedat::text_option(OptionId::Uname, kernel::machine_text()));
  options.push_back(tracedat::text_option(OptionId::Version, "strata " STRATA_VERSION));
  ByteWriter trace_id(kNativeOrder);
  trace_id.u64(trace_id_);
  options.push_back({OptionId::TraceId, std::move(trace_id).bytes()});
  for (const std::string& stats : final_stats_)
    options.push_back(tracedat::text_option(OptionId::CpuStat, stats));
  return options;
}

Status KernelEvents::write_head(const std::string& path) const {
  const Result<kernel::KernelFiles> files = kernel::read_kernel_files(tracefs_, request_.events);
  if (!files) return files.error();
  tracedat::Head head;
  head.page_size = instance_->page_size();
  head.header_page = files->header_page;
  head.header_event = files->header_event;
  for (const kernel::KernelFiles::Format& format : files->formats)
    head.formats.push_back({format.system, format.text});
  head.kallsyms = files->kallsyms;
  head.printk_formats = files->printk_formats;
  const std::string thread_names = kernel::read_thread_names();
  head.cmdlines = thread_names;
  head.options = options();
  // The main buffer, though it was recorded in an instance: other programs show that one first.
  head.buffers.push_back({"", clock_.kernel_name(), head.page_size, instance_->cpus()});
  Result<tracedat::Writer> writer =
      tracedat::Writer::create(path, head, {.compression = tracedat::Compression::None});
  if (!writer) return std::move(writer).error();
  writer->be_durable();
  return writer->finish();
}

}  // namespace strata::record
