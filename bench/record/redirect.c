// SPDX-License-Identifier: Apache-2.0
//
// For LD_PRELOAD: where a kernel refuses a file of its tracer, the program gets /dev/null instead.
// trace-cmd opens the switches of the function tracer even when it records events alone, and gives
// up when it may not; without this, nothing could be compared with it on such a machine.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

// What is called instead of open() depends on how a program was built.
int open(const char* path, int flags, ...);
int open64(const char* path, int flags, ...);
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);

static int null_instead(int flags) {
  return openat(AT_FDCWD, "/dev/null", flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK));
}

static int open_or_redirect(const char* path, int flags, mode_t mode) {
  // This one can be opened, and then refuses to be written.
  if ((flags & O_ACCMODE) != O_RDONLY && strcmp(path, "/proc/sys/kernel/ftrace_enabled") == 0)
    return null_instead(flags);
  const int file = openat(AT_FDCWD, path, flags, mode);
  if (file >= 0 || (errno != EPERM && errno != EACCES) || strstr(path, "/tracing/") == NULL)
    return file;
  return null_instead(flags);
}

static mode_t mode_of(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_or_redirect(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_or_redirect(path, flags, mode);
}

int __open_2(const char* path, int flags) { return open_or_redirect(path, flags, 0); }
int __open64_2(const char* path, int flags) { return open_or_redirect(path, flags, 0); }
