// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/probe_argument.h"

namespace strata::kernel {

// A probe as a user asks for it, before anything is known of the program or kernel it goes to.
struct ProbeSpec {
  enum class Kind : uint8_t {
    Function,        // of a program or library (a uprobe)
    Usdt,            // a place that the program's author marked
    KernelFunction,  // (a kprobe)
  };

  Kind kind = Kind::Function;
  bool at_return = false;
  std::string binary;                    // as it was given: a path, or a program's name
  std::string provider;                  // of a USDT probe
  std::string symbol;                    // the function, or the USDT probe's own name
  uint64_t offset = 0;                   // bytes behind the function's beginning
  std::vector<ProbeArgument> arguments;  // of a USDT probe: none, they stand in the program

  // What follows is for those that make probes themselves (presets).
  std::string event;      // what the event is called; empty: after the symbol
  std::string filter;     // of the kernel; empty: every hit is an event
  bool optional = false;  // where the program has no such place, that is said and no error
  bool joins = false;     // a further place of an event of this name, if there is one already

  ProbeView view() const {
    return {kind == Kind::KernelFunction, at_return, !at_return && offset == 0};
  }
  // What it is called in messages: "/usr/bin/x:main+4", "/usr/bin/x:provider:name".
  std::string text() const;
};

// "BINARY:FUNCTION[+OFFSET]", or "BINARY:FUNCTION%return" for where it returns. Errors of these
// three have the column, from 0, as their offset.
//
// Two things only the user can know, and a program may die of them: an offset has to be that of an
// instruction, and a function whose return is probed has to return on the stack and the thread that
// it was called on (coroutines may not).
Result<ProbeSpec> parse_uprobe(std::string_view place);
// "BINARY:PROVIDER:NAME"
Result<ProbeSpec> parse_usdt(std::string_view place);
// "FUNCTION[+OFFSET]" or "FUNCTION%return"
Result<ProbeSpec> parse_kprobe(std::string_view place);

// What goes with the place, in the words of parse_probe_arguments. A USDT probe takes none.
Status add_arguments(ProbeSpec& spec, std::string_view text);

}  // namespace strata::kernel
