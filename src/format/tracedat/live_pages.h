// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_descriptor.h"
#include "base/units.h"

namespace strata::tracedat {

// The pages of a trace that is still being recorded, for who follows it.
//
// How far they are written the recorder tells: a file of pages may be longer than what was written
// to it. It also tells a time before which nothing is missing, so that a CPU that is idle does not
// hold up the others. The trace may go on in the files of another path; what its events mean stays.
class LivePages {
 public:
  struct Growth {
    std::string path;                      // of the trace, now
    std::map<uint32_t, uint64_t> written;  // by CPU, in the files of that path
    std::optional<Ticks> until;            // all events before this reading of the clock are there
  };
  // Nothing: the recording has ended.
  using Ask = std::function<std::optional<Growth>()>;

  // From its beginning, or only what comes from now on.
  enum class From : uint8_t { Beginning, Now };
  LivePages(Ask ask, From from);

  // Asks the recorder, unless that was done a moment ago.
  void refresh();
  // The next whole page of a CPU, into `page`; nothing there is yet: false.
  bool read_page(uint32_t cpu, std::vector<std::byte>& page, uint32_t page_size);
  bool has_ended() const { return has_ended_; }
  // Nothing is missing before this reading of the clock, for a CPU that has no page.
  std::optional<Ticks> until() const { return until_; }

 private:
  struct File {
    FileDescriptor file;
    uint64_t position = 0;
    uint64_t written = 0;
  };
  void add_files(const Growth& growth);
  void complete(File& file);

  Ask ask_;
  From from_;
  std::string path_;
  std::map<uint32_t, std::deque<File>> files_;  // of each CPU; all but the last are complete
  std::optional<Ticks> until_;
  bool has_ended_ = false;
  std::chrono::steady_clock::time_point asked_{};
};

}  // namespace strata::tracedat
