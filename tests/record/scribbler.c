/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that fires a probe, and then writes whatever comes to its mind over all that says who
 * reads its rings and how far, until it is killed:
 *
 *     scribbler FILE     how often, in the file's first 8 bytes
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/probe.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

STRATA_EVENT(scribbler, step, STRATA_INFO, (u64, number));

enum { CONTROLS_OFFSET = 24, CONTROL_WORDS = 16, TAIL_WORD = 8 };

static char* own_rings(void) {
  FILE* maps = fopen("/proc/self/maps", "re");
  char line[512];
  unsigned long start = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, "memfd:strata-probe") != NULL) sscanf(line, "%lx", &start);
  if (maps != NULL) fclose(maps);
  return (char*)start;
}

int main(int count, char** words) {
  if (count != 2) return 2;
  const int file = open(words[1], O_RDWR);
  volatile uint64_t* told = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (told == MAP_FAILED) return 2;
  char* rings = NULL;
  while ((rings = own_rings()) == NULL) {
    STRATA_TRACE(scribbler, step, 0);
    usleep(1000);
  }
  uint32_t controls;
  memcpy(&controls, rings + CONTROLS_OFFSET, sizeof controls);
  uint64_t* const control = (uint64_t*)(rings + controls);
  for (uint64_t i = 1;; ++i) {
    const uint64_t values[] = {0, 1, (uint64_t)random() * 8, UINT64_MAX, (uint64_t)random() << 33};
    /* Of the first ring, or the second: tail and the readers' positions. */
    const long place = random() % 2 * CONTROL_WORDS + TAIL_WORD + random() % 8;
    control[place] = values[random() % 5];
    STRATA_TRACE(scribbler, step, i);
    told[0] = i;
  }
}
