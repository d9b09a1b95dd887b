// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "cli/arguments.h"

namespace strata::cli {

CLI::App* add_top(CLI::App& app, TopArguments& arguments);

}  // namespace strata::cli
