// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace strata::cli {

constexpr int kExitFine = 0;
constexpr int kExitInput = 1;  // bad input, or an answer that is not whole
constexpr int kExitUsage = 2;

// Each does its command and gives the exit status.
int run(const InfoArguments& arguments);
int run(const EventsArguments& arguments);
int run(const DumpArguments& arguments);
int run(const QueryArguments& arguments);
int run(const TrimArguments& arguments);
int run(const ConvertArguments& arguments);
int run(const SyncArguments& arguments);
int run(const RecordArguments& arguments);
int run(const RecoverArguments& arguments);
int run(const SessionArguments& arguments);
int run(const SetupArguments& arguments);
int run(const ProbeArguments& arguments);
int run(const StatsArguments& arguments);
int run(const StateArguments& arguments);
int run(const PsArguments& arguments);
int run(const TopArguments& arguments);
int run(const AgentArguments& arguments);

}  // namespace strata::cli
