// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace strata::test {

struct CommandResult {
  int status = -1;  // of its exit; -1 where it did not end by itself
  std::string output;
};

// Runs another program to its end and takes what it prints to its standard output; the rest is
// dropped.
CommandResult run(const std::vector<std::string>& command);

// Whether a program of this name is in the PATH.
bool has_program(const std::string& name);

// Its lines, without their ends.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace strata::test
