// SPDX-License-Identifier: Apache-2.0
//
// A file that is no file of records, or was one, with footers whose sums are right; and blocks of
// any bytes with sums that are right.
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "history/checksum.h"
#include "history/records.h"
#include "mended.h"

namespace {

using namespace strata::history;

void append(std::vector<uint8_t>& bytes, const void* data, size_t size) {
  const auto* from = static_cast<const uint8_t*>(data);
  bytes.insert(bytes.end(), from, from + size);
}

// Checksums would keep everything out that no writer wrote: the input is what a block holds, and
// its directory's entry.
std::vector<uint8_t> file_around(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes;
  append(bytes, &kRecordsMagic, sizeof kRecordsMagic);
  RecordBlock block{};
  const size_t told = std::min(size, sizeof block.reserved + 2);
  block.kind = told > 0 ? data[0] % (kRecordKinds + 1) : 0;
  block.values = told > 1 ? data[1] % (kMostValues + 2) : 1;
  block.count = told > 2 ? data[2] * 5u : 1;
  block.begin = INT64_MIN;
  block.end = INT64_MAX;
  block.subjects = UINT64_MAX;
  block.offset = bytes.size();
  std::vector<uint8_t> packed(ZSTD_compressBound(size - told));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), data + told, size - told, 1));
  block.size = static_cast<uint32_t>(packed.size());
  append(bytes, packed.data(), packed.size());
  Footer footer{};
  footer.magic = kRecordsMagic;
  footer.version = kRecordsVersion;
  footer.kind = FooterKind::Complete;
  footer.source = 1;
  footer.directory = bytes.size();
  footer.directory_size = sizeof block;
  footer.blocks = 1;
  append(bytes, &block, sizeof block);
  footer.checksum = checksum_of(footer, {bytes.data() + footer.directory, sizeof block});
  append(bytes, &footer, sizeof footer);
  return bytes;
}

void read_all(const std::vector<uint8_t>& bytes) {
  const strata::FileDescriptor file(memfd_create("records", MFD_CLOEXEC));
  if (write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return;
  auto records = Records::open("/proc/self/fd/" + std::to_string(file.get()), 1);
  if (!records) return;
  for (uint8_t kind = 0; kind < kRecordKinds; ++kind) {
    Records::Walk walk(*records, kind, INT64_MIN, INT64_MAX);
    for (auto next = walk.next(); next && *next != nullptr; next = walk.next()) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  mend_footers(bytes, [](const Footer&, std::span<const uint8_t>) {});
  read_all(bytes);
  read_all(file_around(data, size));
  return 0;
}
