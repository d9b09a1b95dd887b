/* SPDX-License-Identifier: Apache-2.0
 *
 * What iterate.cc does, as users of libtracecmd do it. Only the main buffer's events: those of an
 * instance would have to be asked of the instance's own handle.
 */

#include <inttypes.h>
#include <stdio.h>
#include <trace-cmd/trace-cmd.h>

struct seen {
  struct tep_handle* tep;
  uint64_t count;
  uint64_t sum;
};

static int see(struct tracecmd_input* handle, struct tep_record* record, int cpu, void* data) {
  struct seen* seen = data;
  const uint32_t tid = (uint32_t)tep_data_pid(seen->tep, record);
  seen->sum = (seen->sum << 7 | seen->sum >> 57) + (record->ts ^ tid);
  ++seen->count;
  (void)handle;
  (void)cpu;
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fputs("usage: iterate_peer TRACE\n", stderr);
    return 2;
  }
  struct tracecmd_input* handle = tracecmd_open(argv[1], 0);
  if (handle == NULL) return 1;
  struct seen seen = {tracecmd_get_tep(handle), 0, 0};
  if (tracecmd_iterate_events(handle, NULL, 0, see, &seen) != 0) return 1;
  tracecmd_close(handle);
  printf("%" PRIu64 " events, checksum %016" PRIx64 "\n", seen.count, seen.sum);
  return 0;
}
