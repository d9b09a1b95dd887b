// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "base/unfinished.h"
#include "cli/arguments.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  using namespace strata;
  handle_signals();
  std::variant<cli::Command, int> parsed = cli::parse_arguments(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  return std::visit([](const auto& arguments) { return cli::run(arguments); },
                    std::get<cli::Command>(parsed));
}
