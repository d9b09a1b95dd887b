// SPDX-License-Identifier: Apache-2.0
//
// kshark_load TRACE: what KernelShark does when it opens a trace. Prints how many entries it has.
#include <libkshark.h>
#include <stdio.h>

int main(int argc, char** argv) {
  struct kshark_context* context = NULL;
  struct kshark_entry** rows = NULL;
  if (argc != 2 || !kshark_instance(&context)) return 2;
  const int stream = kshark_open(context, argv[1]);
  if (stream < 0) return 1;
  const ssize_t count = kshark_load_entries(context, stream, &rows);
  printf("%zd\n", count);
  return count < 0;
}
