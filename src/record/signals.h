// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <utility>

#include "base/file_descriptor.h"

namespace strata::record {

// Signals that a session's loop waits for instead of being interrupted by them: SIGINT, SIGTERM and
// SIGHUP, which ask it to end, SIGUSR1, which asks for a snapshot, and SIGCHLD.
class Signals {
 public:
  // To be made before any thread is.
  Signals();
  ~Signals() { release(); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Readable when one has come.
  int file() const { return file_.get(); }
  // Whether somebody asked us to end.
  bool asked_to_end();
  // Whether somebody asked for a snapshot since this was last called. To be called after the other,
  // which finds out.
  bool asked_for_snapshot() { return std::exchange(snapshot_, false); }
  // From here on they do what they did before.
  void release() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t set_{};
  sigset_t before_{};
  FileDescriptor file_;
  bool snapshot_ = false;
};

}  // namespace strata::record
