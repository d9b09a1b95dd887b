// SPDX-License-Identifier: Apache-2.0
#include "victim.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector.h"
#include "stress.h"

namespace strata::test {
namespace {

constexpr char kVariable[] = "STRATA_TEST_VICTIM";

int forbid_sockets() {
  const sock_filter filter[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_socket},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{std::size(filter), const_cast<sock_filter*>(filter)};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// Before any test, in a program that was started as a victim.
class VictimEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    const char* chosen = getenv(kVariable);
    if (chosen == nullptr) return;
    if (Victim{*chosen} == Victim::FiresWithoutSockets && forbid_sockets() != 0) _exit(1);
    STRATA_TRACE(stress, step, 0, 1);
    STRATA_TRACE_PATCHED(stress, step, 0, 2);
    _exit(0);
  }
};
[[maybe_unused]] const testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new VictimEnvironment);

}  // namespace

int run_victim(Victim victim, const char* variable, const char* value) {
  return in_child([&] {
    const char name[] = {static_cast<char>(victim), 0};
    setenv(kVariable, name, 1);
    setenv(variable, value, 1);
    execl("/proc/self/exe", "victim", nullptr);
    _exit(1);
  });
}

}  // namespace strata::test
