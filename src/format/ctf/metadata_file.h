// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"

namespace strata::ctf {

// The file "metadata" of a trace that is being written. Declarations gather in memory until
// somebody writes a packet that may need them: write_out() comes before every packet. Each time the
// whole text is written anew and takes the old one's place at once, so that no reader ever meets
// half a declaration. Any thread may use it.
class MetadataFile {
 public:
  // In the folder that `folder` (a descriptor) is; `path` is for messages.
  MetadataFile(int folder, std::string path, unsigned mode)
      : folder_(folder), path_(std::move(path)), mode_(mode) {}

  void append(std::string_view text);
  Status write_out() { return pending_.load(std::memory_order_acquire) ? write() : Status(); }

 private:
  Status write();

  int folder_;
  std::string path_;
  unsigned mode_;
  std::mutex mutex_;
  std::string text_;
  std::atomic<bool> pending_{false};
};

}  // namespace strata::ctf
