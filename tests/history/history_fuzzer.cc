// SPDX-License-Identifier: Apache-2.0
//
// A file that is no history, or was one: opening it and asking it whatever can be asked.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "history/checksum.h"
#include "history/history.h"
#include "mended.h"

namespace {

using namespace strata::history;

// Of the blocks that a directory lists, as far as they are in the file and before it: their
// checksums are made right.
void mend_blocks(std::vector<uint8_t>& bytes, const Footer& footer,
                 std::span<const uint8_t> directory) {
  size_t at = 0;
  for (uint64_t row = 0; row < footer.rows; ++row) {
    uint32_t length = 0;
    if (directory.size() - at < sizeof length) return;
    std::memcpy(&length, directory.data() + at, sizeof length);
    at += sizeof length;
    if (directory.size() - at < length) return;
    at += length;
  }
  BlockEntry entry;
  for (uint64_t i = 0; i < footer.blocks && directory.size() - at >= sizeof entry;
       ++i, at += sizeof entry) {
    std::memcpy(&entry, directory.data() + at, sizeof entry);
    uint64_t sum = 0;
    const uint64_t summary = entry.summary_size;
    if (entry.columns_size < sizeof sum || entry.offset > footer.directory ||
        summary + entry.columns_size > footer.directory - entry.offset)
      return;
    uint8_t* const columns = bytes.data() + entry.offset + summary;
    const size_t size = entry.columns_size - sizeof sum;
    sum = checksum({columns, size});
    std::memcpy(columns + size, &sum, sizeof sum);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  mend_footers(bytes, [&](const Footer& footer, std::span<const uint8_t> directory) {
    mend_blocks(bytes, footer, directory);
  });
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
