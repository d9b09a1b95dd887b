// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/file_descriptor.h"
#include "base/result.h"
#include "guest/channel.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace strata::guest {

// Pages in bulk over a data channel. Where the channel is plain and not compressed they go by
// splice() from file to file and are never looked at; otherwise they are read into memory first,
// for the cipher or for zstd.

enum class LinkCompression : unsigned char { None, Zstd };

// Why it did not go on: the source has nothing now, or the channel takes nothing now, or there was
// as much as was asked for.
enum class Pause : unsigned char { Source, Channel, Enough };

// The guest's end.
class PageSender {
 public:
  // The channel must outlive it.
  static Result<PageSender> create(Channel& channel, LinkCompression compression);
  PageSender(PageSender&&) noexcept;
  PageSender& operator=(PageSender&&) noexcept;
  ~PageSender();

  // Moves pages from a file that can be spliced and does not wait (O_NONBLOCK), up to so many bytes
  // in this call; where the channel is slow no more than a pipe's worth is taken from the source.
  Result<Pause> move(int source, size_t most);
  // Some that are in memory already, behind those that were moved. Pause::Channel: they are kept
  // until send_rest().
  Result<Pause> append(Bytes pages);
  // What was taken and not sent so far. Pause::Source: nothing is left.
  Result<Pause> send_rest();

  // Of pages, so far: taken from the source or appended.
  uint64_t taken() const { return taken_; }
  // What went over the channel for them, less than taken() where it is compressed or not all sent.
  uint64_t sent() const { return sent_; }

 private:
  PageSender(Channel& channel, LinkCompression compression);

  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  Channel* channel_;
  bool splices_;
  FileDescriptor pipe_out_;
  FileDescriptor pipe_in_;
  size_t pipe_size_ = 0;
  size_t in_pipe_ = 0;
  std::vector<std::byte> memory_;  // what is to be sent next, from done_ to filled_
  size_t done_ = 0;
  size_t filled_ = 0;
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> zstd_;
  uint64_t taken_ = 0;
  uint64_t sent_ = 0;
};

// The host's end. What comes is a guest's: only counted here, and never more than was asked for.
class PageReceiver {
 public:
  // `first`: bytes of it that were received already. The channel must outlive it.
  static Result<PageReceiver> create(Channel& channel, LinkCompression compression,
                                     Bytes first = {});
  PageReceiver(PageReceiver&&) noexcept;
  PageReceiver& operator=(PageReceiver&&) noexcept;
  ~PageReceiver();

  // Moves up to so many bytes to the end of a file. Pause::Source: nothing more now; ended() tells
  // whether nothing more ever. An error of the file's names it as `name`.
  Result<Pause> move(int file, const std::string& name, uint64_t most);

  // That are in files.
  uint64_t received() const { return received_; }
  bool ended() const { return ended_; }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  PageReceiver(Channel& channel, LinkCompression compression);

  Channel* channel_;
  bool splices_;
  bool ended_ = false;
  FileDescriptor pipe_out_;
  FileDescriptor pipe_in_;
  size_t pipe_size_ = 0;
  std::vector<std::byte> memory_;
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> zstd_;
  uint64_t received_ = 0;
};

}  // namespace strata::guest
