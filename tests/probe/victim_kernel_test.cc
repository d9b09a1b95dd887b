// SPDX-License-Identifier: Apache-2.0
//
// The program that other tests trace: this one, started anew.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "stress.h"
#include "victim.h"

namespace strata::test {

TEST(Victim, DISABLED_Fires) {
  STRATA_TRACE(stress, step, 0, 1);
  STRATA_TRACE_PATCHED(stress, step, 0, 2);
}

TEST(Victim, DISABLED_FiresWhereSocketsAreDeadly) {
  const sock_filter filter[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_socket},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{4, const_cast<sock_filter*>(filter)};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  STRATA_TRACE(stress, step, 0, 3);
}

int run_victim(const char* name, const char* variable, const char* value) {
  return in_child([&] {
    setenv(variable, value, 1);
    const std::string filter = std::string("--gtest_filter=Victim.DISABLED_") + name;
    execl("/proc/self/exe", "victim", filter.c_str(), "--gtest_also_run_disabled_tests",
          "--gtest_brief=1", nullptr);
    _exit(1);
  });
}

}  // namespace strata::test
