// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_source.h"

#include <unistd.h>

#include <algorithm>

#include "kernel/kernel_files.h"

namespace strata::record {

KernelSource::KernelSource(KernelEvents& events, Options options)
    : events_(events), options_(std::move(options)), path_(options_.folder + "/host.dat") {
  part_.file = "host.dat";
  part_.kind = "tracedat";
  part_.what = "kernel";
  part_.clock = events_.clock().name();
}

Status KernelSource::start() {
  if (Status status = events_.prepare(); !status) return status;
  std::vector<pid_t> own_threads = {getpid()};
  for (const uint32_t cpu : events_.instance().cpus()) {
    auto drain = kernel::RingDrain::start(
        events_.instance(), cpu, tracedat::TraceDat::page_file_name(path_, cpu), options_.sync);
    if (!drain) return std::move(drain).error();
    drains_.push_back(*std::move(drain));
    own_threads.push_back(drains_.back()->thread());
  }
  return events_.start(own_threads);
}

SourceStatus KernelSource::status() {
  const KernelEvents::Rings rings = events_.rings();
  SourceStatus status;
  status.events = rings.together.events();
  status.lost = rings.together.lost();
  status.fill = rings.fill;
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
  std::optional<Error> problem;
  const auto note = [&](Status status) {
    if (!status && !problem) problem = std::move(status).error();
  };
  note(events_.stop());
  for (const auto& drain : drains_) note(drain->finish());
  part_.lost = events_.rings().together.lost();
  drains_.clear();
  note(events_.remove());
  return problem ? Status(*problem) : Status();
}

Status KernelSource::finish(const tracedat::Progress& progress) {
  const tracedat::WriteOptions how = {.compression = options_.compressed
                                                         ? tracedat::Compression::Zstd
                                                         : tracedat::Compression::None};
  const tracedat::Ending ending{events_.options(), kernel::read_thread_names()};
  if (Status status = tracedat::finish(path_, how, ending, progress); !status) return status;
  part_.finished = true;
  return {};
}

}  // namespace strata::record
