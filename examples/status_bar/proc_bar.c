/* SPDX-License-Identifier: Apache-2.0
 *
 * proc_bar [-n LINES] [-t]: the line of status_bar as such programs make it today, from what the
 * kernel prints into /proc/stat, /proc/meminfo and /proc/net/dev; with -t also the process that ran
 * most, from /proc/PID/stat of all of them. It is there to be compared with: bench/run library.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A whole file of /proc, as text. */
static const char* text_of(const char* path) {
  static char text[65536];
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  size_t size = 0;
  ssize_t more;
  while (size < sizeof text - 1 && (more = read(file, text + size, sizeof text - 1 - size)) > 0)
    size += (size_t)more;
  close(file);
  text[size] = '\0';
  return text;
}

static double free_memory(void) {
  const char* const free = strstr(text_of("/proc/meminfo"), "MemFree:");
  return free == NULL ? 0 : strtod(free + 8, NULL) * 1024;
}

/* Of all processors, since the machine started, in ticks. */
static void count_ticks(double* busy, double* all) {
  const char* at = text_of("/proc/stat") + 4;
  *busy = *all = 0;
  for (int column = 0; column < 8; ++column) {
    char* end;
    const double ticks = strtod(at, &end);
    at = end;
    *all += ticks;
    if (column != 3 && column != 4) *busy += ticks; /* idle, waiting for a disk */
  }
}

static void count_bytes(double* in, double* out) {
  *in = *out = 0;
  for (const char* at = text_of("/proc/net/dev"); (at = strchr(at, ':')) != NULL;) {
    char* end;
    *in += strtod(at + 1, &end);
    for (int column = 0; column < 7; ++column) strtod(end, &end);
    *out += strtod(end, &end);
    at = end;
  }
}

struct process {
  long pid;
  double ticks;
  char name[64];
};

struct processes {
  struct process* list; /* by pid: /proc lists them so */
  size_t count;
};

static int read_process(const char* pid, struct process* process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  const char* const text = text_of(path);
  const char* const name = strchr(text, '(');
  const char* at = strrchr(text, ')');
  if (name == NULL || at == NULL) return 0;
  process->pid = strtol(text, NULL, 10);
  snprintf(process->name, sizeof process->name, "%.*s", (int)(at - name - 1), name + 1);
  for (int column = 0; column < 12; ++column) {
    at = strchr(at + 1, ' ');
    if (at == NULL) return 0;
  }
  char* end;
  process->ticks = strtod(at, &end);
  process->ticks += strtod(end, &end);
  return 1;
}

static struct processes all_processes(void) {
  struct processes all = {NULL, 0};
  DIR* const folder = opendir("/proc");
  if (folder == NULL) return all;
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    if ((all.count & (all.count - 1)) == 0) {
      struct process* const more =
          realloc(all.list, (all.count == 0 ? 1 : all.count * 2) * sizeof *more);
      if (more == NULL) break;
      all.list = more;
    }
    if (read_process(entry->d_name, &all.list[all.count])) ++all.count;
  }
  closedir(folder);
  return all;
}

static void show_busiest(const struct processes* before, const struct processes* now) {
  const struct process* most = NULL;
  double most_ticks = 0;
  for (size_t i = 0, old = 0; i < now->count; ++i) {
    while (old < before->count && before->list[old].pid < now->list[i].pid) ++old;
    const int is_old = old < before->count && before->list[old].pid == now->list[i].pid;
    const double ticks = now->list[i].ticks - (is_old ? before->list[old].ticks : 0);
    if (ticks <= most_ticks) continue;
    most = &now->list[i];
    most_ticks = ticks;
  }
  if (most == NULL) return;
  printf("  ");
  for (const char* at = most->name; *at != '\0'; ++at)
    putchar((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f ? '?' : *at);
  printf(" (%ld) %.0f ms", most->pid, most_ticks * 1e3 / (double)sysconf(_SC_CLK_TCK));
}

int main(int argc, char** argv) {
  long lines = -1;
  int with_processes = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "-t") == 0) with_processes = 1;
    if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) lines = strtol(argv[++i], NULL, 10);
  }
  double busy, all, in, out;
  count_ticks(&busy, &all);
  count_bytes(&in, &out);
  struct processes processes = {NULL, 0};
  if (with_processes) processes = all_processes();
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (; lines != 0; --lines) {
    ++due.tv_sec;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    double busy_now, all_now, in_now, out_now;
    count_ticks(&busy_now, &all_now);
    count_bytes(&in_now, &out_now);
    printf("cpu %3.0f %%  free %.0f MB  in %.1f out %.1f kB/s",
           all_now > all ? (busy_now - busy) / (all_now - all) * 100 : 0, free_memory() / 1e6,
           (in_now - in) / 1e3, (out_now - out) / 1e3);
    if (with_processes) {
      const struct processes now = all_processes();
      show_busiest(&processes, &now);
      free(processes.list);
      processes = now;
    }
    putchar('\n');
    fflush(stdout);
    busy = busy_now;
    all = all_now;
    in = in_now;
    out = out_now;
  }
  free(processes.list);
  return 0;
}
