// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::test {

// Starts this program anew, as one that does nothing but fire: the test Victim.DISABLED_<name>,
// with the variable in its environment. Gives its wait status.
int run_victim(const char* name, const char* variable = "STRATA_TEST", const char* value = "");

// How many events Victim.DISABLED_Fires fires.
inline constexpr unsigned kVictimFires = 2;

}  // namespace strata::test
