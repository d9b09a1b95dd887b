/* SPDX-License-Identifier: Apache-2.0
 *
 * A program whose probes are switched from outside. For each character on standard input it answers
 * with a line:
 *
 *   n   how many of its flags are set
 *   f   fires, and says how often its arguments have been evaluated
 *   s   forbids itself sockets, on pain of death
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <strata/probe.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define SITE(n) STRATA_EVENT(switched, site_##n, STRATA_INFO, (u32, value));
#define TEN(n) \
  SITE(n##0)   \
  SITE(n##1) SITE(n##2) SITE(n##3) SITE(n##4) SITE(n##5) SITE(n##6) SITE(n##7) SITE(n##8) SITE(n##9)
TEN(0)
TEN(1)
TEN(2)
TEN(3)
TEN(4)
STRATA_EVENT(switched, fires, STRATA_INFO, (u32, number), (string, text), (s64, negative));

static int forbid_sockets(void) {
  struct sock_filter filter[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_socket},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const struct sock_fprog program = {4, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int count_flags(void) {
  int count = 0;
  for (const uint32_t* flag = __start_strata_flags; flag < __stop_strata_flags; ++flag)
    count += __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;
  return count;
}

int main(void) {
  uint32_t evaluated = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int command; (command = getchar()) != EOF;) {
    switch (command) {
      case 'n':
        printf("%d\n", count_flags());
        break;
      case 'f':
        STRATA_TRACE(switched, fires, ++evaluated, "told", -7);
        printf("%u\n", evaluated);
        break;
      case 's':
        printf("%d\n", forbid_sockets());
        break;
    }
  }
  return 0;
}
