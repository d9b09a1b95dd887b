// SPDX-License-Identifier: Apache-2.0
#include "kernel/ebpf.h"

#include <bpf/libbpf.h>

#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace strata::kernel {
namespace {

thread_local std::string first_complaint;

// Its first line: what follows may be a log of the kernel's, as long as the program.
int note(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN || !first_complaint.empty()) return 0;
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  std::string_view line(text);
  line = line.substr(0, line.find('\n'));
  if (line.starts_with("libbpf: ")) line.remove_prefix(8);
  first_complaint = line;
  return 0;
}

}  // namespace

void listen_to_libbpf() {
  first_complaint.clear();
  libbpf_set_print(note);
}

Error refused(const std::string& what, int error) {
  if (error == EPERM || error == EACCES)
    return {"", std::nullopt,
            what +
                " needs eBPF, which this user may not use: that needs root, or CAP_BPF and "
                "CAP_PERFMON"};
  Error refusal = system_error("", what + " needs eBPF, which this kernel refuses", error);
  if (!first_complaint.empty()) refusal.cause += " (" + first_complaint + ")";
  return refusal;
}

}  // namespace strata::kernel
