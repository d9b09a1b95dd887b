// SPDX-License-Identifier: Apache-2.0
#include "record/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "kernel/privilege.h"

namespace strata::record {

Result<Command> Command::prepare(const std::vector<std::string>& words,
                                 const Environment& environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("", "cannot make a pipe", errno);
  FileDescriptor wait_end(ends[0]);
  FileDescriptor gate(ends[1]);
  const pid_t child = fork();
  if (child < 0) return system_error(words[0], "cannot start", errno);
  if (child > 0) return Command(child, std::move(gate));

  gate.reset();
  kernel::drop_lent_privileges();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_DFL);
  // Nothing but the gate's end: the recorder has gone without opening it.
  char open_gate = 0;
  if (read(wait_end.get(), &open_gate, 1) != 1) _exit(1);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "strata: %s: cannot be run: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

Command::Command(Command&& other) noexcept
    : process_(std::exchange(other.process_, -1)), gate_(std::move(other.gate_)) {}

Command::~Command() {
  if (process_ <= 0) return;
  gate_.reset();
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
}

void Command::run() {
  (void)!write(gate_.get(), "g", 1);
  gate_.reset();
}

std::optional<int> Command::ended() {
  int status = 0;
  if (process_ <= 0 || waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
  process_ = -1;
  return status;
}

}  // namespace strata::record
