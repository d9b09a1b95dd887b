// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "base/unfinished.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "kernel/group_program.h"
#include "kernel/privilege.h"

namespace {

// Commands that use the kernel's tracer themselves. All others read what a user has anyway.
bool uses_the_kernel(const strata::cli::Command& command) {
  using namespace strata::cli;
  if (const auto* events = std::get_if<EventsArguments>(&command)) return events->paths.empty();
  if (const auto* setup = std::get_if<SetupArguments>(&command)) return setup->check;
  if (const auto* top = std::get_if<TopArguments>(&command)) return top->paths.empty();
  return std::holds_alternative<RecordArguments>(command) ||
         std::holds_alternative<AgentArguments>(command);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace strata;
  handle_signals();
  std::variant<cli::Command, int> parsed = cli::parse_arguments(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const auto& command = std::get<cli::Command>(parsed);
  if (uses_the_kernel(command))
    kernel::become_group_program(argv);
  else
    kernel::drop_lent_privileges();
  return std::visit([](const auto& arguments) { return cli::run(arguments); }, command);
}
