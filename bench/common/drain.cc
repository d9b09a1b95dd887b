// SPDX-License-Identifier: Apache-2.0
#include "drain.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

namespace strata::bench {
namespace {

constexpr int kPipeSize = 1 << 20;
constexpr int kLookAgainMs = 100;  // at stopping_, while nothing comes

}  // namespace

Drain::Drain(const Instance& instance, uint32_t cpu, const std::filesystem::path& folder)
    : instance_(instance), cpu_(cpu), page_size_(instance.page_size()) {
  ring_ =
      open((instance.cpu_path(cpu) / "trace_pipe_raw").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  file_ = open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (ring_ < 0 || file_ < 0 || pipe2(pipe_, O_CLOEXEC) != 0)
    throw std::runtime_error("cannot drain a CPU: " + std::string(std::strerror(errno)));
  fcntl(pipe_[1], F_SETPIPE_SZ, kPipeSize);
  thread_ = std::thread([this] { run(); });
}

Drain::~Drain() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  for (int fd : {ring_, file_, pipe_[0], pipe_[1]})
    if (fd >= 0) close(fd);
}

void Drain::run() {
  // What this thread does must not be in the trace: each of its calls would cause the next.
  try {
    write_text(instance_.path() / "set_event_notrace_pid", std::to_string(gettid()), true);
  } catch (const std::runtime_error& error) {
    problem_ = error.what();
  }
  while (!stopping_ && problem_.empty()) {
    pollfd waiting{ring_, POLLIN, 0};
    poll(&waiting, 1, kLookAgainMs);
    while (splice_once()) {
    }
  }
}

bool Drain::splice_once() {
  const ssize_t size = splice(ring_, nullptr, pipe_[1], nullptr, kPipeSize, SPLICE_F_NONBLOCK);
  if (size <= 0) {
    if (size < 0 && errno != EAGAIN && errno != EINTR) problem_ = std::strerror(errno);
    return false;
  }
  for (ssize_t left = size; left > 0;) {
    const ssize_t moved =
        splice(pipe_[0], nullptr, file_, nullptr, static_cast<size_t>(left), SPLICE_F_MOVE);
    if (moved <= 0) {
      problem_ = std::strerror(errno);
      return false;
    }
    left -= moved;
  }
  return true;
}

void Drain::read_rest() {
  std::vector<char> page(page_size_);
  for (;;) {
    const ssize_t size = read(ring_, page.data(), page.size());
    if (size <= 0) return;
    std::fill(page.begin() + size, page.end(), '\0');
    if (write(file_, page.data(), page.size()) != static_cast<ssize_t>(page.size())) {
      problem_ = std::strerror(errno);
      return;
    }
  }
}

void Drain::finish() {
  stopping_ = true;
  thread_.join();
  while (problem_.empty() && splice_once()) {
  }
  if (problem_.empty()) read_rest();
  if (!problem_.empty())
    throw std::runtime_error("draining CPU " + std::to_string(cpu_) + ": " + problem_);
}

}  // namespace strata::bench
