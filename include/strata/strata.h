/* SPDX-License-Identifier: Apache-2.0
 *
 * libstrata: what `strata top` shows, for any program. Link with -lstrata (pkg-config strata).
 *
 * A feed gives one table after the other: what every CPU, task, virtual machine, file and device of
 * a machine did in a period. A table of the running machine ends at the moment in which it is asked
 * for, and the next one begins there: the kernel adds up, and asking reads memory. Tables of
 * recordings and traces have the length that was asked for.
 *
 *     char why[STRATA_WHY];
 *     strata_feed* feed = strata_feed_open_machine("cpu", why, sizeof why);
 *     if (feed == NULL) return fprintf(stderr, "%s\n", why), 1;
 *     strata_table* table;
 *     while (sleep(1), strata_feed_next(feed, &table) == 1) {
 *       const strata_row machine = strata_table_row(table, 0, STRATA_ROW_MACHINE, 0);
 *       printf("idle %lu ns\n", strata_row_value(machine, strata_column("idle_ns"), NULL));
 *       strata_table_free(table);
 *     }
 *     strata_feed_close(feed);
 *
 * Columns and fields are asked for by the names that docs/period.md lists, which are those of
 * `strata top --json`. A feed and a table are used by one thread at a time; texts live as long as
 * the table or feed that gave them.
 */
#ifndef STRATA_STRATA_H
#define STRATA_STRATA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define STRATA_NOTHROW noexcept
#else
#define STRATA_NOTHROW
#endif

#pragma GCC visibility push(default)

typedef struct strata_feed strata_feed;
typedef struct strata_table strata_table;

/* ---- Feeds ---- */

/* Room for the reason why something failed: a sentence. */
#define STRATA_WHY 512

/* The running machine, which takes the rights that `strata record` takes. `groups` is what to tell
 * of, as in `strata top --screens`: "cpu", or several, "cpu,io,vm,perf,latency,calls"; "all" is all
 * of them. Each costs those who are watched. NULL: why not is in `why`. */
strata_feed* strata_feed_open_machine(const char* groups, char* why, size_t size) STRATA_NOTHROW;

/* Recordings and traces, taken together, in tables of `period_ns`; or a file of lines that
 * `strata top` saved, whose tables are as long as they are. */
strata_feed* strata_feed_open(const char* const* paths, size_t count, int64_t period_ns, char* why,
                              size_t size) STRATA_NOTHROW;

void strata_feed_close(strata_feed* feed) STRATA_NOTHROW;

/* 1: the next table, which is the caller's now; 0: there is no more; -1: see
 * strata_feed_problem(). */
int strata_feed_next(strata_feed* feed, strata_table** table) STRATA_NOTHROW;

/* A descriptor for poll(), which can be read every `period_ns` from now on, when a table is due;
 * strata_feed_next() makes it wait for the next time. Of recordings it can always be read. It is
 * the feed's, and closed with it; asked for again, it is the same and has another period.
 * -1: see strata_feed_problem(). */
int strata_feed_descriptor(strata_feed* feed, int64_t period_ns) STRATA_NOTHROW;

/* What to tell of from now on. 0, or -1: see strata_feed_problem(); what can be had is then told. */
int strata_feed_want(strata_feed* feed, const char* groups) STRATA_NOTHROW;

/* Why the last call failed. */
const char* strata_feed_problem(const strata_feed* feed) STRATA_NOTHROW;

/* What is missing in what the feed tells, and why: sentences, by their number from 0. NULL: there
 * are no more. They live until it is asked for number 0 again. */
const char* strata_feed_shortfall(strata_feed* feed, size_t number) STRATA_NOTHROW;

/* ---- Tables ---- */

void strata_table_free(strata_table* table) STRATA_NOTHROW;

/* In nanoseconds of the table's clock; the end belongs to the next table. */
int64_t strata_table_begin(const strata_table* table) STRATA_NOTHROW;
int64_t strata_table_end(const strata_table* table) STRATA_NOTHROW;
/* "epoch", or the name of a clock. */
const char* strata_table_clock(const strata_table* table) STRATA_NOTHROW;

typedef enum strata_kind {
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
} strata_kind;

size_t strata_table_machines(const strata_table* table) STRATA_NOTHROW;
/* How many rows of a kind a machine has. */
size_t strata_table_rows(const strata_table* table, size_t machine,
                         strata_kind kind) STRATA_NOTHROW;

/* A place in a table. One that is not there may be asked for all the same: it has nothing. */
typedef struct strata_row {
  const strata_table* table;
  size_t machine;
  size_t number;
  strata_kind kind;
} strata_row;

static inline strata_row strata_table_row(const strata_table* table, size_t machine,
                                          strata_kind kind, size_t number) STRATA_NOTHROW {
  strata_row row;
  row.table = table;
  row.machine = machine;
  row.number = number;
  row.kind = kind;
  return row;
}

/* ---- Columns ---- */

/* How far a value can be believed. */
typedef enum strata_certainty {
  STRATA_EXACT,
  STRATA_ESTIMATED, /* it may be somewhat off, or not all of it is known */
  STRATA_UNKNOWN    /* nobody told: the value is 0 */
} strata_certainty;

/* The number of a column, by its name: "user_ns". -1: there is none of that name. Names stay what
 * they are, numbers change from version to version: they are counted from 0, without gaps. */
int strata_column(const char* name) STRATA_NOTHROW;
/* NULL, where there is no such column. */
const char* strata_column_name(int column) STRATA_NOTHROW;
const char* strata_column_meaning(int column) STRATA_NOTHROW;
const char* strata_column_unit(int column) STRATA_NOTHROW; /* "ns", "number", "bytes", "kHz" */

/* A column that rows of this kind do not have is 0 and exact. `certainty` may be NULL. */
uint64_t strata_row_value(strata_row row, int column, strata_certainty* certainty) STRATA_NOTHROW;

/* What else a row has, by its name: "pid", "name", "state". 1, or 0: it has none, or nobody told.
 * What is true or not is 1 or 0. */
int strata_row_number(strata_row row, const char* field, int64_t* number) STRATA_NOTHROW;
/* The same of texts. NULL: it has none. */
const char* strata_row_text(strata_row row, const char* field) STRATA_NOTHROW;

/* Of STRATA_ROW_LATENCY: how often it took how long, and how often and how long in all. In the first
 * place are those of 0 ns, in place n those from 2^(n-1) ns to below 2^n, in the last all longer
 * ones, too. NULL, where the row has none. */
#define STRATA_BUCKETS 48
const uint64_t* strata_row_histogram(strata_row row, uint64_t* count,
                                     uint64_t* sum_ns) STRATA_NOTHROW;

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
