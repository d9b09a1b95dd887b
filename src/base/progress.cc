// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace strata {
namespace {

int64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

Progress::Progress(std::string what, bool data_on_terminal)
    : what_(std::move(what)), enabled_(!data_on_terminal && isatty(STDERR_FILENO) == 1) {
  if (enabled_) next_ms_ = now_ms() + 500;
}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::update(uint64_t done, uint64_t total) {
  if (!enabled_ || total == 0) return;
  int64_t now = now_ms();
  if (now < next_ms_) return;
  next_ms_ = now + 100;
  shown_ = true;
  double share = static_cast<double>(done) / static_cast<double>(total);
  std::fprintf(stderr, "\r%s: %.0f %%\033[K", what_.c_str(), share > 1 ? 100 : share * 100);
  std::fflush(stderr);
}

}  // namespace strata
