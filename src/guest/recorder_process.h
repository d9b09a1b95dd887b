// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "guest/recorder_order.h"

namespace strata::guest {

// A recorder (see run_recorder()) in a process of its own, as who has it record sees it. It ends
// with this object, and its folder is removed.
class RecorderProcess {
 public:
  // `session` is its name among this machine's, `folder` a folder that is not there yet. `threads`:
  // see RecorderOrder.
  static Result<std::unique_ptr<RecorderProcess>> start(std::string session, std::string folder,
                                                        Request request,
                                                        std::vector<pid_t> threads);
  ~RecorderProcess();
  RecorderProcess(const RecorderProcess&) = delete;
  RecorderProcess& operator=(const RecorderProcess&) = delete;

  // Readable when there is news.
  int file() const { return news_.get(); }
  // What came since the last time; does not wait. Once has_ended(), nothing more does.
  std::vector<RecorderNews> news();
  bool has_ended() const { return ended_; }

  // Pages of a CPU come out here, and its end behind the last one. Does not wait (O_NONBLOCK).
  struct Pages {
    uint32_t cpu = 0;
    FileDescriptor file;
  };
  std::vector<Pages>& pages() { return pages_; }
  const std::string& folder() const { return folder_; }

  // Asks it to end. It takes what is left in the rings, which has to be read from pages().
  void ask_to_end() { order_.reset(); }

 private:
  explicit RecorderProcess(std::string folder) : folder_(std::move(folder)) {}
  Status spawn(const std::vector<FileDescriptor>& pipes, int input, int output);

  std::string folder_;
  std::vector<Pages> pages_;
  FileDescriptor order_;  // its standard input
  FileDescriptor news_;   // its standard output
  std::string line_;      // of news, so far
  bool ended_ = false;
  pid_t process_ = -1;
};

}  // namespace strata::guest
