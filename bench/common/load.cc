// SPDX-License-Identifier: Apache-2.0
//
// A load for tracers: pairs of processes that send a byte to and fro over two pipes. Every round
// trip is two switches, two wake-ups and four system calls, whatever the machine, so that the
// number of events is known before: with sched:* and syscalls:* two pairs of 300,000 give about
// nine million.
//
//     load [PAIRS [ROUND_TRIPS]]

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

// One process's side; the one that begins sends first.
void play(int from, int to, long round_trips, bool begins) {
  char ball = 0;
  for (long i = 0; i < round_trips; ++i) {
    if (begins && write(to, &ball, 1) != 1) std::exit(1);
    if (read(from, &ball, 1) != 1) std::exit(1);
    if (!begins && write(to, &ball, 1) != 1) std::exit(1);
  }
}

int pair(long round_trips) {
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return 1;
  const pid_t child = fork();
  if (child < 0) return 1;
  // Each keeps only its own ends, so that the death of one ends the other.
  close(child == 0 ? there[1] : there[0]);
  close(child == 0 ? back[0] : back[1]);
  if (child == 0) {
    play(there[0], back[1], round_trips, false);
    _exit(0);
  }
  play(back[0], there[1], round_trips, true);
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 2;
  const long round_trips = argc > 2 ? std::atol(argv[2]) : 300'000;
  if (pairs < 1 || round_trips < 1) {
    std::fputs("usage: load [PAIRS [ROUND_TRIPS]]\n", stderr);
    return 2;
  }
  for (int i = 0; i < pairs; ++i) {
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) _exit(pair(round_trips));
  }
  bool failed = false;
  for (int status = 0; wait(&status) > 0;) failed |= status != 0;
  return failed;
}
