// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "base/result.h"

namespace strata::record {

// A small process that waits for this one to end and then cleans up what it left in the kernel,
// however it ended: SIGKILL too.
//
// To be made before any thread is: it is a fork of this process, with nothing open but `keep`, in a
// session of its own so that no Ctrl-C reaches it.
class Watcher {
 public:
  // `clean` runs in the other process, after this one is gone.
  static Result<Watcher> start(const std::function<void()>& clean, const std::vector<int>& keep);

  Watcher(Watcher&& other) noexcept;
  Watcher& operator=(Watcher&&) = delete;
  // There is nothing left to be cleaned up: ends it.
  ~Watcher();

 private:
  explicit Watcher(pid_t process) : process_(process) {}
  pid_t process_;
};

}  // namespace strata::record
