// SPDX-License-Identifier: Apache-2.0
#include "live/call_meanings.h"

#include <sys/utsname.h>

#include "state/blocking.h"
#include "state/file_calls.h"
#include "trace/syscall_names.h"

namespace strata::live {
namespace {

Doing doing_of(state::TaskState state) {
  using enum state::TaskState;
  switch (state) {
    case WaitDisk:
      return kWaitsForDisk;
    case WaitNetwork:
      return kWaitsForNet;
    case WaitFutex:
      return kWaitsForFutex;
    case WaitPipe:
      return kWaitsForPipe;
    case WaitTimer:
      return kWaitsForTimer;
    case WaitPoll:
      return kWaitsForPoll;
    case WaitChild:
      return kWaitsForChild;
    default:
      return kWaitsForOther;
  }
}

Traffic traffic_of(state::FileEffect effect) {
  switch (effect) {
    case state::FileEffect::Read:
      return kReads;
    case state::FileEffect::Write:
      return kWrites;
    case state::FileEffect::Transfer:
      return kTransfers;
    default:
      return kNothing;
  }
}

std::string_view known_name(uint32_t number) {
  static const std::string machine = [] {
    utsname name{};
    return std::string(uname(&name) == 0 ? name.machine : "");
  }();
  return trace::syscall_name(machine, number);
}

}  // namespace

std::string call_name(uint32_t number) {
  const std::string_view name = known_name(number);
  return name.empty() ? std::to_string(number) : std::string(name);
}

void put_meanings(std::span<CallMeaning> meanings) {
  for (uint32_t number = 0; number < meanings.size(); ++number) {
    const std::string_view name = known_name(number);
    CallMeaning& meaning = meanings[number];
    meaning.wait = static_cast<uint8_t>(doing_of(state::wait_in(name, false)));
    meaning.uninterruptible_wait = static_cast<uint8_t>(doing_of(state::wait_in(name, true)));
    const state::FileCall* call = state::find_file_call(name);
    if (call == nullptr) continue;
    meaning.descriptor = static_cast<uint8_t>(call->fd + 1);
    meaning.traffic = static_cast<uint8_t>(traffic_of(call->effect));
    meaning.other = static_cast<uint8_t>(call->other + 1);
  }
}

}  // namespace strata::live
