/* SPDX-License-Identifier: Apache-2.0
 *
 * fire_lttng WHAT THREADS TIMES: the same as fire.cc, by LTTng-UST. The script has a session
 * running in which strata_bench:number is enabled and strata_bench:off is not.
 */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <string.h>

#include "loop.h"
#include "lttng_number.h"

static void fire_number(uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) lttng_ust_tracepoint(strata_bench, number, (int)i);
}

#define OFF lttng_ust_tracepoint(strata_bench, off, (int)i);
static void pass_sites(uint32_t times) {
  for (uint32_t i = 0; i < times; i += 16) {
    OFF OFF OFF OFF OFF OFF OFF OFF OFF OFF OFF OFF OFF OFF OFF OFF
  }
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: fire_lttng WHAT THREADS TIMES\n");
    return 2;
  }
  printf("%.5f\n", run_loops(strcmp(argv[1], "off") == 0 ? pass_sites : fire_number, atoi(argv[2]),
                             (uint32_t)strtoul(argv[3], NULL, 10)));
  return 0;
}
