// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "format/ctf/metadata_writer.h"
#include "recording/to_ctf.h"
#include "trace/trace.h"

namespace strata::recording {

// What a trace of the kernel's own tracer is, in LTTng's words.
struct KernelDescription {
  ctf::NewTrace trace;
  std::string machine;  // "x86_64"; empty where it is not told
  int64_t base = 0;     // what to take from an event's time to get the clock's reading

  KernelDescription(const trace::Trace& source, const ToCtfOptions& options);
};

}  // namespace strata::recording
