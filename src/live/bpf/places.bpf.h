// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Which slot is a task's.
#pragma once

#include "live/bpf/slots.bpf.h"

enum {
  kKernelThread = 0x00200000,  // of a task's flags
  kGuesses = 1 << 15,
};
// Which slot is a task's.
struct Place {
  __u32 slot;            // and 1; 0: none
  __u32 refused_period;  // in which it was last counted that there was no room
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct Place);
} places SEC(".maps");

// The same by the task's number, as far as there is one place for several: quicker to ask.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, kGuesses);
  __type(key, __u32);
  __type(value, __u32);
} guesses SEC(".maps");

static inline __u32 place_of(struct task_struct* task) {
  struct Place* place = bpf_task_storage_get(&places, task, 0, 0);
  return place ? place->slot : 0;
}

// Of a task that lives. A number is given again, so the slot has to be of one that does, too.
static inline struct TaskSlot* quick_slot_of(struct task_struct* task, __u32* known) {
  __s32 tid = task->pid;
  __u32 at = (__u32)tid & (kGuesses - 1);
  __u32* guess = bpf_map_lookup_elem(&guesses, &at);
  if (!guess) return 0;
  *known = *guess;
  struct TaskSlot* slot = *known != 0 ? slot_at(*known) : 0;
  if (slot && slot->tid == tid && !slot->has_ended) return slot;
  *known = place_of(task);
  if (*known == 0) return 0;
  *guess = *known;
  return slot_at(*known);
}
