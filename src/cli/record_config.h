// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace strata::cli {

// Fills in, from a TOML file whose keys are the command's own options without their dashes, what
// the command line has not said; gives that as words of a command line. What is no option, or no
// value for it, is a CLI::ParseError that names file and line.
std::vector<std::string> read_config(CLI::App& command, const std::string& path);

}  // namespace strata::cli
