// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "period/columns.h"

namespace strata::live {

// Of what is counted from boot on, what has come since; of what is so at the moment, that.
template <typename Row>
Row since(const Row& now, const typename Row::Values& before) {
  Row row = now;
  for (const period::Column column : Row::Values::kOrder)
    if (info_of(column).combining == period::Combining::Sum)
      row.values.take(column, before[column]);
  return row;
}

}  // namespace strata::live
