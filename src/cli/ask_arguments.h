// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "cli/arguments.h"

namespace strata::cli {

// The options of the commands that ask a trace what it means.
CLI::App* add_stats(CLI::App& app, StatsArguments& arguments);
CLI::App* add_state(CLI::App& app, StateArguments& arguments);
CLI::App* add_ps(CLI::App& app, PsArguments& arguments);
CLI::App* add_query(CLI::App& app, QueryArguments& arguments);

}  // namespace strata::cli
