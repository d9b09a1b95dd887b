/* SPDX-License-Identifier: Apache-2.0
 *
 * What both sides of the comparison run: so many threads, each of which does something so many
 * times; the CPU time that one of these took, in nanoseconds. Plain C, since a peer's headers are.
 */
#ifndef BENCH_PROBE_LOOP_H
#define BENCH_PROBE_LOOP_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef void (*Loop)(uint32_t times);

struct LoopThread {
  pthread_t thread;
  Loop loop;
  uint32_t times;
  int cpu;
  double ns;
};

static inline double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline void* run_loop_thread(void* argument) {
  struct LoopThread* me = (struct LoopThread*)argument;
  cpu_set_t cpus;
  double begin;
  CPU_ZERO(&cpus);
  CPU_SET(me->cpu, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  me->loop(1000); /* warm, attached, pages there */
  begin = cpu_ns();
  me->loop(me->times);
  me->ns = (cpu_ns() - begin) / me->times;
  return NULL;
}

/* The mean of all threads. */
static inline double run_loops(Loop loop, int threads, uint32_t times) {
  struct LoopThread* each = (struct LoopThread*)calloc((size_t)threads, sizeof *each);
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  double sum = 0;
  int i;
  for (i = 0; i < threads; ++i) {
    each[i].loop = loop;
    each[i].times = times;
    each[i].cpu = (int)(i % cpus);
    pthread_create(&each[i].thread, NULL, run_loop_thread, &each[i]);
  }
  for (i = 0; i < threads; ++i) {
    pthread_join(each[i].thread, NULL);
    sum += each[i].ns;
  }
  free(each);
  return sum / threads;
}

#endif
