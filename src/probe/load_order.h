// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::probe {

// What is loaded before this is loaded before what comes after it. The processors of x86 do that
// themselves; only the compiler is to be told.
inline void keep_loads_in_order() {
#if defined(__x86_64__)
  __atomic_signal_fence(__ATOMIC_ACQUIRE);
#else
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

}  // namespace strata::probe
