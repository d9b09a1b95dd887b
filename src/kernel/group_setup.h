// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace strata::kernel {

// What `strata setup` did below a prefix, as it noted there so that it can be undone.
struct GroupSetup {
  std::string group;         // a name, or a number that has none
  bool made_group = false;   // it was not there before
  bool made_folder = false;  // nor was the one where sessions are noted
};

// Nothing: it was not done.
Result<std::optional<GroupSetup>> find_group_setup(const std::string& prefix);

// Makes the group where it is missing, installs the copy of this program for it (see
// group_program.h), anew where it was before, and makes the folder in which sessions are noted.
// `done` tells what was changed, a line each. For root.
Status set_up_group(const std::string& prefix, const std::string& group,
                    std::vector<std::string>& done);
// Undoes that, and only that. Nothing to do where it was not done.
Status undo_group_setup(const std::string& prefix, std::vector<std::string>& done);

}  // namespace strata::kernel
