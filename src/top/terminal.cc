// SPDX-License-Identifier: Apache-2.0
#include "top/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

namespace strata::top {
namespace {

// How long the bytes of one key may take.
constexpr int64_t kEscapeWait = 50'000'000;
// The screens of those who have that much are drawn in a part of them.
constexpr unsigned kMost = 1000;

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};

// Set by signals, which come only while somebody waits.
volatile std::sig_atomic_t ending_signal = 0;
volatile std::sig_atomic_t has_resized = 0;
volatile std::sig_atomic_t has_resumed = 0;
volatile std::sig_atomic_t wants_stop = 0;

void note_signal(int signal) {
  switch (signal) {
    case SIGWINCH:
      has_resized = 1;
      break;
    case SIGCONT:
      has_resumed = 1;
      break;
    case SIGTSTP:
      wants_stop = 1;
      break;
    default:
      ending_signal = signal;
  }
}

void handle(int signal) {
  struct sigaction action {};
  struct sigaction before {};
  sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;  // nohup
  action.sa_handler = note_signal;
  sigfillset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<Terminal> Terminal::open() {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1)
    return Error{{},
                 std::nullopt,
                 "standard input and output are no terminal: --batch prints text, and --json "
                 "lines, instead"};
  Result<TerminalCodes> codes = terminal_codes();
  if (!codes) return std::move(codes).error();
  termios before{};
  if (tcgetattr(STDIN_FILENO, &before) != 0)
    return system_error({}, "cannot set up the terminal", errno);
  return Terminal(*std::move(codes), before);
}

Terminal::Terminal(TerminalCodes codes, const termios& before)
    : painter_(std::move(codes)), before_(before) {
  // They are let through while somebody waits, and at no other time: a frame is never cut.
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : kEnding) sigaddset(&ours, signal);
  for (const int signal : {SIGWINCH, SIGCONT, SIGTSTP}) sigaddset(&ours, signal);
  sigprocmask(SIG_BLOCK, &ours, &mask_before_);
  for (const int signal : kEnding) handle(signal);
  for (const int signal : {SIGWINCH, SIGCONT, SIGTSTP}) handle(signal);
  enter();
}

Terminal::Terminal(Terminal&& other) noexcept
    : painter_(std::move(other.painter_)),
      before_(other.before_),
      mask_before_(other.mask_before_),
      is_entered_(std::exchange(other.is_entered_, false)),
      width_(other.width_),
      height_(other.height_),
      keys_(std::move(other.keys_)) {}

Terminal::~Terminal() {
  if (is_entered_) leave();
}

void Terminal::enter() {
  termios raw = before_;
  raw.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  write_all(painter_.codes().enter);
  painter_.forget();
  read_size();
  is_entered_ = true;
}

void Terminal::leave() {
  write_all(std::string(look_of(Style::Plain, painter_.codes().colours)) + painter_.codes().leave);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  is_entered_ = false;
}

void Terminal::read_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return;
  width_ = std::min<unsigned>(size.ws_col, kMost);
  height_ = std::min<unsigned>(size.ws_row, kMost);
}

Status Terminal::show(const Grid& grid) {
  std::string_view frame = painter_.paint(grid);
  while (!frame.empty()) {
    const ssize_t written = write(STDOUT_FILENO, frame.data(), frame.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error({}, "cannot write to the terminal", errno);
    frame.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Result<Woken> Terminal::wait(int64_t deadline_ns) {
  sigset_t open_mask = mask_before_;
  for (const int signal : kEnding) sigdelset(&open_mask, signal);
  for (const int signal : {SIGWINCH, SIGCONT, SIGTSTP}) sigdelset(&open_mask, signal);
  Woken woken;
  for (;;) {
    const int64_t time = now();
    const bool is_in_key = keys_.is_waiting();
    const int64_t until = is_in_key ? std::min(deadline_ns, time + kEscapeWait) : deadline_ns;
    const int64_t left = std::max<int64_t>(until - time, 0);
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = ppoll(&input, 1, &timeout, &open_mask);
    if (ready < 0 && errno != EINTR) return system_error({}, "cannot wait", errno);
    if (ready > 0) {
      std::array<char, 4096> bytes;
      const ssize_t size = read(STDIN_FILENO, bytes.data(), bytes.size());
      const bool is_for_now = size < 0 && (errno == EINTR || errno == EAGAIN);
      if (size <= 0 && !is_for_now) return Error{{}, std::nullopt, "the terminal has gone"};
      if (size > 0) keys_.add({bytes.data(), static_cast<size_t>(size)});
      while (std::optional<Key> key = keys_.next()) woken.keys.push_back(*key);
    } else if (ready == 0 && is_in_key) {
      if (std::optional<Key> key = keys_.give_up()) woken.keys.push_back(*key);
    }
    woken.ending = ending_signal;
    if (std::exchange(has_resized, 0) != 0) woken.has_resized = true;
    if (std::exchange(wants_stop, 0) != 0) {
      stop();
      woken.has_resumed = true;
    }
    if (std::exchange(has_resumed, 0) != 0) {
      enter();
      woken.has_resumed = true;
    }
    if (woken.has_resized) {
      read_size();
      painter_.forget();
    }
    woken.is_time = now() >= deadline_ns;
    if (!woken.keys.empty() || woken.is_time || woken.has_resized || woken.has_resumed ||
        woken.ending != 0)
      return woken;
  }
}

void Terminal::stop() {
  leave();
  // By the default of this signal, which the shell that waits for the program sees.
  struct sigaction stopping {};
  struct sigaction before {};
  stopping.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &stopping, &before);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &mask, nullptr);  // it stops here
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  sigaction(SIGTSTP, &before, nullptr);
  has_resumed = 0;
  enter();
}

}  // namespace strata::top
