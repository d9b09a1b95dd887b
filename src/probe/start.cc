// SPDX-License-Identifier: Apache-2.0
//
// What happens when a program or library with sites starts: those that its environment names are
// switched on, and where any is on, by whomever, the ring comes now, before the program may have
// forbidden itself the system calls for that (seccomp).
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/attach.h"
#include "probe/glob.h"
#include "probe/state.h"

namespace strata::probe {
namespace {

// `pattern` up to `end`.
bool matches(const char* pattern, const char* end, const char* text) {
  return glob_matches({pattern, end}, {text, text + strlen(text)});
}

// Whether one of the globs in the list, each "PROVIDER:NAME" or a PROVIDER alone, takes the site.
bool is_named(const char* list, const char* provider, const char* name) {
  while (true) {
    const size_t length = strcspn(list, ",");
    const auto* colon = static_cast<const char*>(memchr(list, ':', length));
    const char* const end = list + length;
    if (matches(list, colon != nullptr ? colon : end, provider) &&
        (colon == nullptr || matches(colon + 1, end, name)))
      return true;
    if (*end == 0) return false;
    list = end + 1;
  }
}

void enable_named(const strata_probe_module& module, const char* list) {
  for (const unsigned char* at = module.sites; at < module.sites_end;) {
    const auto& site = *reinterpret_cast<const abi::Site*>(at);
    const auto* provider = reinterpret_cast<const char*>(at + sizeof site);
    if (is_named(list, provider, provider + strlen(provider) + 1)) {
      const auto place = reinterpret_cast<uintptr_t>(&site.flag) + static_cast<intptr_t>(site.flag);
      __atomic_store_n(&reinterpret_cast<abi::Flag*>(place)->collector, 1, __ATOMIC_RELAXED);
    }
    at += site.size;
  }
}

bool is_any_on(const strata_probe_module& module) {
  for (const uint32_t* flag = module.flags; flag != module.flags_end; ++flag)
    if (__atomic_load_n(flag, __ATOMIC_RELAXED) != 0) return true;
  return false;
}

// Code that is mapped read-only is written through this file, as a debugger does.
void patch_sites(const strata_probe_module& module) {
  if (module.patches == module.patches_end) return;
  const int memory =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0));
  if (memory < 0) return;
  constexpr ptrdiff_t kWords = sizeof(abi::Patch) / sizeof *module.patches;
  for (const int32_t* at = module.patches; at < module.patches_end; at += kWords) {
    const auto code = reinterpret_cast<uintptr_t>(at) + static_cast<intptr_t>(at[0]);
    const auto flag = reinterpret_cast<uintptr_t>(at + 1) + static_cast<intptr_t>(at[1]);
    if (__atomic_load_n(reinterpret_cast<const uint32_t*>(flag), __ATOMIC_RELAXED) != 0)
      syscall(SYS_pwrite64, memory, abi::kPatchOn, sizeof abi::kPatchOn, code);
  }
  syscall(SYS_close, memory);
}

}  // namespace
}  // namespace strata::probe

extern "C" [[gnu::visibility("default")]] void strata_probe_start(
    strata_probe_module* module) noexcept {
  using namespace strata::probe;
  if (const char* list = secure_getenv(abi::kEnableVariable); list != nullptr)
    enable_named(*module, list);
  if (!is_any_on(*module)) return;
  attach(*module);
  patch_sites(*module);
}
