// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "state/engine.h"
#include "trace/trace.h"

namespace strata::state {

// One machine of the traces, and what its engine found.
struct Machine {
  std::string name;
  std::unique_ptr<IndexWriter> index = nullptr;  // where one was wished for
  std::unique_ptr<Engine> engine = nullptr;
};

// Which machine each trace is of, numbered in the order in which they come. Traces of one machine
// have its name; but many machines have the same ("(none)", "localhost"), so that those of
// different boots, and of a guest and its host, are of different ones.
std::vector<size_t> machines_of(std::span<const std::unique_ptr<trace::Trace>> traces);

// What each machine is called: its name, with a number behind it where another has it too.
std::vector<std::string> machine_names(std::span<const std::unique_ptr<trace::Trace>> traces,
                                       std::span<const size_t> machine_of);

}  // namespace strata::state
