/* SPDX-License-Identifier: Apache-2.0
 *
 * libstrata: what `strata top` shows, for any program. Link with -lstrata (pkg-config strata, or
 * find_package(strata) and strata::strata).
 *
 * A feed gives one table after the other: what every CPU, task, virtual machine, file and device of
 * a machine did in a period. A table of the running machine ends at the moment in which it is asked
 * for, and the next one begins there: the kernel adds up, and asking reads memory. Tables of
 * recordings and traces have the length that was asked for.
 *
 *     char why[STRATA_WHY];
 *     strata_feed* feed = strata_feed_open_machine("cpu", why, sizeof why);
 *     if (feed == NULL) return fprintf(stderr, "%s\n", why), 1;
 *     const int idle = strata_column("idle_ns");
 *     strata_table* table;
 *     while (sleep(1), strata_feed_next(feed, &table) == 1) {
 *       const strata_row machine = strata_table_row(table, 0, STRATA_ROW_MACHINE, 0);
 *       printf("idle %llu ns\n", (unsigned long long)strata_row_value(machine, idle));
 *       strata_table_free(table);
 *     }
 *     strata_feed_close(feed);
 *
 * Columns and fields have the names that they have in the lines of `strata top --json`;
 * docs/library.md lists them.
 *
 * Threads: a feed is used by one thread at a time, several feeds by several threads. A table does
 * not need its feed any more; any number of threads may read it while none frees it or adds to it.
 * A child of fork() leaves its parent's feeds alone.
 *
 * Nothing is thrown, printed or raised, and no text is NULL unless it is said here. Where a feed or
 * a table is wanted, NULL is one in which there is nothing.
 */
#ifndef STRATA_STRATA_H
#define STRATA_STRATA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct strata_feed strata_feed;
typedef struct strata_table strata_table;

/* Of the library that is loaded: "0.1.0". */
const char* strata_version(void);

/* ---- Feeds ---- */

/* Room for the reason why something failed: a sentence. What is longer is cut. */
#define STRATA_WHY 1024

/* The running machine, which takes root, or CAP_BPF and CAP_PERFMON. `groups` is what to tell of:
 * "cpu", or several with commas between them, "cpu,calls,io,vm,perf,latency,totals". Each costs
 * those who are watched. NULL: why not is in `why`, which may be NULL. "all" is all that there is:
 * of groups that cannot be had strata_feed_shortfall() says why, and nothing fails. */
strata_feed* strata_feed_open_machine(const char* groups, char* why, size_t size);

/* Recordings and traces, taken together, in tables of `period_ns`; or a file of lines that
 * strata_table_json() or `strata top` made, whose tables are as long as they are. */
strata_feed* strata_feed_open(const char* const* paths, size_t count, int64_t period_ns, char* why,
                              size_t size);

void strata_feed_close(strata_feed* feed);

/* 1: the next table, which is the caller's now. 0: there is no more. -1: strata_feed_problem() says
 * why not; what was given before is right. Never waits: a running machine's period ends now. */
int strata_feed_next(strata_feed* feed, strata_table** table);

/* A descriptor for poll() and the like. It becomes readable when a table is due, at each multiple
 * of `period_ns` (so that all programs with this period wake the machine together), and
 * strata_feed_next() makes it wait for the next time; a table that is asked for late is longer, and
 * none is made up for. Of recordings it is always readable. It is the feed's, and closed with it;
 * asked for again, it is the same and has the new period.
 * -1: see strata_feed_problem(). */
int strata_feed_descriptor(strata_feed* feed, int64_t period_ns);

/* What to tell of from now on, as strata_feed_open_machine() takes it. 0; or -1: not all of that
 * can be had, strata_feed_problem() says what and why, and the rest is told. */
int strata_feed_want(strata_feed* feed, const char* groups);

/* Which performance counters "perf" tells of the running machine, by perf's names: "cycles", or
 * several with commas between them, "page-faults,context-switches"; "" leaves it to the library.
 * 0; or -1, as strata_feed_want(). Recordings tell those that they have. */
int strata_feed_counters(strata_feed* feed, const char* names);

