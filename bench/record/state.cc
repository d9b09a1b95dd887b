// SPDX-License-Identifier: Apache-2.0
//
// How long the starting state takes on a machine with many processes:
//
//     state FOLDER [PROCESSES [DESCRIPTORS]]
//
// adds that many processes, which together have that many descriptors, and says how many
// milliseconds it took to gather and to write the state.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "record/state_trace.h"

namespace strata::bench {
namespace {

// Processes that wait, and end with this object or with this program.
class Crowd {
 public:
  Crowd(int processes, int descriptors) {
    for (int i = 0; i < processes; ++i) {
      const int share = descriptors / processes + (i < descriptors % processes ? 1 : 0);
      const pid_t child = fork();
      if (child == 0) wait_with(share);
      if (child > 0) processes_.push_back(child);
    }
    whole_ = processes_.size() == static_cast<size_t>(processes);
  }
  ~Crowd() {
    for (const pid_t process : processes_) kill(process, SIGKILL);
    for (const pid_t process : processes_) waitpid(process, nullptr, 0);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  bool whole() const { return whole_; }

 private:
  [[noreturn]] static void wait_with(int descriptors) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < descriptors; ++i) {
      if (dup2(open("/dev/null", O_RDONLY), i) < 0) _exit(1);
    }
    close_range(static_cast<unsigned>(descriptors), ~0u, 0);
    for (;;) pause();
  }

  std::vector<pid_t> processes_;
  bool whole_ = false;
};

int measure(const std::string& folder, int processes, int descriptors) {
  using Clock = std::chrono::steady_clock;
  const Crowd crowd(processes, descriptors);
  if (!crowd.whole()) {
    std::fputs("state: cannot start that many processes\n", stderr);
    return 1;
  }
  usleep(300'000);  // until all have opened theirs
  const Clock::time_point begin = Clock::now();
  const Result<kernel::MachineState> state = kernel::gather_state(kernel::StateClock::MonotonicRaw);
  const Status status =
      state ? record::write_state(folder, *state, {.name = "mono_raw"}) : Status(state.error());
  const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
  std::filesystem::remove_all(folder);
  if (!status) {
    std::fprintf(stderr, "state: %s\n", status.error().text().c_str());
    return 1;
  }
  std::printf("%.3f\n", took.count());
  return 0;
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) {
  const int processes = argc > 2 ? std::atoi(argv[2]) : 1000;
  const int descriptors = argc > 3 ? std::atoi(argv[3]) : 5000;
  if (argc < 2 || processes < 1 || descriptors < 0) {
    std::fputs("usage: state FOLDER [PROCESSES [DESCRIPTORS]]\n", stderr);
    return 2;
  }
  return strata::bench::measure(argv[1], processes, descriptors);
}
