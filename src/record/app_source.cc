// SPDX-License-Identifier: Apache-2.0
#include "record/app_source.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <filesystem>
#include <set>

#include "record/program_parts.h"
#include "record/registry.h"
#include "record/to_disk.h"

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

// Found out by trying, where it changes nothing for anybody.
bool kernel_switches(const collect::ProbedFile& file) {
  return collect::UprobeLink::open(file.path, file.sites, getpid()) ||
         collect::PerfUprobes::open(file.path, file.sites, getpid());
}

// Where programs look, unless a command can be told of another place: not everybody who is logged
// in has a folder there.
std::string choose_socket(bool command) {
  std::string usual = collect::default_socket();
  const std::filesystem::path folder = std::filesystem::path(usual).parent_path().parent_path();
  std::error_code ignored;
  if (!command || std::filesystem::exists(folder, ignored)) return usual;
  const Result<std::string> own = registry_folder();
  return own ? *own + "/probe.socket" : usual;
}

SourceStatus sum_of(const std::vector<collect::ProgramTraces::Told>& traces) {
  SourceStatus sum;
  for (const collect::ProgramTraces::Told& trace : traces) {
    sum.events += trace.totals.events;
    sum.bytes += trace.totals.bytes;
    sum.lost += trace.totals.lost;
  }
  return sum;
}

collect::ChosenSites sites_of(const std::vector<collect::ProbedFile>& files) {
  collect::ChosenSites sites;
  for (const collect::ProbedFile& file : files)
    for (const collect::FileSite& site : file.sites) sites.add(site.site, file.process);
  return sites;
}

}  // namespace

AppSource::AppSource(AppRequest request, bool command)
    : request_(std::move(request)),
      command_(command),
      by_kernel_(kernel_switches(request_.files.front())),
      remarks_(request_.remarks) {
  options_.socket = choose_socket(command_);
  options_.filters = request_.filters;
  options_.contexts = request_.contexts;
  options_.sites = sites_of(request_.files);
  options_.layout = layout_for(request_.buffer_bytes);
  options_.layout.policy = request_.policy;
  options_.layout.wait_us = static_cast<uint32_t>(request_.wait.count());
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
  clock_ = &clock;
  options_.folder = folder_ = folder;
  options_.declared_clock = clock.ctf_clock();
  if (clock.state_clock() != kernel::StateClock::Tsc)
    options_.clock = abi::Clock::MonotonicRaw;
  else
    options_.clock = request_.ordered_clock ? abi::Clock::TscOrdered : abi::Clock::Tsc;
}

Status AppSource::start() {
  Result<std::unique_ptr<collect::Collector>> collector = collect::Collector::start(options_);
  if (!collector) return std::move(collector).error();
  collector_ = std::move(*collector);
  for (const collect::ProbedFile& file : request_.files) {
    if (Status status = switch_on(file, switched_); !status) {
      switched_.clear();
      collector_.reset();
      return status;
    }
  }
  return {};
}

Status AppSource::switch_on(const collect::ProbedFile& file,
                            std::vector<collect::SwitchedSites>& to) {
  collect::SwitchScope scope;
  if (file.process != 0) scope.processes = {file.process};
  Result<collect::SwitchedSites> sites =
      collect::SwitchedSites::open(file.path, file.sites, std::move(scope));
  // The command's own environment does it, and nobody else was named.
  const bool is_the_commands = command_ && !by_kernel_ && file.process == 0;
  if (!sites) return is_the_commands ? Status() : Status(sites.error());
  remarks_.insert(remarks_.end(), sites->remarks().begin(), sites->remarks().end());
  if (!sites->is_by_kernel() && file.process == 0 && !command_)
    remarks_.push_back(file.shown +
                       ": only processes that run already are recorded; those that start later "
                       "take the rights for uprobes, or 'strata record --app ... -- COMMAND'");
  to.push_back(std::move(*sites));
  return {};
}

Result<AppSource::Switched> AppSource::switch_over(const AppChange& change) {
  if (command_ && !by_kernel_ && !change.disable.empty())
    return Error{"", std::nullopt,
                 "the command has its probes on by its environment, which nobody can change"};
  Switched next{choose_again(request_, change), {}};
  // Both for now: what was written before it is over is of one or the other.
  std::vector<collect::ProbedFile> both = request_.files;
  both.insert(both.end(), next.files.begin(), next.files.end());
  if (Status status = collector_->choose(sites_of(both)); !status) return std::move(status).error();
  for (const collect::ProbedFile& file : next.files)
    if (Status status = switch_on(file, next.sites); !status) return std::move(status).error();
  return next;
}

void AppSource::use(Switched next) {
  request_.files = std::move(next.files);
  switched_.swap(next.sites);
  next.sites.clear();  // off, where they are not among the others
  // The rings of a flight hold what was told before, too.
  if (!is_flight()) (void)collector_->choose(sites_of(request_.files));
}

SourceStatus AppSource::status() {
  SourceStatus sum = before_;
  if (!collector_) return sum;
  if (is_flight()) {
    const collect::Collector::Held held = collector_->held();
    sum.bytes = held.bytes;
    sum.lost = held.lost;
    return sum;
  }
  return sum += sum_of(collector_->traces());
}

void AppSource::to_disk() {
  const auto since = on_disk_;
  // The clock of files is some milliseconds behind.
  on_disk_ = std::filesystem::file_time_type::clock::now() - std::chrono::seconds(1);
  for (const auto& trace : collector_->traces())
    changed_files_to_disk(folder_ + "/" + trace.folder, since);
}

Result<std::vector<recording::Part>> AppSource::continue_in(const std::string& folder) {
  const auto complete = collector_->continue_in(folder, clock_->ctf_clock());
  if (!complete) return complete.error();
  before_ += sum_of(*complete);
  return parts_of(*complete, true);
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
  return parts_of(collector_->traces(), finished_);
}

std::vector<recording::Part> AppSource::parts_of(
    const std::vector<collect::ProgramTraces::Told>& traces, bool finished) const {
  return program_parts(traces, clock_->state_clock_name(), finished);
}

std::optional<int64_t> AppSource::to_epoch(std::optional<uint64_t> time) const {
  if (!time) return std::nullopt;
  for (const trace::ClockMap& map : clock_->maps())
    if (map.from == clock_->state_clock_name()) return map.at(*time);
  return std::nullopt;
}

std::optional<int64_t> AppSource::begin_ns(const Copies& copies) const {
  std::optional<uint64_t> begin;
  for (const collect::RingsCopy& copy : copies) begin = std::max(begin, copy.memory.begin());
  return to_epoch(begin);
}

Result<AppSource::Saved> AppSource::save(Copies copies, const std::string& folder) const {
  collect::ProgramTraces traces(folder, clock_->ctf_clock(), options_.contexts);
  collect::DrainOptions wanted;
  wanted.clock = options_.clock;
  wanted.quota = options_.quota;
  wanted.sites = collector_->sites();
  wanted.filters = options_.filters;
  for (collect::RingsCopy& copy : copies)
    if (Status status =
            collect::drain_copy(std::move(copy.process), std::move(copy.memory), wanted, traces);
        !status)
      return std::move(status).error();
  if (Status status = traces.finish(); !status) return std::move(status).error();
  const std::vector<collect::ProgramTraces::Told> told = traces.told();
  const SourceStatus sum = sum_of(told);
  return Saved{parts_of(told, true), sum.events, sum.lost};
}

}  // namespace strata::record
