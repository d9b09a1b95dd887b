// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "format/tracedat/convert.h"
#include "format/tracedat/writer.h"

namespace strata::tracedat {

// What is known only when a recording ends.
struct Ending {
  // Options that take the place of those of the same kind in the head.
  std::vector<NewOption> options = {};
  // Lines "tid name" of threads; those of the head stay, later ones win.
  std::string cmdlines = {};
  // The first pages of CPUs, compressed already on this machine.
  std::vector<PackedPages> packed = {};
};

// Makes an unfinished trace (see TraceDat) a whole one: the head and all pages in one new file that
// takes the head's name when it is whole; then the files of pages are removed. At every moment one
// or the other form is there. Nothing to do where it is finished already, but files of pages that
// were left behind.
Status finish(const std::string& path, WriteOptions options, const Ending& ending = {},
              const Progress& progress = {});

}  // namespace strata::tracedat
