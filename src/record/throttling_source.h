// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/ctf/writer.h"
#include "kernel/cgroup_throttling.h"
#include "record/host_clock.h"
#include "record/source.h"

namespace strata::record {

// How cgroups with a CPU limit are throttled, sampled into the recording's folder host-cgroups/: a
// CTF trace of one stream and one type of event, on the clock of the starting state.
//
//     cgroup_cpu_stat  cgroup nr_periods nr_throttled throttled_ns
//
// The numbers are those of the cgroup's cpu.stat. There is an event for each cgroup when the trace
// begins or the cgroup is found, when its numbers have changed since the sample before, and when
// the trace ends. Where no cgroup has a limit there is no trace. Where there are more of them than
// can be kept open, that is told as a loss of nobody knows how many.
//
// Whoever has the source calls sample() once a second: there is no thread. What it takes are calls
// that the recorder is left out by (own_threads.h).
class ThrottlingSource : public Source {
 public:
  static constexpr const char* kFolder = "host-cgroups";

  // `folder` is the recording's.
  ThrottlingSource(std::string folder, const HostClock& clock);

  // Searches for cgroups with a limit; makes the trace if there are any. May be called again when
  // awaits_trace().
  Status start() override;
  SourceStatus status() override;
  // A last sample of each; the trace is whole.
  Status stop() override;
  std::vector<recording::Part> parts() const override;

  // What has changed, and now and then a search for new cgroups. What fails, a full disk, is told
  // once; nothing is sampled from then on.
  Status sample();
  // The first cgroups with a limit have come; making the trace takes more calls than a sample.
  bool awaits_trace() const { return !trace_ && !cgroups_.empty(); }
  // After stop(): begins anew in another recording's folder.
  Status continue_in(std::string folder);

 private:
  using Clock = std::chrono::steady_clock;

  struct Cgroup {
    kernel::LimitedCgroup files;
    std::optional<kernel::CpuThrottling> last = {};  // as sampled
  };
  struct Trace {
    ctf::Writer writer;
    ctf::StreamWriter* stream;
    ctf::EventId type;
    bool tells_left_out = false;
  };

  void search();
  Result<Trace> make_trace() const;
  Status write_samples(bool unchanged_too);
  Status fail(Status status);

  std::string folder_;
  const HostClock& clock_;
  std::optional<kernel::CpuHierarchy> hierarchy_;
  size_t most_;  // that may be kept open
  Clock::time_point next_search_{};
  std::map<std::string, Cgroup> cgroups_;  // by name
  bool are_some_left_out_ = false;
  std::optional<Trace> trace_;
  bool finished_ = false;
};

}  // namespace strata::record
