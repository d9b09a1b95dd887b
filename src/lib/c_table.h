// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <strata/strata.h>

#include <string>

#include "period/table.h"

// A table as it goes through the C interface.
struct strata_table {
  strata::period::Table table;
  std::string json = {};  // empty: nobody has asked for it
};
