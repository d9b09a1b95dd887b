// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/index_file.h"

#include <filesystem>

#include "base/mapped_file.h"

namespace strata::ctf {
namespace {

constexpr uint32_t kMagic = 0xc1f1dcc1;
constexpr uint32_t kEntrySize = 7 * 8;  // of version 1.0; later ones append to it

}  // namespace

std::vector<IndexEntry> read_index(const std::string& stream_path, uint64_t stream_size) {
  const std::filesystem::path stream(stream_path);
  const Result<MappedFile> file =
      MappedFile::open((stream.parent_path() / "index" / stream.filename()).string() + ".idx");
  if (!file) return {};
  ByteReader in(file->bytes(), ByteOrder::Big);
  const uint32_t magic = in.u32();
  const uint32_t major = in.u32();
  in.u32();
  const uint32_t entry_size = in.u32();
  if (!in.ok() || magic != kMagic || major != 1 || entry_size < kEntrySize) return {};

  std::vector<IndexEntry> entries;
  uint64_t expected = 0;
  while (in.remaining() >= entry_size) {
    ByteReader fields(in.take(entry_size), ByteOrder::Big);
    IndexEntry entry;
    entry.offset = fields.u64();
    entry.size = fields.u64();
    fields.u64();  // content size
    entry.begin = fields.u64();
    entry.end = fields.u64();
    entry.discarded = fields.u64();
    // Packets lie one behind the other; an index of another file does not lead to all of them.
    if (entry.offset != expected || entry.size % 8 != 0 || entry.size == 0) return {};
    expected += entry.size / 8;
    if (expected > stream_size) return {};
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace strata::ctf
