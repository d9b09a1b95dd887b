/* SPDX-License-Identifier: Apache-2.0
 *
 * status_bar [SECONDS]: a line for a status bar, every second: how busy the processors are, and
 * with what most. It waits for nothing but the time, and reads no file.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/strata.h>

/* Of a task: the time that it was on a CPU. */
static uint64_t busy_ns(strata_row task) {
  static const char* const names[] = {"running_ns", "user_ns",   "syscall_ns", "trap_ns",
                                      "virt_ns",    "kernel_ns", "exiting_ns"};
  static int columns[sizeof names / sizeof *names] = {0};
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (columns[i] == 0) columns[i] = strata_column(names[i]);
    sum += strata_row_value(task, columns[i], NULL);
  }
  return sum;
}

static void show(const strata_table* table) {
  const strata_row machine = strata_table_row(table, 0, STRATA_ROW_MACHINE, 0);
  const uint64_t idle = strata_row_value(machine, strata_column("idle_ns"), NULL);
  const uint64_t length = (uint64_t)(strata_table_end(table) - strata_table_begin(table));
  const uint64_t all = length * strata_table_rows(table, 0, STRATA_ROW_CPU);

  const char* name = "";
  uint64_t most = 0;
  const size_t tasks = strata_table_rows(table, 0, STRATA_ROW_TASK);
  for (size_t i = 0; i < tasks; ++i) {
    const strata_row task = strata_table_row(table, 0, STRATA_ROW_TASK, i);
    const uint64_t busy = busy_ns(task);
    const char* const own = strata_row_text(task, "name");
    if (busy <= most || own == NULL) continue;
    most = busy;
    name = own;
  }
  printf("cpu %3" PRIu64 " %%  %s %" PRIu64 " ms\n", all > idle ? (all - idle) * 100 / all : 0, name,
         most / 1000000);
  fflush(stdout);
}

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? atoi(argv[1]) : 0;
  char why[STRATA_WHY] = "";
  strata_feed* const feed = strata_feed_open_machine("cpu", why, sizeof why);
  if (feed == NULL) {
    fprintf(stderr, "status_bar: %s\n", why);
    return 1;
  }
  struct pollfd due = {strata_feed_descriptor(feed, 1000000000), POLLIN, 0};
  int status = due.fd < 0;
  for (int second = 0; status == 0 && (seconds == 0 || second < seconds); ++second) {
    poll(&due, 1, -1);
    strata_table* table = NULL;
    if (strata_feed_next(feed, &table) != 1) {
      status = 1;
      break;
    }
    show(table);
    strata_table_free(table);
  }
  if (status != 0) fprintf(stderr, "status_bar: %s\n", strata_feed_problem(feed));
  strata_feed_close(feed);
  return status;
}
