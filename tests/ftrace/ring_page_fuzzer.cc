// SPDX-License-Identifier: Apache-2.0
//
// A page of the kernel's ring buffer. The first byte says whose: byte order and size of a long.
#include <cstdlib>

#include "ftrace/ring_page.h"
#include "ftrace/ring_page_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  if (size == 0) return 0;
  const ftrace::Target target{(data[0] & 1) != 0 ? ByteOrder::Big : ByteOrder::Little,
                              static_cast<uint8_t>((data[0] & 2) != 0 ? 4 : 8)};
  const Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);

  ftrace::RingPage page(bytes, target);
  ftrace::RingPageBuilder builder(1 << 16, target);
  ftrace::RingPage::Step step;
  while ((step = page.next()) == ftrace::RingPage::Step::Record) {
    const Bytes record = page.record();
    if (record.data() < bytes.data() || record.data() + record.size() > bytes.data() + bytes.size())
      abort();
    // What was read can be written, and is read again. Records of no bytes do not exist in a page.
    if (record.empty() || record.size() > 30'000) continue;
    if (!builder.empty()) builder.finish();
    if (!builder.add(page.ticks(), record)) abort();
    ftrace::RingPage again(builder.finish(), target);
    if (again.next() != ftrace::RingPage::Step::Record || again.ticks() != page.ticks() ||
        again.record().size() < record.size())
      abort();
  }
  if (page.position() > bytes.size() || page.bytes_used() > bytes.size()) abort();
  if (step == ftrace::RingPage::Step::Corrupt && page.cause() == nullptr) abort();
  return 0;
}
