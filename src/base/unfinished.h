// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace strata {

// Files, and folders with all that is in them, that are only half written while they have a name:
// they are removed when SIGINT, SIGTERM or SIGHUP ends the program, which then exits with 128 plus
// the signal's number, as shells do.
void remember_unfinished(const std::string& path);
void forget_unfinished(const std::string& path);

// Once, at the start of the program. Also makes a pipe that closes early an error of write().
void handle_signals();

}  // namespace strata
