/* SPDX-License-Identifier: Apache-2.0
 *
 * A program with probes that says, in a file that it shares, how many of its calls have returned:
 *
 *     emitter FILE count NUMBER THREADS   so many events in each thread
 *     emitter FILE paced NUMBER THREADS   the same, with a rest now and then
 *     emitter FILE forever THREADS        until it is killed
 *     emitter FILE calls NUMBER THREADS   { probe; getppid(); probe }, on one CPU after the other
 *     emitter FILE lines NUMBER           so many for each line that it reads
 *     emitter FILE kinds                  one of each kind
 *     emitter FILE orders NUMBER          so many, in a process and in its child; see
 * place_orders() emitter FILE selves NUMBER          threads that tell who they are, and a child
 * that does
 *
 * With WAIT in its environment, it begins when it has read a line.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/probe.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

STRATA_EVENT(emitter, step, STRATA_INFO, (u32, thread), (u64, number));
STRATA_EVENT(emitter, before, STRATA_DEBUG, (s32, tid), (u64, number));
STRATA_EVENT(emitter, after, STRATA_DEBUG, (s32, tid), (u64, number));
STRATA_EVENT(emitter, words, STRATA_WARNING, (string, text), (seq_u32, numbers), (seq_f64, parts),
             (enum, mood, "calm=0,wild=1"), (f32, share));
STRATA_SPAN_EVENT(emitter, nap, STRATA_INFO, (u32, us));
STRATA_EVENT(emitter, order, STRATA_INFO, (string, customer), (u32, size), (s64, change));
STRATA_EVENT(emitter, self, STRATA_INFO, (s32, self_tid), (s32, self_cpu), (string, self_name));
STRATA_COUNTER(emitter, level, STRATA_INFO, s64);

enum { MOST_THREADS = 8 };
static volatile uint64_t* told; /* for each thread: calls that have returned */
static uint64_t number;
static int calls;
static int paced;

static void* emit(void* argument) {
  const uint32_t thread = (uint32_t)(uintptr_t)argument;
  for (uint64_t i = 0; i < number; ++i) {
    STRATA_TRACE(emitter, step, thread, i);
    told[thread] = i + 1;
    if (paced && i % 1000 == 999) usleep(20000);
  }
  return NULL;
}

static void* call(void* argument) {
  const uint32_t thread = (uint32_t)(uintptr_t)argument;
  const int32_t tid = (int32_t)syscall(SYS_gettid);
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  for (uint64_t i = 0; i < number; ++i) {
    if (i % 64 == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET((size_t)((i / 64 + thread) % (uint64_t)cpus), &one);
      sched_setaffinity(0, sizeof one, &one);
    }
    STRATA_TRACE(emitter, before, tid, i);
    syscall(SYS_getppid);
    STRATA_TRACE(emitter, after, tid, i);
    told[thread] += 2;
  }
  return NULL;
}

static void emit_for_lines(void) {
  for (int c = getchar(); c != EOF; c = getchar())
    for (uint64_t i = 0; c == '\n' && i < number; ++i) {
      STRATA_TRACE(emitter, step, 0, told[0]);
      ++told[0];
    }
}

static void one_of_each(void) {
  const uint32_t numbers[] = {1, 2, 4000000000u};
  const double parts[] = {0.5, -2.25};
  STRATA_TRACE(emitter, words, "some words", ((strata_seq_u32){numbers, 3}),
               ((strata_seq_f64){parts, 2}), 1, 0.125f);
  const uint64_t begin = STRATA_SPAN_BEGIN(emitter, nap);
  usleep(2000);
  STRATA_SPAN_END(emitter, nap, begin, 2000);
  STRATA_COUNT(emitter, level, -7);
  told[0] = 3;
}

static void place_orders(void) {
  static const char* const customers[] = {"alice", "bob", "carol"};
  for (uint64_t i = 0; i < number; ++i)
    STRATA_TRACE(emitter, order, customers[i % 3], (uint32_t)i, (int64_t)(i % 7) - 3);
}

static void* tell_self(void* argument) {
  const unsigned thread = (unsigned)(uintptr_t)argument;
  char name[16];
  snprintf(name, sizeof name, "self-%u", thread);
  prctl(PR_SET_NAME, name);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(thread % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &one);
  sched_setaffinity(0, sizeof one, &one);
  STRATA_TRACE(emitter, self, (int32_t)syscall(SYS_gettid), sched_getcpu(), name);
  return NULL;
}

static void tell_selves(void) {
  tell_self(NULL);
  for (uintptr_t i = 1; i < number; ++i) {
    pthread_t other;
    if (pthread_create(&other, NULL, tell_self, (void*)i) != 0) _exit(2);
    pthread_join(other, NULL);
  }
}

/* In this process, then in a child. */
static int twice(void (*action)(void)) {
  action();
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int main(int count, char** words) {
  if (count < 3) return 2;
  const int file = open(words[1], O_RDWR);
  told = mmap(NULL, MOST_THREADS * sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (told == MAP_FAILED) return 2;
  if (getenv("WAIT") != NULL && getchar() == EOF) return 2;
  if (strcmp(words[2], "kinds") == 0) {
    one_of_each();
    return 0;
  }
  if (strcmp(words[2], "orders") == 0 || strcmp(words[2], "selves") == 0) {
    number = strtoull(words[3], NULL, 10);
    return twice(words[2][0] == 'o' ? place_orders : tell_selves);
  }
  const int forever = strcmp(words[2], "forever") == 0;
  calls = strcmp(words[2], "calls") == 0;
  paced = strcmp(words[2], "paced") == 0;
  number = forever ? UINT64_MAX : strtoull(words[3], NULL, 10);
  if (strcmp(words[2], "lines") == 0) {
    emit_for_lines();
    return 0;
  }
  const unsigned threads = (unsigned)atoi(words[forever ? 3 : 4]);
  pthread_t others[MOST_THREADS];
  for (unsigned i = 0; i < threads; ++i)
    if (pthread_create(&others[i], NULL, calls ? call : emit, (void*)(uintptr_t)i) != 0) return 2;
  for (unsigned i = 0; i < threads; ++i) pthread_join(others[i], NULL);
  return 0;
}
