// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "kernel/perf_counters.h"
#include "kernel/tracefs.h"
#include "record/counters_trace.h"
#include "record/source.h"

namespace strata::record {

struct CountersOptions {
  std::string folder;                 // the recording's
  std::vector<std::string> counters;  // by perf's names
  // The events at which they are read, by the names SYSTEM:EVENT.
  std::vector<std::string> read_at = {"sched:sched_switch"};
  size_t ring_size = size_t{4} << 20;  // of each CPU; a power of two
  // Threads of the recorder: they are not read at, but for their switches, so that every time slice
  // has its two ends. The source's own thread is one of them already.
  std::vector<pid_t> leave_out;
  std::string machine = "host";  // what the recording calls it
  std::string clock = "host.mono_raw";
};

// Performance counters into the recording's folder host-counters/, as CountersTrace says.
//
// The kernel reads them; one thread of ours, which sleeps until a ring is half full or a second has
// gone by, brings the readings into packets. What the rings had no room for is counted to the last
// one: the kernel counts the events themselves too.
class CountersSource : public Source {
 public:
  static constexpr const char* kFolder = "host-counters";

  // Checks all names; records nothing yet.
  static Result<std::unique_ptr<CountersSource>> create(const kernel::Tracefs& tracefs,
                                                        CountersOptions options);
  ~CountersSource() override;

  Status start() override;
  SourceStatus status() override;
  Status stop() override;
  std::vector<recording::Part> parts() const override;

  // From here on into another recording's folder, without losing a reading: a trace of its own, in
  // which the counters go on from where they were. Gives the part that is complete now. Where the
  // new trace cannot be made, the source has failed, as stop() tells.
  recording::Part continue_in(const std::string& folder);

 private:
  struct Cpu {
    kernel::CounterGroup group;
    uint64_t samples = 0;  // met in its ring
    uint64_t lost = 0;     // as the ring tells
  };

  CountersSource(CountersOptions options, CountersTraceOptions trace);
  Status open_groups();
  Result<CountersTrace> make_trace(const std::string& recording);
  Status open_trace();
  Status start_thread();
  void leave_out_own(pid_t thread);
  Status enable();
  void end_thread();
  void undo();

  void run();
  Status drain();
  Status drain(size_t index);
  Status change_trace();
  Status count_rest();
  void tell_status();

  CountersOptions options_;
  CountersTraceOptions described_;
  std::optional<CountersTrace> trace_;
  std::vector<Cpu> cpus_;
  std::thread thread_;
  FileDescriptor wake_;  // an eventfd: stop, or change folders
  Status failed_;        // the thread's, to be read when it has ended
  bool finished_ = false;
  std::atomic<bool> stopping_ = false;
  std::mutex changing_;
  std::condition_variable changed_;
  std::optional<std::string> next_folder_;
  std::optional<recording::Part> complete_;
  bool has_ended_ = false;

  std::atomic<uint64_t> events_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> lost_{0};
  std::atomic<uint64_t> lost_unknown_{0};
};

}  // namespace strata::record
