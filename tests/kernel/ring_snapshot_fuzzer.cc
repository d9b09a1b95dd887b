// SPDX-License-Identifier: Apache-2.0
//
// A mapped ring that nobody vouches for. The first byte says how large a sub-buffer is, in steps of
// 32 bytes, the next eight the moment at which the copy ends.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ftrace/ring_page.h"
#include "kernel/ring_snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  if (size <= 9) return 0;
  const uint32_t page_size = 32u * (1 + data[0] % 32);
  uint64_t until;
  std::memcpy(&until, data + 1, sizeof until);
  std::vector<uint64_t> words((size - 9 + 7) / 8);
  std::memcpy(words.data(), data + 9, size - 9);

  const kernel::RingCopy copy =
      kernel::copy_ring(std::as_bytes(std::span(words)), page_size, Ticks{until});
  if (copy.pages.size() > words.size() * 8 || copy.pages.size() % page_size != 0) abort();
  uint64_t before = 0;
  for (size_t at = 0; at < copy.pages.size(); at += page_size) {
    ftrace::RingPage page(copy.pages.subspan(at, page_size), {kNativeOrder, sizeof(long)});
    if (raw(page.page_ticks()) < before || page.page_ticks() > Ticks{until} || page.lost()) abort();
    before = raw(page.page_ticks());
    while (page.next() == ftrace::RingPage::Step::Record) {
      if (at + page_size == copy.pages.size() && page.ticks() > Ticks{until}) abort();
    }
  }
  return 0;
}
