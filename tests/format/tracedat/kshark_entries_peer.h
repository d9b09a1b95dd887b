// SPDX-License-Identifier: Apache-2.0
//
// A trace as KernelShark's library reads it. Its headers are not C++, hence the detour through C.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct KsharkEntry {
  int64_t time;
  int64_t cpu;
  int64_t pid;
  char event[64];  // "sched/sched_switch"
};

// All entries of the file's main buffer, by time, to be freed; -1 where it does not open.
int64_t kshark_entries(const char* path, struct KsharkEntry** entries);

#ifdef __cplusplus
}
#endif
