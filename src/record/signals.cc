// SPDX-License-Identifier: Apache-2.0
#include "record/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace strata::record {

Signals::Signals() {
  sigemptyset(&set_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD}) sigaddset(&set_, number);
  pthread_sigmask(SIG_BLOCK, &set_, &before_);
  file_ = FileDescriptor(signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
}

bool Signals::asked_to_end() {
  signalfd_siginfo info{};
  bool asked = false;
  while (read(file_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGUSR1)
      snapshot_ = true;
    else
      asked |= info.ssi_signo != SIGCHLD;
  }
  return asked;
}

}  // namespace strata::record
