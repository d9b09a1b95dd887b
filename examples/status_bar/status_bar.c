/* SPDX-License-Identifier: Apache-2.0
 *
 * status_bar [-n LINES] [RECORDING...]: a line for a status bar every second, of this machine or,
 * without waiting, of a recording: how busy the processors are, memory, the network, and which
 * process ran most. It waits for nothing but the time, and opens no file.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/strata.h>
#include <string.h>
#include <sys/sysinfo.h>

#define SECOND 1000000000

/* Columns have numbers that are asked for once. */
static int idle, bytes_in, bytes_out;
/* A task that is on a CPU does one of these. */
static int running[7];

static void find_columns(void) {
  static const char* const names[] = {"running_ns", "user_ns",   "syscall_ns", "trap_ns",
                                      "virt_ns",    "kernel_ns", "exiting_ns"};
  for (size_t i = 0; i < sizeof running / sizeof *running; ++i)
    running[i] = strata_column(names[i]);
  idle = strata_column("idle_ns");
  bytes_in = strata_column("read_bytes");
  bytes_out = strata_column("written_bytes");
}

struct thread {
  int64_t pid;
  uint64_t ns;
  const char* name;
};

static int by_process(const void* a, const void* b) {
  const int64_t left = ((const struct thread*)a)->pid, right = ((const struct thread*)b)->pid;
  return (left > right) - (left < right);
}

/* The process whose threads ran longest, together. */
static struct thread busiest(const strata_table* table) {
  struct thread most = {-1, 0, NULL};
  const size_t count = strata_table_rows(table, 0, STRATA_ROW_TASK);
  struct thread* const threads = calloc(count + 1, sizeof *threads);
  if (threads == NULL) return most;
  size_t ran = 0;
  for (size_t i = 0; i < count; ++i) {
    const strata_row task = strata_table_row(table, 0, STRATA_ROW_TASK, i);
    struct thread* const thread = &threads[ran];
    int64_t tid = 0;
    if (!strata_row_number(task, "tid", &tid) || tid == 0) continue;
    thread->pid = tid;
    strata_row_number(task, "pid", &thread->pid);
    thread->ns = 0;
    for (size_t state = 0; state < sizeof running / sizeof *running; ++state)
      thread->ns += strata_row_value(task, running[state]);
    thread->name = strata_row_text(task, "name");
    if (thread->ns > 0) ++ran;
  }
  qsort(threads, ran, sizeof *threads, by_process);
  for (size_t i = 0; i < ran;) {
    struct thread process = threads[i];
    while (++i < ran && threads[i].pid == process.pid) process.ns += threads[i].ns;
    if (process.ns > most.ns) most = process;
  }
  free(threads);
  return most;
}

static uint64_t sum_of_interfaces(const strata_table* table, int column) {
  uint64_t sum = 0;
  const size_t count = strata_table_rows(table, 0, STRATA_ROW_INTERFACE);
  for (size_t i = 0; i < count; ++i)
    sum += strata_row_value(strata_table_row(table, 0, STRATA_ROW_INTERFACE, i), column);
  return sum;
}

/* A program chooses its name: whatever a terminal would obey stays out. */
static void print_name(const char* name) {
  for (; name != NULL && *name != '\0'; ++name)
    putchar((unsigned char)*name < ' ' || (unsigned char)*name >= 0x7f ? '?' : *name);
}

static void show(const strata_table* table, int is_recorded) {
  const strata_row machine = strata_table_row(table, 0, STRATA_ROW_MACHINE, 0);
  const double seconds =
      (double)(strata_table_end(table) - strata_table_begin(table)) / (double)SECOND;
  const double all = seconds * (double)strata_table_rows(table, 0, STRATA_ROW_CPU);
  const double busy = all - (double)strata_row_value(machine, idle) / (double)SECOND;
  const struct thread most = busiest(table);
  struct sysinfo memory;

  printf("cpu %3.0f %%", all > 0 && busy > 0 ? busy / all * 100 : 0);
  if (!is_recorded && sysinfo(&memory) == 0)
    printf("  free %.0f MB", (double)memory.freeram * memory.mem_unit / 1e6);
  if (seconds > 0 && strata_table_rows(table, 0, STRATA_ROW_INTERFACE) > 0)
    printf("  in %.1f out %.1f kB/s", (double)sum_of_interfaces(table, bytes_in) / seconds / 1e3,
           (double)sum_of_interfaces(table, bytes_out) / seconds / 1e3);
  if (most.ns > 0) {
    printf("  ");
    print_name(most.name);
    printf(" (%" PRId64 ") %.1f ms", most.pid, (double)most.ns / 1e6);
  }
  putchar('\n');
  fflush(stdout);
}

int main(int argc, char** argv) {
  int first = 1;
  long lines = -1;
  if (argc > 2 && strcmp(argv[1], "-n") == 0) {
    lines = strtol(argv[2], NULL, 10);
    first = 3;
  }
  const int is_recorded = argc > first;

  char why[STRATA_WHY] = "";
  strata_feed* const feed = is_recorded
                                ? strata_feed_open((const char* const*)argv + first,
                                                   (size_t)(argc - first), SECOND, why, sizeof why)
                                : strata_feed_open_machine("cpu", why, sizeof why);
  if (feed == NULL) {
    fprintf(stderr, "status_bar: %s\n", why);
    return 1;
  }
  find_columns();
  struct pollfd due = {strata_feed_descriptor(feed, SECOND), POLLIN, 0};
  int status = due.fd < 0 ? -1 : 1;
  for (; status == 1 && lines != 0; --lines) {
    strata_table* table = NULL;
    if (poll(&due, 1, -1) < 0) continue;
    status = strata_feed_next(feed, &table);
    if (status == 1) show(table, is_recorded);
    strata_table_free(table);
  }
  if (status < 0) fprintf(stderr, "status_bar: %s\n", strata_feed_problem(feed));
  strata_feed_close(feed);
  return status < 0 ? 1 : 0;
}
