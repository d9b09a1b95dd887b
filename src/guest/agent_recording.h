// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guest/clock_answerer.h"
#include "guest/connection.h"
#include "guest/folder_sender.h"
#include "guest/messages.h"
#include "guest/pages.h"
#include "guest/recorder_process.h"
#include "guest/request.h"

namespace strata::guest {

// A recording of this machine that a host has asked for, from its Record to its Done: hands on what
// a recorder's process gives. Where the link is slow, pages wait in pipes, then in the kernel's
// rings, and what they have no room for the kernel counts as lost.
//
// Used by one thread; nothing in it waits.
class AgentRecording {
 public:
  // `number` is the host's. `session` and `folder`: see RecorderProcess.
  static Result<std::unique_ptr<AgentRecording>> start(uint32_t number, std::string session,
                                                       std::string folder, Request request);

  uint32_t number() const { return number_; }
  // Whether that is one of its streams, and nobody has it yet.
  bool awaits(const Attach& attach) const;
  void attach(uint32_t stream, Connection connection);
  // Asks it to end: its host does, or there is a reason of the agent's.
  void ask_to_end(std::string why = {});
  // Its host is gone: nothing more is sent, and it ends soon.
  void abandon();

  // For what to wait until there is something to do, where there is not more already.
  bool has_more() const;
  void add_files(std::vector<pollfd>& files) const;
  // Does it, and tells the host.
  Status work(Connection& host);
  // Done or Refused has been said, or nobody wants to hear it and the recorder has ended.
  bool is_over() const { return over_ || (abandoned_ && recorder_->has_ended()); }

 private:
  struct Stream {
    Stream(uint32_t number, FileDescriptor pages) : cpu(number), source(std::move(pages)) {}

    uint32_t cpu;
    FileDescriptor source;
    std::unique_ptr<Channel> channel;
    std::optional<PageSender> sender;
    Pause pause = Pause::Source;  // why it did not go on
    bool ended = false;           // all of it is sent
  };
  using Time = std::chrono::steady_clock::time_point;

  AgentRecording(uint32_t number, LinkCompression compression)
      : number_(number), compression_(compression) {}
  Status hear(const RecorderNews& news, Connection& host);
  Status tell_start(const RecorderNews& news, Connection& host);
  Status move_pages(Stream& stream);
  Status send_files(Connection& host);
  Status finish(Connection& host);

  uint32_t number_;
  uint64_t max_bytes_ = 0;  // see Request
  LinkCompression compression_;
  Token token_{};
  ClockAnswerer answerer_;
  std::unique_ptr<RecorderProcess> recorder_;
  std::vector<Stream> streams_;
  std::optional<FolderSender> files_;  // from when they explain what is recorded
  clock::ReadCounter counter_;
  bool clock_attached_ = false;
  bool asked_to_end_ = false;
  bool abandoned_ = false;
  bool over_ = false;
  std::optional<Time> ended_at_;  // the recorder
  RecorderNews last_;             // what it told last of events and losses
  std::string why_;               // it ends, though its host has not asked
  std::string problem_;           // the last that the recorder told
};

}  // namespace strata::guest
