// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "guest/messages.h"
#include "recording/description.h"

namespace strata::guest {

// How much a guest may write on the host's disk, pages and all.
class Quota {
 public:
  explicit Quota(uint64_t bytes) : bytes_(bytes) {}
  // False: that is more than is left, and none of it is taken.
  bool take(uint64_t bytes);
  uint64_t left() const { return left_of(used_.load(std::memory_order_relaxed)); }

 private:
  uint64_t left_of(uint64_t used) const { return bytes_ - std::min(bytes_, used); }

  const uint64_t bytes_;
  std::atomic<uint64_t> used_ = 0;
};

// A name of a guest as a part of a file's: what is odd is percent-encoded.
std::string plain_name(const std::string& name);

// What a guest sends besides pages, as files of the recording: guest-NAME.dat, guest-NAME-state/
// and so on. What comes is a guest's: names, numbers and places are checked, and nothing of it is
// read but its own recording.json and the head of its trace, which is written anew.
class GuestFiles {
 public:
  // `quota` outlives this.
  GuestFiles(std::string folder, const std::string& guest, Quota& quota);

  Status begin(const File& file);
  Status take(const Piece& piece);

  // The guest's own recording.json, when it came anew since this was last asked.
  std::optional<recording::Description> take_description();
  // The trace's head has come as a whole where the guest's recording.json has: writes it, with what
  // is the host's to say of it. Pages of these CPUs are beside it.
  Status write_head(const std::vector<uint32_t>& cpus, uint32_t page_size);

  // Where it will never be whole.
  void remove_head() const;

  // "guest-NAME.dat"
  const std::string& trace_name() const { return trace_name_; }
  std::string trace_path() const { return folder_ + "/" + trace_name_; }
  bool has_head() const { return has_head_; }
  // CTF traces of which something came, as parts without machine and clock.
  const std::vector<recording::Part>& parts() const { return parts_; }

 private:
  struct Open {
    FileKind kind = FileKind::Head;
    std::string path;
    uint64_t size = 0;
  };

  Result<std::string> place_for(const File& file);
  std::string head_path() const { return folder_ + "/." + trace_name_ + ".head"; }

  std::string folder_;
  std::string prefix_;  // "guest-NAME"
  std::string trace_name_;
  Quota& quota_;
  std::map<uint32_t, Open> files_;
  std::string description_;  // text, so far
  bool description_is_new_ = false;
  bool has_head_ = false;
  std::vector<recording::Part> parts_;
};

}  // namespace strata::guest
