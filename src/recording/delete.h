// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace strata::recording {

// Deletes a recording's folder. First it gets a name that nobody looks at, so that half of it is
// never taken for a whole, and who is finishing it finds it no more.
void delete_recording(const std::string& folder);

// Goes on with it below this folder, where who did it was killed before it was done.
void delete_leftovers(const std::string& folder);

}  // namespace strata::recording
