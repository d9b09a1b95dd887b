// SPDX-License-Identifier: Apache-2.0
#include "support/command.h"

#include <stdio.h>
#include <sys/wait.h>

#include <sstream>
#include <stdexcept>

namespace strata::test {

CommandResult run(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) {
    line += line.empty() ? "'" : " '";
    for (char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += "'";
  }
  FILE* pipe = popen((line + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen " + line);
  CommandResult result;
  char buffer[1 << 16];
  for (size_t size; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    result.output.append(buffer, size);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

bool has_program(const std::string& name) {
  return run({"sh", "-c", "command -v " + name}).status == 0;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace strata::test
