// SPDX-License-Identifier: Apache-2.0
//
// How many samples a perf.data holds, and how many it says were lost:
//
//     perf_count FILE
//
// perf's own programs take ten seconds and more for that.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace {

// As perf writes them; see perf.data-file-format.txt in Linux.
struct Section {
  uint64_t offset;
  uint64_t size;
};
struct FileHead {
  char magic[8];
  uint64_t size;
  uint64_t attribute_size;
  Section attributes;
  Section data;
};
struct RecordHead {
  uint32_t type;
  uint16_t misc;
  uint16_t size;
};
constexpr uint32_t kLost = 2;
constexpr uint32_t kSample = 9;
constexpr size_t kLostCount = 16;  // behind the head and an id

template <typename T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
  struct stat info {};
  if (file < 0 || fstat(file, &info) != 0 || info.st_size < static_cast<off_t>(sizeof(FileHead))) {
    std::fputs("usage: perf_count FILE, which perf record has finished\n", stderr);
    return 2;
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (map == MAP_FAILED) return 1;
  const char* bytes = static_cast<const char*>(map);
  const auto head = load<FileHead>(bytes);
  if (std::memcmp(head.magic, "PERFILE2", 8) != 0 || head.data.offset > size ||
      head.data.size > size - head.data.offset) {
    std::fprintf(stderr, "%s: is no finished perf.data\n", argv[1]);
    return 1;
  }
  uint64_t samples = 0, lost = 0;
  const char* end = bytes + head.data.offset + head.data.size;
  for (const char* at = bytes + head.data.offset; at < end;) {
    const auto left = static_cast<size_t>(end - at);
    const auto record = left >= sizeof(RecordHead) ? load<RecordHead>(at) : RecordHead{};
    if (record.size < sizeof(RecordHead) || record.size > left) {
      std::fprintf(stderr, "%s: has a record of %u bytes\n", argv[1], unsigned{record.size});
      return 1;
    }
    if (record.type == kSample) ++samples;
    if (record.type == kLost && record.size >= kLostCount + sizeof(uint64_t))
      lost += load<uint64_t>(at + kLostCount);
    at += record.size;
  }
  std::printf("%" PRIu64 " %" PRIu64 "\n", samples, lost);
}
