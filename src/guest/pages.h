// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_descriptor.h"
#include "base/result.h"
#include "guest/channel.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace strata::guest {

// Pages in bulk over a data channel. Where the channel is plain and they are not compressed they go
// by splice() from file to file and are never looked at; otherwise they are read into memory first,
// for the cipher or for zstd.

enum class LinkCompression : unsigned char { None, Zstd };

// Why it does not go on: the source has nothing now, or the channel takes nothing now, or there was
// as much as was asked for.
enum class Pause : unsigned char { Source, Channel, Enough };

// A pipe, through which splice() goes where neither side is one.
struct Pipe {
  FileDescriptor out;
  FileDescriptor in;
  size_t size = 0;

  static Result<Pipe> create();
};

// The guest's end.
class PageSender {
 public:
  // The channel must outlive it.
  static Result<PageSender> create(Channel& channel, LinkCompression compression);

  // Moves pages from a file that can be spliced and does not wait (O_NONBLOCK), up to about so many
  // bytes in this call. Where the channel takes no more, no more is taken from the source than one
  // pipe holds: the rest waits there.
  Result<Pause> move(int source, size_t most);
  // Pages that are in memory, behind those that were moved. Pause::Channel: what is not sent yet is
  // kept, for send_rest().
  Result<Pause> append(Bytes pages);
  // What was taken and not sent. Pause::Source: nothing is left of it.
  Result<Pause> send_rest();

  // Bytes of pages, so far, that were taken from the source or appended.
  uint64_t taken() const { return taken_; }
  // Bytes that went over the channel for them.
  uint64_t sent() const { return sent_; }

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  PageSender(Channel& channel, Pipe pipe);
  bool is_direct() const { return splices_ && is_pipe_; }
  Result<size_t> take(int source, size_t wanted);
  Status read_pipe();
  Status keep(Bytes pages);

  Channel* channel_;
  Pipe pipe_;
  bool splices_;  // the channel takes pages by splice
  bool is_pipe_;  // the channel is one itself: no other is needed
  size_t in_pipe_ = 0;
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> zstd_;  // null: not compressed
  std::vector<std::byte> batch_;                    // what zstd gets at once
  std::vector<std::byte> ready_;                    // to be sent next, from done_ to filled_
  size_t done_ = 0;
  size_t filled_ = 0;
  uint64_t taken_ = 0;
  uint64_t sent_ = 0;
};

// The host's end. What comes is a guest's: it is not looked at, and never more of it goes to a file
// than was asked for, whatever it was compressed to.
class PageReceiver {
 public:
  // `first`: what was received of it already. The channel must outlive it.
  static Result<PageReceiver> create(Channel& channel, LinkCompression compression,
                                     Bytes first = {});

  // Moves up to so many bytes to a file, which `name` is for errors. Pause::Source: there is
  // nothing more now, or, where ended() says so, ever.
  Result<Pause> move(int file, const std::string& name, uint64_t most);

  // Bytes of pages, so far.
  uint64_t received() const { return received_; }
  bool ended() const { return ended_; }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  PageReceiver(Channel& channel, Pipe pipe, Bytes first);
  Result<size_t> splice_to(int file, const std::string& name, uint64_t most);
  Result<size_t> copy_to(int file, const std::string& name, uint64_t most);
  Result<size_t> expand_to(int file, const std::string& name, uint64_t most);
  Status receive(size_t most);

  Channel* channel_;
  Pipe pipe_;
  bool splices_;
  bool is_pipe_;
  bool ended_ = false;
  std::vector<std::byte> memory_;  // what was received, from done_ to filled_
  size_t done_ = 0;
  size_t filled_ = 0;
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> zstd_;  // null: not compressed
  std::vector<std::byte> expanded_;
  bool may_have_more_ = false;  // zstd, of what it has already
  uint64_t received_ = 0;
};

}  // namespace strata::guest
