// SPDX-License-Identifier: Apache-2.0
#include "record/app_source.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <set>

#include "record/program_parts.h"

namespace strata::record {
namespace abi = probe::abi;
namespace {

constexpr uint64_t kRingBytes = uint64_t{4} << 20;

collect::RingLayout layout_for(uint64_t bytes) {
  collect::RingLayout layout;
  layout.rings =
      std::min(static_cast<uint32_t>(std::max(sysconf(_SC_NPROCESSORS_CONF), 0L)), abi::kMaxRings);
  const uint64_t ring = std::bit_floor(bytes == 0 ? kRingBytes : bytes);
  layout.capacity_log2 =
      std::max(static_cast<uint32_t>(std::countr_zero(ring)), layout.block_log2 + 1);
  return layout;
}

}  // namespace

Result<std::unique_ptr<AppSource>> AppSource::create(AppRequest request, bool command) {
  // Found out by trying, where it changes nothing for anybody.
  const collect::ProbedFile& first = request.files.front();
  Result<collect::UprobeLink> tried = collect::UprobeLink::open(first.path, first.sites, getpid());
  if (!tried && !command) return std::move(tried).error();
  return std::unique_ptr<AppSource>(new AppSource(std::move(request), static_cast<bool>(tried)));
}

AppSource::AppSource(AppRequest request, bool by_kernel)
    : request_(std::move(request)), by_kernel_(by_kernel), remarks_(request_.remarks) {
  options_.socket = collect::default_socket();
  options_.filters = request_.filters;
  options_.contexts = request_.contexts;
  options_.layout = layout_for(request_.buffer_bytes);
  for (const collect::ProbedFile& file : request_.files)
    for (const collect::FileSite& site : file.sites) options_.sites.add(site.site, file.process);
}

AppSource::~AppSource() { (void)stop(); }

std::vector<std::pair<std::string, std::string>> AppSource::environment() const {
  std::vector<std::pair<std::string, std::string>> variables = {
      {abi::kSocketVariable, options_.socket}};
  if (by_kernel_) return variables;
  std::set<std::string> names;
  for (const collect::ProbedFile& file : request_.files)
    for (const collect::FileSite& site : file.sites)
      names.insert(site.site.provider + ":" + site.site.name);
  std::string list;
  for (const std::string& name : names) (list += list.empty() ? "" : ",") += name;
  variables.emplace_back(abi::kEnableVariable, std::move(list));
  return variables;
}

void AppSource::prepare(const std::string& folder, const HostClock& clock) {
  options_.folder = folder;
  options_.declared_clock = clock.ctf_clock();
  clock_name_ = clock.state_clock_name();
  if (clock.state_clock() != kernel::StateClock::Tsc)
    options_.clock = abi::Clock::MonotonicRaw;
  else
    options_.clock = request_.ordered_clock ? abi::Clock::TscOrdered : abi::Clock::Tsc;
}

Status AppSource::start() {
  Result<std::unique_ptr<collect::Collector>> collector = collect::Collector::start(options_);
  if (!collector) return std::move(collector).error();
  collector_ = std::move(*collector);
  if (!by_kernel_) return {};
  for (const collect::ProbedFile& file : request_.files) {
    collect::SwitchScope scope;
    if (file.process != 0) scope.processes = {file.process};
    Result<collect::SwitchedSites> sites =
        collect::SwitchedSites::open(file.path, file.sites, std::move(scope));
    if (!sites) {
      switched_.clear();
      collector_.reset();
      return std::move(sites).error();
    }
    remarks_.insert(remarks_.end(), sites->remarks().begin(), sites->remarks().end());
    switched_.push_back(std::move(*sites));
  }
  return {};
}

SourceStatus AppSource::status() {
  SourceStatus sum;
  if (!collector_) return sum;
  for (const collect::ProgramTraces::Told& trace : collector_->traces()) {
    sum.events += trace.totals.events;
    sum.bytes += trace.totals.bytes;
    sum.lost += trace.totals.lost;
  }
  return sum;
}

Status AppSource::stop() {
  if (!collector_) return {};
  switched_.clear();
  Status status = collector_->stop();
  finished_ = static_cast<bool>(status);
  return status;
}

std::vector<recording::Part> AppSource::parts() const {
  if (!collector_) return {};
  return program_parts(collector_->traces(), clock_name_, finished_);
}

}  // namespace strata::record
