// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "format/tracedat/packed_pages.h"

namespace strata::record {

// Compresses pages while they are being recorded, in a thread that gives way to everything else, so
// that there is little left to do when the recording ends. What it makes is used by who finishes
// the recording in this process, and by nobody else: the files of pages stay as they are until
// then, and what a killed recorder leaves is as it would be without this.
class LiveCompression {
 public:
  struct Pages {
    uint32_t cpu = 0;
    std::string path;
    std::function<uint64_t()>
        written;  // how many bytes of whole pages it holds; any thread may ask
  };

  LiveCompression() = default;
  LiveCompression(const LiveCompression&) = delete;
  LiveCompression& operator=(const LiveCompression&) = delete;
  ~LiveCompression();

  // Begins the thread, which does nothing yet; gives its number.
  pid_t start();
  // What there is to be compressed.
  void begin(std::vector<Pages> pages, size_t chunk_size);
  // Ends the thread. What it has compressed.
  std::vector<tracedat::PackedPages> stop();

 private:
  void run();
  bool pack_some();

  FileDescriptor wake_;
  std::vector<Pages> pages_;
  std::vector<tracedat::PagePacker> packers_;
  std::atomic<bool> has_begun_ = false;  // from then on pages_ and packers_ are the thread's
  std::atomic<bool> stopping_ = false;
  std::atomic<pid_t> thread_id_ = 0;
  std::thread thread_;
};

}  // namespace strata::record
