// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_source.h"

#include <unistd.h>

#include <algorithm>

#include "kernel/kernel_files.h"

namespace strata::record {
namespace {

constexpr const char* kFile = "host.dat";

}  // namespace

KernelSource::KernelSource(KernelEvents& events, Options options)
    : events_(events), options_(std::move(options)), path_(options_.folder + "/" + kFile) {
  part_.file = kFile;
  part_.kind = "tracedat";
  part_.what = "kernel";
  part_.clock = events_.clock().name();
}

Result<KernelSource::PageFiles> KernelSource::make_page_files(const std::string& path) const {
  PageFiles files;
  for (const uint32_t cpu : events_.instance().cpus()) {
    Result<kernel::PageFile> file =
        options_.pages ? options_.pages(cpu)
                       : kernel::PageFile::create(tracedat::TraceDat::page_file_name(path, cpu));
    if (!file) return std::move(file).error();
    files.push_back(*std::move(file));
  }
  return files;
}

Status KernelSource::start() {
  if (Status status = events_.prepare(); !status) return status;
  Result<PageFiles> files = make_page_files(path_);
  if (!files) return std::move(files).error();
  std::vector<pid_t> own_threads = options_.own_threads;
  own_threads.push_back(getpid());
  const std::vector<uint32_t>& cpus = events_.instance().cpus();
  for (size_t i = 0; i < cpus.size(); ++i) {
    auto drain = kernel::RingDrain::start(events_.instance(), cpus[i], std::move((*files)[i]),
                                          options_.sync);
    if (!drain) return std::move(drain).error();
    drains_.push_back(*std::move(drain));
    own_threads.push_back(drains_.back()->thread());
  }
  return events_.start(own_threads);
}

SourceStatus KernelSource::status() {
  if (has_stopped_) return last_;
  const KernelEvents::Rings rings = events_.rings();
  SourceStatus status;
  status.events = rings.together.events();
  status.lost = rings.together.lost();
  status.fill = rings.fill;
  status.bytes = bytes();
  return status;
}

uint64_t KernelSource::bytes() const {
  uint64_t bytes = 0;
  for (const auto& drain : drains_) bytes += drain->bytes();
  return bytes;
}

void KernelSource::compress_by(LiveCompression& compression) const {
  std::vector<LiveCompression::Pages> pages;
  for (size_t i = 0; i < drains_.size(); ++i) {
    const uint32_t cpu = events_.instance().cpus()[i];
    pages.push_back({cpu, tracedat::TraceDat::page_file_name(path_, cpu),
                     [drain = drains_[i].get()] { return drain->bytes(); }});
  }
  compression.begin(std::move(pages), size_t{events_.instance().page_size()} *
                                          tracedat::default_chunk_pages(drains_.size()));
}

KernelSource::Written KernelSource::take_now() {
  Written written{path_, {}};
  for (size_t i = 0; i < drains_.size(); ++i)
    written.bytes[events_.instance().cpus()[i]] = drains_[i]->take_now();
  return written;
}

void KernelSource::to_disk() const {
  for (const auto& drain : drains_) drain->to_disk();
}

bool KernelSource::failed() const {
  return std::ranges::any_of(drains_, [](const auto& drain) { return drain->failed(); });
}

Result<KernelSource::PageFiles> KernelSource::make_files(const std::string& folder) const {
  const std::string path = folder + "/" + kFile;
  // The head last: without it there is nothing that could be taken for a trace.
  Result<PageFiles> files = make_page_files(path);
  if (!files) return files;
  if (Status status = events_.write_head(path); !status) return std::move(status).error();
  return files;
}

KernelSource::Complete KernelSource::continue_in(const std::string& folder, PageFiles files) {
  Complete complete;
  for (size_t i = 0; i < drains_.size(); ++i)
    complete.pages.push_back(drains_[i]->continue_in(std::move(files[i])));
  for (kernel::PageFile& pages : complete.pages) pages.trim();
  path_ = folder + "/" + kFile;
  has_continued_ = true;
  complete.part = complete_part();
  part_.lost = 0;
  return complete;
}

recording::Part KernelSource::complete_part() {
  const uint64_t lost = events_.rings().together.lost();
  part_.lost = lost - std::min(lost_before_, lost);
  lost_before_ = lost;
  return part_;
}

tracedat::Ending KernelSource::ending() const {
  tracedat::Ending ending{events_.options(), kernel::read_thread_names()};
  // The kernel's numbers are of all folders together.
  if (has_continued_) {
    std::erase_if(ending.options, [](const tracedat::NewOption& option) {
      return option.id == tracedat::OptionId::CpuStat;
    });
  }
  return ending;
}

Status KernelSource::stop() {
  std::optional<Error> problem;
  const auto note = [&](Status status) {
    if (!status && !problem) problem = std::move(status).error();
  };
  note(events_.stop());
  for (const auto& drain : drains_) note(drain->finish());
  complete_part();
  last_ = status();
  has_stopped_ = true;
  drains_.clear();
  note(events_.remove());
  return problem ? Status(*problem) : Status();
}

}  // namespace strata::record
