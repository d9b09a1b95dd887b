// SPDX-License-Identifier: Apache-2.0
//
// A file that is no history, or was one: opening it and asking it whatever can be asked.
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "history/checksum.h"
#include "history/history.h"

namespace {

using namespace strata::history;

// Checksums would keep everything out that is not a history: they are made right.
void mend(std::vector<uint8_t>& bytes) {
  uint64_t at = bytes.size() < sizeof(Footer) ? 0 : bytes.size() - sizeof(Footer);
  for (int i = 0; i < 100 && at != 0 && at + sizeof(Footer) <= bytes.size(); ++i) {
    Footer footer;
    memcpy(&footer, bytes.data() + at, sizeof footer);
    if (footer.directory > at) return;
    footer.directory_size = at - footer.directory;
    footer.checksum = checksum_of(footer, {bytes.data() + footer.directory, footer.directory_size});
    memcpy(bytes.data() + at, &footer, sizeof footer);
    if (footer.previous >= at) return;
    at = footer.previous;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  mend(bytes);
  const strata::FileDescriptor file(memfd_create("history", MFD_CLOEXEC));
  if (write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return 0;
  auto history = History::open("/proc/self/fd/" + std::to_string(file.get()), 1);
  if (!history) return 0;
  for (Row row = 0; row < history->rows(); ++row) {
    (void)history->each(row, INT64_MIN, INT64_MAX, [](const Interval&) {});
    (void)history->at(row, history->begin());
    (void)history->times(row, history->begin() / 2, history->end() / 2);
    for (const size_t count : {1u, 10u, 1000u}) {
      std::vector<Pixel> pixels(count);
      (void)history->pixels(row, history->begin(), history->end(), {}, pixels);
    }
  }
  return 0;
}
