// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/units.h"
#include "ftrace/format_file.h"

namespace strata::ftrace {

// Puts records into a page as the kernel would (ring_page.h): the opposite of RingPage.
class RingPageBuilder {
 public:
  RingPageBuilder(uint32_t page_size, Target target);

  // False: it does not fit, by its size or its time; the page has to be finished first. A record
  // that does not fit an empty page fits none.
  bool add(Ticks ticks, Bytes record);

  // Events were lost before this page; without a number, nobody knows how many. To be said while
  // the page is empty.
  void mark_lost(std::optional<uint64_t> count);

  bool empty() const { return used_ == 0; }
  // The page, of the full size, valid until the next call; a new one is begun.
  Bytes finish();

 private:
  void put32(uint32_t offset, uint32_t value);
  void put64(uint32_t offset, uint64_t value);
  void put_record_head(uint32_t type_len, uint32_t delta);

  std::vector<std::byte> page_;
  std::vector<std::byte> finished_;
  Target target_;
  uint32_t header_;
  uint32_t used_ = 0;  // bytes of records
  uint64_t last_ = 0;
  bool lost_ = false;
  std::optional<uint64_t> lost_count_;
};

}  // namespace strata::ftrace
