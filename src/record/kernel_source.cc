// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_source.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <random>

#include "base/byte_writer.h"
#include "kernel/kernel_files.h"
#include "kernel/probe_presets.h"
#include "kernel/ring_stats.h"

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

KernelSource::KernelSource(kernel::Tracefs tracefs, KernelRequest request, const HostClock& clock)
    : tracefs_(std::move(tracefs)),
      request_(std::move(request)),
      clock_(clock),
      path_(request_.folder + "/host.dat"),
      trace_id_(random_number()) {
  part_.file = "host.dat";
  part_.kind = "tracedat";
  part_.what = "kernel";
  part_.clock = clock_.name();
}

Status KernelSource::start() {
  Result<kernel::Instance> instance = kernel::Instance::create(tracefs_, request_.session);
  if (!instance) return std::move(instance).error();
  instance_.emplace(*std::move(instance));
  cpus_ = instance_->cpus();
  page_size_ = instance_->page_size();
  if (Status status = instance_->set_clock(clock_.kernel_name()); !status) return status;
  const uint64_t size =
      request_.buffer_bytes > 0 ? request_.buffer_bytes : default_buffer_bytes(cpus_.size());
  if (Status status = instance_->set_buffer_size(size); !status) return status;
  std::vector<pid_t> own_threads = {getpid()};
  for (const uint32_t cpu : cpus_) {
    auto drain = kernel::RingDrain::start(
        *instance_, cpu, tracedat::TraceDat::page_file_name(path_, cpu), request_.sync);
    if (!drain) return std::move(drain).error();
    drains_.push_back(*std::move(drain));
    own_threads.push_back(drains_.back()->thread());
  }
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
Status KernelSource::add_probes() {
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

std::vector<tracedat::NewOption> KernelSource::options() const {
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

Status KernelSource::write_head() {
  const Result<kernel::KernelFiles> files = kernel::read_kernel_files(tracefs_, request_.events);
  if (!files) return files.error();
  const std::string names = kernel::read_thread_names();
  tracedat::Head head;
  head.page_size = page_size_;
  head.header_page = files->header_page;
  head.header_event = files->header_event;
  for (const kernel::KernelFiles::Format& format : files->formats)
    head.formats.push_back({format.system, format.text});
  head.kallsyms = files->kallsyms;
  head.printk_formats = files->printk_formats;
  head.cmdlines = names;
  head.options = options();
  // The main buffer, though it was recorded in an instance: other programs show that one first.
  head.buffers.push_back({"", clock_.kernel_name(), page_size_, cpus_});
  Result<tracedat::Writer> writer =
      tracedat::Writer::create(path_, head, {.compression = tracedat::Compression::None});
  if (!writer) return std::move(writer).error();
  writer->be_durable();
  return writer->finish();
}

SourceStatus KernelSource::status() {
  SourceStatus status;
  if (!instance_) return status;
  const uint64_t capacity =
      request_.buffer_bytes > 0 ? request_.buffer_bytes : default_buffer_bytes(cpus_.size());
  fill_ = 0;
  for (const uint32_t cpu : cpus_) {
    const Result<std::string> text = instance_->read_cpu_file(cpu, "stats");
    if (!text) continue;
    const kernel::RingStats stats = kernel::parse_ring_stats(*text);
    status.events += stats.events();
    status.lost += stats.lost();
    fill_ = std::max(fill_, static_cast<double>(stats.bytes) / static_cast<double>(capacity));
  }
  for (const auto& drain : drains_) status.bytes += drain->bytes();
  return status;
}

void KernelSource::to_disk() const {
  for (const auto& drain : drains_) drain->to_disk();
}

bool KernelSource::failed() const {
  return std::ranges::any_of(drains_, [](const auto& drain) { return drain->failed(); });
}

Status KernelSource::stop() {
  if (!instance_) return {};
  std::optional<Error> problem;
  const auto note = [&](Status status) {
    if (!status && !problem) problem = std::move(status).error();
  };
  note(instance_->stop());
  for (const auto& drain : drains_) note(drain->finish());
  for (const uint32_t cpu : cpus_) {
    const Result<std::string> text = instance_->read_cpu_file(cpu, "stats");
    if (!text) continue;
    part_.lost += kernel::parse_ring_stats(*text).lost();
    final_stats_.push_back("CPU: " + std::to_string(cpu) + "\n" + *text);
  }
  drains_.clear();
  // The kernel empties every ring in which a removed probe was enabled: the rings have been read.
  if (probes_) note(probes_->remove());
  probes_.reset();
  note(instance_->remove());
  instance_.reset();
  return problem ? Status(*problem) : Status();
}

Status KernelSource::finish(const tracedat::Progress& progress) {
  const tracedat::WriteOptions how = {.compression = request_.compressed
                                                         ? tracedat::Compression::Zstd
                                                         : tracedat::Compression::None};
  const tracedat::Ending ending{options(), kernel::read_thread_names()};
  if (Status status = tracedat::finish(path_, how, ending, progress); !status) return status;
  part_.finished = true;
  return {};
}

}  // namespace strata::record
