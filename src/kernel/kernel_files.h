// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/instance.h"
#include "kernel/tracefs.h"

namespace strata::kernel {

// What the kernel says of its events, and what is needed to show them: texts as they are. Some
// 100 ms to read, so not before recording has begun.
struct KernelFiles {
  struct Format {
    std::string system;
    std::string text;
  };

  std::string header_page;
  std::string header_event;
  std::vector<Format> formats;  // the tracer's own ("ftrace") first, then those asked for by system
  std::string printk_formats;
  std::string kallsyms;  // empty where no event shows a function, or the kernel hides its addresses
};

// Of these events; what has no format any more (a module that was unloaded) is left out.
Result<KernelFiles> read_kernel_files(const Tracefs& tracefs,
                                      const std::vector<EventChoice>& events);

// "tid name" lines of all threads there are now.
std::string read_thread_names();

// "Linux host 6.1.0 x86_64", as trace.dat says what a machine is.
std::string machine_text();
// This boot's identity; empty where it is not told.
std::string boot_id();

}  // namespace strata::kernel
