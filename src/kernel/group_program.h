// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace strata::kernel {

// Recording as a member of a group (docs/rights.md).
//
// tracefs cannot be opened to a group by modes: the files of a new instance belong to root, whoever
// makes it. So a copy of this program is installed that only members of the group may run, and
// which is permitted what recording needs (kRecordingNeeds). None of it is in effect when it
// starts: see Privilege. The kernel decides who is a member.

constexpr const char* kDefaultPrefix = "/usr/local";
constexpr const char* kDefaultGroup = "tracing";
// Where it is noted who records; root's, with a folder in it for each other user.
constexpr const char* kSessionsFolder = "/run/strata";

// The copy's place below a prefix.
std::string group_program(const std::string& prefix);

// Goes on as the copy, with the same arguments, where this process lacks the rights and may run
// it. Otherwise it returns.
void become_group_program(char** argv);

// For who lacks the rights: what to do about it, as the end of a sentence.
std::string how_to_get_rights();

// Its name; its number where it has none.
std::string group_name(gid_t number);

}  // namespace strata::kernel
