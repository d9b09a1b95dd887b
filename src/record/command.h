// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace strata::record {

// A program that is recorded while it runs: a process that waits, ready to become it.
class Command {
 public:
  // What is set in its environment besides.
  using Environment = std::vector<std::pair<std::string, std::string>>;
  // To be made before any thread is.
  static Result<Command> prepare(const std::vector<std::string>& words,
                                 const Environment& environment);
  Command(Command&& other) noexcept;
  Command& operator=(Command&&) = delete;
  // Asks it to end if it has not.
  ~Command();

  pid_t process() const { return process_; }
  void run();
  // As wait() gives it, when it has ended.
  std::optional<int> ended();

 private:
  Command(pid_t process, FileDescriptor gate) : process_(process), gate_(std::move(gate)) {}

  pid_t process_;
  FileDescriptor gate_;
};

}  // namespace strata::record