/* The next table is the first again. 0; or -1: the running machine has no first one. */
int strata_feed_restart(strata_feed* feed);

/* Why the last call that failed did, until the next one fails. */
const char* strata_feed_problem(const strata_feed* feed);

/* What is missing in what the feed tells, and why: sentences, by their number from 0. NULL: there
 * are no more. They stay until number 0 is asked for again. */
const char* strata_feed_shortfall(strata_feed* feed, size_t number);

/* ---- Tables ---- */

void strata_table_free(strata_table* table);

/* In nanoseconds of the table's clock; the end belongs to the next table. */
int64_t strata_table_begin(const strata_table* table);
int64_t strata_table_end(const strata_table* table);
/* "epoch", or the name of a clock. */
const char* strata_table_clock(const strata_table* table);

/* Makes of a table and the one that follows at once the table of both: what is told late
 * (docs/period.md) is then where it belongs, which adding values does not reach. 0; or -1: `next`
 * does not begin where `table` ends, and nothing was done. */
int strata_table_add(strata_table* table, const strata_table* next);

/* The line of JSON that `strata top --json` prints, with its end, which strata_feed_open() reads.
 * It lives as long as the table does not change. NULL: there is no memory for it. */
const char* strata_table_json(strata_table* table);

/* What a row is about. */
enum {
  STRATA_ROW_MACHINE, /* one: the machine itself */
  STRATA_ROW_CPU,
  STRATA_ROW_TASK,
  STRATA_ROW_VM,
  STRATA_ROW_VCPU,
  STRATA_ROW_EXIT,
  STRATA_ROW_FILE,
  STRATA_ROW_DESCRIPTOR,
  STRATA_ROW_DEVICE,
  STRATA_ROW_INTERFACE,
  STRATA_ROW_LATENCY
};

size_t strata_table_machines(const strata_table* table);
/* How many rows of a kind a machine has. */
size_t strata_table_rows(const strata_table* table, size_t machine, int kind);

/* A place in a table. One that is not there may be asked for all the same: it has nothing. */
typedef struct strata_row {
  const strata_table* table;
  size_t machine;
  size_t number;
  int kind;
} strata_row;

static inline strata_row strata_table_row(const strata_table* table, size_t machine, int kind,
                                          size_t number) {
  strata_row row;
  row.table = table;
  row.machine = machine;
  row.number = number;
  row.kind = kind;
  return row;
}

/* ---- Columns: what rows have that can be added up ---- */

/* The number of a column, by its name: "user_ns". -1: there is none of that name. Names stay what
 * they are, numbers change from version to version: they are counted from 0, without gaps. */
int strata_column(const char* name);
/* NULL, where there is no such column. */
const char* strata_column_name(int column);
const char* strata_column_meaning(int column);
const char* strata_column_unit(int column); /* "ns", "number", "bytes", "kHz" */

/* 0 also where it is unknown, and where rows of this kind do not have the column. */
uint64_t strata_row_value(strata_row row, int column);

/* How far a value can be believed. */
enum {
  STRATA_EXACT,
  STRATA_ESTIMATED, /* it may be somewhat off, or not all of it is known */
  STRATA_UNKNOWN    /* nobody told */
};
int strata_row_certainty(strata_row row, int column);

/* ---- Fields: what else rows have ---- */

/* By its name: "pid", "start_ns". What is true or not is 1 or 0. 1; or 0: the row has none, or
 * nobody told, and `number` stays as it was. */
int strata_row_number(strata_row row, const char* field, int64_t* number);
/* The same of texts: "name", "state". NULL: it has none. They live as long as the table does not
 * change. Whoever runs a program names it: what comes from there may hold any bytes. */
const char* strata_row_text(strata_row row, const char* field);

/* Of STRATA_ROW_LATENCY: how often it took how long, and how often and how long in all. In the
 * first place are those of 0 ns, in place n those from 2^(n-1) ns to below 2^n, in the last all
 * longer ones, too. NULL, and nothing else is given: the row has none. */
#define STRATA_BUCKETS 48
const uint64_t* strata_row_histogram(strata_row row, uint64_t* count, uint64_t* sum_ns);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
