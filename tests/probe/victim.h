// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::test {

// What a program that is traced does, instead of running tests.
enum class Victim : char {
  Fires = 'f',
  FiresWithoutSockets = 's',  // a system call for one would kill it (seccomp)
};

// Starts this program anew, as such a one, with the variable in its environment. Gives its wait
// status.
int run_victim(Victim victim, const char* variable = "STRATA_TEST", const char* value = "");

// How many events Victim::Fires fires.
inline constexpr unsigned kVictimFires = 2;

}  // namespace strata::test
