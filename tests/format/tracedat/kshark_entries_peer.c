// SPDX-License-Identifier: Apache-2.0
#include "kshark_entries_peer.h"

#include <libkshark.h>
#include <stdio.h>
#include <stdlib.h>

int64_t kshark_entries(const char* path, struct KsharkEntry** entries) {
  struct kshark_context* context = NULL;
  *entries = NULL;
  if (!kshark_instance(&context)) return -1;
  const int stream = kshark_open(context, path);
  if (stream < 0) {
    kshark_free(context);
    return -1;
  }
  struct kshark_entry** rows = NULL;
  const ssize_t count = kshark_load_entries(context, stream, &rows);
  int64_t kept = 0;
  if (count > 0) *entries = calloc((size_t)count, sizeof **entries);
  for (ssize_t i = 0; i < count; ++i) {
    // Below zero are KernelShark's own, which stand for lost events.
    if (*entries != NULL && kshark_get_event_id(rows[i]) >= 0) {
      struct KsharkEntry* entry = &(*entries)[kept++];
      entry->time = rows[i]->ts;
      entry->cpu = rows[i]->cpu;
      entry->pid = kshark_get_pid(rows[i]);
      char* name = kshark_get_event_name(rows[i]);
      snprintf(entry->event, sizeof entry->event, "%s", name == NULL ? "" : name);
      free(name);
    }
    free(rows[i]);
  }
  free(rows);
  kshark_close(context, stream);
  kshark_free(context);
  return count < 0 ? -1 : kept;
}
