// SPDX-License-Identifier: Apache-2.0
//
// A history with any rows and intervals, taken for a machine's index.
#include <sys/mman.h>

#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "history/writer.h"
#include "state/index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  const FileDescriptor file(memfd_create("index", MFD_CLOEXEC));
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  Result<history::Writer> writer = history::Writer::create(path, 1);
  if (!writer) return 0;
  // Lines: a key, then bytes in pairs that are states and infos.
  std::string_view text(reinterpret_cast<const char*>(data), size);
  int64_t time = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view key = line.substr(0, line.find('='));
    const history::Row row = writer->row(key);
    for (size_t i = key.size() + 1; i + 1 < line.size(); i += 2)
      writer->set(row, ++time, static_cast<uint8_t>(line[i]) % history::kStates,
                  static_cast<uint8_t>(line[i + 1]));
  }
  if (!writer->finish(time + 1)) return 0;
  Result<state::Index> index = state::Index::open(path, 1);
  if (!index) return 0;
  for (const int64_t at : {int64_t{0}, time / 2, time}) (void)index->at(at);
  return 0;
}
