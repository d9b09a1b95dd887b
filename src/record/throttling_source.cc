// SPDX-License-Identifier: Apache-2.0
#include "record/throttling_source.h"

#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernel/state_clock.h"

namespace strata::record {
namespace {

constexpr auto kBetweenSearches = std::chrono::seconds(10);
// Where there are so many cgroups that a search takes long, it has to be worth it: searching takes
// no more than a thousandth of the time.
constexpr int kSearchShare = 1000;
constexpr size_t kMostLimited = 4096;
constexpr uint32_t kPacketSize = 16 * 1024;

const std::vector<ctf::NewField>& fields() {
  static const std::vector<ctf::NewField> kFields = {
      ctf::string_field("cgroup"), ctf::integer_field("nr_periods", 64, false),
      ctf::integer_field("nr_throttled", 64, false), ctf::integer_field("throttled_ns", 64, false)};
  return kFields;
}

// The rest of the session needs files as well.
size_t most_open() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
  return static_cast<size_t>(std::min<rlim_t>(files.rlim_cur / 2, kMostLimited));
}

}  // namespace

ThrottlingSource::ThrottlingSource(std::string folder, const HostClock& clock)
    : folder_(std::move(folder)),
      clock_(clock),
      hierarchy_(kernel::find_cpu_hierarchy()),
      most_(most_open()) {}

Status ThrottlingSource::start() {
  search();
  if (!awaits_trace()) return {};
  Result<Trace> trace = make_trace();
  if (!trace) return fail(std::move(trace).error());
  trace_.emplace(*std::move(trace));
  return write_samples(true);
}

Result<ThrottlingSource::Trace> ThrottlingSource::make_trace() const {
  ctf::NewTrace described;
  described.clock = clock_.ctf_clock();
  utsname machine{};
  uname(&machine);
  described.environment = {{"hostname", std::string(machine.nodename)},
                           {"sysname", std::string(machine.sysname)},
                           {"kernel_release", std::string(machine.release)},
                           {"tracer_name", "strata"},
                           {"content", "throttling of cgroups"}};
  Result<ctf::Writer> writer = ctf::Writer::create(
      folder_ + "/" + kFolder, described, {.packet_size = kPacketSize, .only_owner = true});
  if (!writer) return std::move(writer).error();
  const Result<ctf::StreamClassId> stream_class = writer->add_stream_class({});
  if (!stream_class) return stream_class.error();
  const Result<ctf::EventId> type =
      writer->add_event_type(*stream_class, {"cgroup_cpu_stat", fields()});
  if (!type) return type.error();
  const Result<ctf::StreamWriter*> stream = writer->add_stream(*stream_class, {"cgroups", 0, {}});
  if (!stream) return stream.error();
  return Trace{*std::move(writer), *stream, *type};
}

void ThrottlingSource::search() {
  if (!hierarchy_) return;
  const Clock::time_point begin = Clock::now();
  kernel::LimitedCgroups limited = kernel::find_limited_cgroups(
      *hierarchy_, most_ - std::min(cgroups_.size(), most_),
      [&](const std::string& name) { return cgroups_.contains(name); });
  for (kernel::LimitedCgroup& cgroup : limited.found) {
    std::string name = cgroup.name();
    cgroups_.emplace(std::move(name), Cgroup{std::move(cgroup)});
  }
  if (!limited.is_all) are_some_left_out_ = true;
  const Clock::time_point end = Clock::now();
  next_search_ = end + std::max<Clock::duration>(kBetweenSearches, kSearchShare * (end - begin));
}

Status ThrottlingSource::sample() {
  if (Clock::now() >= next_search_) search();
  return trace_ && !cgroups_.empty() ? write_samples(false) : Status();
}

// In the file at once: should the recorder be killed, that is all there is.
Status ThrottlingSource::write_samples(bool unchanged_too) {
  if (are_some_left_out_ && !std::exchange(trace_->tells_left_out, true))
    trace_->stream->discard_unknown();
  for (auto at = cgroups_.begin(); at != cgroups_.end();) {
    auto& [name, cgroup] = *at;
    const std::optional<kernel::CpuThrottling> read = cgroup.files.read();
    if (!read) {
      at = cgroups_.erase(at);
      continue;
    }
    ++at;
    if (!unchanged_too && read == cgroup.last) continue;
    cgroup.last = read;
    const std::array<ctf::Value, 4> values = {std::string_view(name), read->periods,
                                              read->throttled, read->throttled_ns};
    trace_->stream->write(trace_->type, kernel::now(clock_.state_clock()), fields(), values);
  }
  Status written = trace_->stream->flush();
  return written ? Status() : fail(std::move(written));
}

Status ThrottlingSource::fail(Status status) {
  cgroups_.clear();
  hierarchy_.reset();
  return status;
}

SourceStatus ThrottlingSource::status() {
  SourceStatus status;
  if (trace_) status.events = trace_->stream->events();
  return status;
}

Status ThrottlingSource::stop() {
  const bool has_failed = !hierarchy_;
  if (!trace_ || finished_ || has_failed) return {};
  if (Status status = write_samples(true); !status) return status;
  if (Status status = trace_->writer.finish(); !status) return fail(std::move(status));
  finished_ = true;
  return {};
}

Status ThrottlingSource::continue_in(std::string folder) {
  folder_ = std::move(folder);
  trace_.reset();
  finished_ = false;
  return start();
}

std::vector<recording::Part> ThrottlingSource::parts() const {
  if (!trace_) return {};
  return {{.file = kFolder,
           .kind = "ctf",
           .what = "cgroups",
           .machine = "",
           .clock = clock_.state_clock_name(),
           .lost_unknown = are_some_left_out_ ? 1u : 0u,
           .finished = finished_}};
}

}  // namespace strata::record
