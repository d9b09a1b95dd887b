// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "record/registry.h"

namespace strata::top {

// A `strata record` beside this program: a process of its own, since recording takes signals and
// time that a screen does not have.
//
// It records until a `cat` ends whose input is the other end of a pipe that is held here. So it
// ends with this program, however that ends, and finishes its recording.
class Recorder {
 public:
  // `options` are those of `strata record`; it has no terminal to ask or tell anything.
  static Result<Recorder> start(const std::string& session, const std::string& folder,
                                const std::vector<std::string>& options);
  Recorder(Recorder&& other) noexcept;
  Recorder& operator=(Recorder&&) = delete;
  // Waits until the recording is finished.
  ~Recorder();

  const std::string& folder() const { return folder_; }
  // Its session, once that records.
  std::optional<record::SessionEntry> session() const;
  // Empty: it records, or is about to. An error where it has ended by itself: what it said.
  Status alive();
  // It ends its recording now. An error where that cannot be finished.
  Status stop();
  // That it has taken so far.
  std::chrono::nanoseconds cpu_time() const;

 private:
  Recorder(pid_t process, std::string session, std::string folder, FileDescriptor life,
           FileDescriptor said)
      : process_(process),
        session_(std::move(session)),
        folder_(std::move(folder)),
        life_(std::move(life)),
        said_(std::move(said)) {}

  Status ended(int status);

  pid_t process_;  // negative: it has ended
  std::string session_;
  std::string folder_;
  FileDescriptor life_;  // closed: it ends
  FileDescriptor said_;  // its complaints
};

}  // namespace strata::top
