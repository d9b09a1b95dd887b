// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/options.h"

namespace strata::cli {

// What is to be recorded of a machine: of this one, or of a guest.
void add_wishes(CLI::App& command, WishArguments& arguments, Conditions& conditions);

// The commands that record, and what goes with recordings.
CLI::App* add_record(CLI::App& app, RecordArguments& arguments, Conditions& conditions);
CLI::App* add_session(CLI::App& app, SessionArguments& arguments, Conditions& conditions);
CLI::App* add_setup(CLI::App& app, SetupArguments& arguments);
CLI::App* add_probe(CLI::App& app, ProbeArguments& arguments);
CLI::App* add_agent(CLI::App& app, AgentArguments& arguments);
CLI::App* add_recover(CLI::App& app, RecoverArguments& arguments);

}  // namespace strata::cli
