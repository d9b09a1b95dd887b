// SPDX-License-Identifier: Apache-2.0
#include "kernel/privilege.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace strata::kernel {
namespace {

// The three sets of a thread, a bit for each capability.
struct Sets {
  uint64_t effective = 0;
  uint64_t permitted = 0;
  uint64_t inheritable = 0;
};

// The system calls act on the calling thread alone, which is what is wanted here.
Sets get() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct low_high[2]{};
  if (syscall(SYS_capget, &header, low_high) != 0) return {};
  const auto joined = [&](__u32 __user_cap_data_struct::*set) {
    return uint64_t{low_high[1].*set} << 32 | low_high[0].*set;
  };
  return {joined(&__user_cap_data_struct::effective), joined(&__user_cap_data_struct::permitted),
          joined(&__user_cap_data_struct::inheritable)};
}

bool set(const Sets& sets) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const auto half = [&](unsigned shift) {
    return __user_cap_data_struct{static_cast<__u32>(sets.effective >> shift),
                                  static_cast<__u32>(sets.permitted >> shift),
                                  static_cast<__u32>(sets.inheritable >> shift)};
  };
  const __user_cap_data_struct low_high[2] = {half(0), half(32)};
  return syscall(SYS_capset, &header, low_high) == 0;
}

// As the program was started. Later they change from thread to thread.
bool were_lent() {
  const Sets sets = get();
  return (sets.permitted & ~sets.effective) != 0 && geteuid() != 0;
}
const bool lent = were_lent();

}  // namespace

Privilege::Privilege(std::initializer_list<Capability> wanted) {
  if (!lent) return;
  Sets sets = get();
  for (const Capability capability : wanted) raised_ |= uint64_t{1} << static_cast<int>(capability);
  raised_ &= sets.permitted & ~sets.effective;
  if (raised_ == 0) return;
  sets.effective |= raised_;
  if (!set(sets)) raised_ = 0;  // what needs them will fail and tell
}

Privilege::~Privilege() {
  if (raised_ == 0) return;
  const int kept = errno;  // of what was done within the scope
  Sets sets = get();
  sets.effective &= ~raised_;
  // Going on with them would be worse than not going on.
  if (!set(sets)) _exit(1);
  errno = kept;
}

bool has_lent_privileges() { return lent; }

void drop_lent_privileges() {
  if (lent && !set({})) _exit(1);
}

}  // namespace strata::kernel
