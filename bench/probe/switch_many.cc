// SPDX-License-Identifier: Apache-2.0
//
// switch_many PROCESSES: switches this program's 1,000 sites on in so many running processes of it,
// and prints how many milliseconds that took. Fails where a flag of any is not set then, or of a
// process that started meanwhile.
#include <fcntl.h>
#include <signal.h>
#include <strata/probe.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "collect/memory_flags.h"
#include "collect/switch.h"

#define SITE(n) STRATA_EVENT(many, site_##n, STRATA_INFO, (u32, value));
#define TEN(n) \
  SITE(n##0)   \
  SITE(n##1) SITE(n##2) SITE(n##3) SITE(n##4) SITE(n##5) SITE(n##6) SITE(n##7) SITE(n##8) SITE(n##9)
#define HUNDRED(n) \
  TEN(n##0)        \
  TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
HUNDRED(0)
HUNDRED(1)
HUNDRED(2)
HUNDRED(3)
HUNDRED(4)
HUNDRED(5)
HUNDRED(6)
HUNDRED(7)
HUNDRED(8)
HUNDRED(9)

namespace {

using namespace strata;

constexpr char kOwnProgram[] = "/proc/self/exe";

int fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}

// One that runs and does nothing, until this program ends.
pid_t start_process() {
  const pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) pause();
  }
  return process;
}

// Starts some more, one after the other. Not without end: each makes the work longer.
pid_t start_starter(int told) {
  const pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < 10; ++i) {
      const pid_t started = start_process();
      if (write(told, &started, sizeof started) != sizeof started) _exit(1);
      usleep(5000);
    }
    while (true) pause();
  }
  return process;
}

bool all_on(pid_t process, const std::vector<collect::FileSite>& sites, uint64_t bias) {
  const auto flags = collect::read_flags(process, sites, bias);
  if (!flags) return false;
  for (const probe::abi::Flag& flag : *flags)
    if (flag.kernel == 0) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 100;
  Result<elf::ElfFile> file = elf::ElfFile::open(kOwnProgram);
  if (!file) return fail(file.error().text());
  const Result<std::vector<collect::FileSite>> sites = collect::sites_of(*file);
  const Result<collect::FileIdentity> identity = collect::FileIdentity::of(kOwnProgram);
  if (!sites || sites->empty() || !identity) return fail("this program has no sites");
  // What is forked is loaded where this is.
  const std::vector<uint64_t> biases =
      collect::load_biases(collect::mappings_of(getpid(), *identity), sites->front());
  if (biases.empty()) return fail("this program is not found in this process");

  std::vector<pid_t> processes;
  for (int i = 0; i < count; ++i) processes.push_back(start_process());
  int told[2];
  if (pipe2(told, O_NONBLOCK) != 0) return fail("there is no pipe");
  const pid_t starter = start_starter(told[1]);

  const auto begin = std::chrono::steady_clock::now();
  const Result<collect::SwitchedSites> switched =
      collect::SwitchedSites::open(kOwnProgram, *sites, {});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  if (!switched) return fail(switched.error().text());

  kill(starter, SIGSTOP);
  for (pid_t started = 0; read(told[0], &started, sizeof started) == sizeof started;)
    processes.push_back(started);
  for (const pid_t process : processes)
    if (!all_on(process, *sites, biases.front()))
      return fail("a site is off in process " + std::to_string(process));
  kill(starter, SIGKILL);
  std::printf("%.1f\n", took.count());
}
