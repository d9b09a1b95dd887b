// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_events.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "base/byte_writer.h"
#include "base/small_file.h"
#include "kernel/kernel_files.h"
#include "kernel/probe_presets.h"

namespace strata::record {
namespace {

constexpr uint64_t kBuffer = uint64_t{8} << 20;
constexpr uint64_t kLeastBuffer = uint64_t{1} << 20;
// Rings together take at most this part of the memory.
constexpr uint64_t kMemoryShare = 16;

uint64_t random_number() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}

}  // namespace

uint64_t default_buffer_bytes(size_t cpus) {
  struct sysinfo memory {};
  sysinfo(&memory);
  const uint64_t total = uint64_t{memory.totalram} * memory.mem_unit;
  return std::clamp(total / kMemoryShare / std::max<size_t>(cpus, 1), kLeastBuffer, kBuffer);
}

KernelEvents::KernelEvents(kernel::Tracefs tracefs, KernelRequest request, const HostClock& clock)
    : tracefs_(std::move(tracefs)),
      request_(std::move(request)),
      clock_(clock),
      trace_id_(random_number()) {}

Status KernelEvents::prepare() {
  Result<kernel::Instance> instance = kernel::Instance::create(tracefs_, request_.session);
  if (!instance) return std::move(instance).error();
  instance_.emplace(*std::move(instance));
  if (Status status = instance_->set_clock(clock_.kernel_name()); !status) return status;
  return instance_->set_buffer_size(buffer_bytes());
}

Status KernelEvents::start(const std::vector<pid_t>& own_threads) {
  if (!request_.processes.empty()) {
    if (Status status = instance_->follow(request_.processes); !status) return status;
  }
  if (Status status = instance_->leave_out(own_threads); !status) return status;
  if (Status status = add_probes(); !status) return status;
  instance_->enable(request_.events, refused_);
  if (refused_.size() >= request_.events.size() && !refused_.empty()) return refused_.front();
  return instance_->start();
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

Status KernelEvents::stop() { return instance_->stop(); }
Status KernelEvents::go_on() { return instance_->start(); }

Status KernelEvents::remove() {
  if (!instance_) return {};
  for (const uint32_t cpu : instance_->cpus())
    final_stats_.push_back("CPU: " + std::to_string(cpu) + "\n" + stats_text(cpu));
  Status removed;
  // The kernel empties every ring in which a removed probe was enabled: they have been read.
  if (probes_) removed = probes_->remove();
  probes_.reset();
  Status status = instance_->remove();
  instance_.reset();
  return removed ? status : removed;
}

uint64_t KernelEvents::buffer_bytes() const {
  return request_.buffer_bytes > 0 ? request_.buffer_bytes
                                   : default_buffer_bytes(instance_->cpus().size());
}

std::string KernelEvents::stats_text(uint32_t cpu) const {
  Result<std::string> text = read_small_file(instance_->cpu_file(cpu, "stats"));
  return text ? *std::move(text) : "";
}

KernelEvents::Rings KernelEvents::rings() const {
  Rings rings;
  uint64_t most = 0;
  for (const uint32_t cpu : instance_->cpus()) {
    const kernel::RingStats one = stats(cpu);
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
  head.cmdlines = kernel::read_thread_names();
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
