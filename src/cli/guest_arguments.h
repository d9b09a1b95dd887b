// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace strata::cli {

// A command line of `strata record` in its parts: what is this machine's, and behind each --guest
// what is that guest's. What stands behind "--" is this machine's again.
struct GuestWords {
  std::vector<std::string> host;
  std::vector<std::vector<std::string>> guests;  // each begins with the guest's NAME=ADDRESS
};
GuestWords split_guests(int argc, const char* const* argv);

// Throws what CLI11 throws, which names the guest.
GuestArguments parse_guest(const std::vector<std::string>& words);

// Of a guest with no options of its own: it records what the host does, without what names the
// host's own processes and programs.
void record_as(const RecordArguments& host, GuestArguments& guest);

}  // namespace strata::cli
