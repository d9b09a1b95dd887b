// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace strata::rare {

// Files by system calls that hardly any program makes: openat2, preadv2, pwritev2, close_range.
//
// A recorder leaves itself out of its recording by filters on the calls it makes, and they cost
// whoever makes the same calls (record/own_threads.h). These are nobody else's.
//
// All of them are as those that everybody makes: the result is negative on an error, and errno
// tells which. Where the kernel has no such call, or forbids it, the usual one is made.

int open(int folder, const char* name, int flags, mode_t mode = 0);
ssize_t read(int file, std::span<char> room, uint64_t offset);
ssize_t write(int file, std::span<const std::byte> bytes, uint64_t offset);
void close(int file);

}  // namespace strata::rare
