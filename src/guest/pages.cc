// SPDX-License-Identifier: Apache-2.0
#include "guest/pages.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>

namespace strata::guest {
namespace {

// As much as moves at once. Without the right to that much, what there is does as well.
constexpr int kPipeSize = 1 << 20;
constexpr size_t kBatch = 256 << 10;
// The fastest: what has to be sent faster than that needs no compression.
constexpr int kLevel = 1;
// How much memory a stream from outside may want: 8 MB. What is compressed here needs less.
constexpr int kMaxWindowLog = 23;

bool is_pipe(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISFIFO(status.st_mode);
}

struct Spliced {
  size_t size = 0;
  bool ended = false;
  int error_number = 0;  // EAGAIN: nothing now
};

Spliced splice_some(int from, int to, size_t most) {
  for (;;) {
    const ssize_t size =
        splice(from, nullptr, to, nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (size >= 0) return {.size = static_cast<size_t>(size), .ended = size == 0};
    if (errno != EINTR) return {.error_number = errno};
  }
}

Status splice_all(int from, int to, size_t size, const std::string& name) {
  while (size > 0) {
    const ssize_t moved = splice(from, nullptr, to, nullptr, size, SPLICE_F_MOVE);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return system_error(name, "cannot write", errno);
    size -= static_cast<size_t>(moved);
  }
  return {};
}

Status write_all(int file, const std::string& name, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t size = write(file, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return system_error(name, "cannot write", errno);
    bytes = bytes.subspan(static_cast<size_t>(size));
  }
  return {};
}

Error no_memory() { return {"", std::nullopt, "no memory for zstd"}; }

}  // namespace

Result<Pipe> Pipe::create() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return system_error("", "cannot make a pipe", errno);
  Pipe pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  fcntl(ends[1], F_SETPIPE_SZ, kPipeSize);
  pipe.size = static_cast<size_t>(std::max(fcntl(ends[1], F_GETPIPE_SZ), 4096));
  return pipe;
}

void PageSender::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

Result<PageSender> PageSender::create(Channel& channel, LinkCompression compression) {
  Result<Pipe> pipe = Pipe::create();
  if (!pipe) return std::move(pipe).error();
  PageSender sender(channel, *std::move(pipe));
  if (compression == LinkCompression::None) return sender;
  sender.splices_ = false;
  sender.batch_.resize(kBatch);
  sender.zstd_.reset(ZSTD_createCCtx());
  if (!sender.zstd_ || ZSTD_isError(ZSTD_CCtx_setParameter(sender.zstd_.get(),
                                                           ZSTD_c_compressionLevel, kLevel)) != 0)
    return no_memory();
  return sender;
}

PageSender::PageSender(Channel& channel, Pipe pipe)
    : channel_(&channel),
      pipe_(std::move(pipe)),
      splices_(channel.is_plain()),
      is_pipe_(is_pipe(channel.to_send().fd)) {}

Result<Pause> PageSender::move(int source, size_t most) {
  const uint64_t until = taken_ + most;
  for (bool has_more = true;;) {
    Result<Pause> rest = send_rest();
    if (!rest || *rest == Pause::Channel) return rest;
    if (!has_more) break;
    if (taken_ >= until) return Pause::Enough;
    const size_t wanted = std::min(until - taken_, pipe_.size);
    const Result<size_t> taken = take(source, wanted);
    if (!taken) return taken.error();
    taken_ += *taken;
    has_more = *taken == wanted;
  }
  // Between pipes it may be either of them.
  pollfd file = channel_->to_send();
  return is_direct() && poll(&file, 1, 0) == 0 ? Pause::Channel : Pause::Source;
}

// From the source to where it is sent from next. Less than was wanted: there is no more now.
Result<size_t> PageSender::take(int source, size_t wanted) {
  const Spliced spliced =
      splice_some(source, is_direct() ? channel_->to_send().fd : pipe_.in.get(), wanted);
  if (spliced.error_number != 0 && spliced.error_number != EAGAIN)
    return system_error(channel_->peer(), "cannot take pages", spliced.error_number);
  if (is_direct())
    sent_ += spliced.size;
  else
    in_pipe_ += spliced.size;
  return spliced.size;
}

Result<Pause> PageSender::send_rest() {
  for (;;) {
    while (done_ < filled_) {
      const Result<Transfer> sent = channel_->send(Bytes(ready_).subspan(done_, filled_ - done_));
      if (!sent) return sent.error();
      if (sent->size == 0) return Pause::Channel;
      done_ += sent->size;
      sent_ += sent->size;
    }
    done_ = filled_ = 0;
    if (in_pipe_ == 0) return Pause::Source;
    if (!splices_) {
      if (Status status = read_pipe(); !status) return std::move(status).error();
      continue;
    }
    const Spliced spliced = splice_some(pipe_.out.get(), channel_->to_send().fd, in_pipe_);
    if (spliced.error_number == EINVAL) {  // it cannot be spliced to
      splices_ = false;
      continue;
    }
    if (spliced.error_number == EAGAIN) return Pause::Channel;
    if (spliced.error_number != 0)
      return system_error(channel_->peer(), "cannot send pages", spliced.error_number);
    in_pipe_ -= spliced.size;
    sent_ += spliced.size;
  }
}

// Some of what is in the pipe, behind what is in ready_.
Status PageSender::read_pipe() {
  const size_t most = std::min(in_pipe_, kBatch);
  std::vector<std::byte>& room = zstd_ ? batch_ : ready_;
  const size_t at = zstd_ ? 0 : filled_;
  if (room.size() < at + most) room.resize(at + most);
  const ssize_t size = read(pipe_.out.get(), room.data() + at, most);
  if (size <= 0) return system_error(channel_->peer(), "cannot read pages", errno);
  in_pipe_ -= static_cast<size_t>(size);
  if (zstd_) return keep(Bytes(batch_).first(static_cast<size_t>(size)));
  filled_ += static_cast<size_t>(size);
  return {};
}

// Behind what is in ready_; compressed so that it can be read without what comes later.
Status PageSender::keep(Bytes pages) {
  const size_t most = zstd_ ? ZSTD_compressBound(pages.size()) + 64 : pages.size();
  if (ready_.size() < filled_ + most) ready_.resize(filled_ + most);
  if (!zstd_) {
    std::ranges::copy(pages, ready_.begin() + static_cast<ptrdiff_t>(filled_));
    filled_ += pages.size();
    return {};
  }
  ZSTD_inBuffer in{pages.data(), pages.size(), 0};
  for (;;) {
    ZSTD_outBuffer out{ready_.data(), ready_.size(), filled_};
    const size_t left = ZSTD_compressStream2(zstd_.get(), &out, &in, ZSTD_e_flush);
    if (ZSTD_isError(left) != 0)
      return Error{channel_->peer(), std::nullopt,
                   std::string("cannot compress pages: ") + ZSTD_getErrorName(left)};
    filled_ = out.pos;
    if (left == 0) return {};
    ready_.resize(ready_.size() + left);
  }
}

Result<Pause> PageSender::append(Bytes pages) {
  taken_ += pages.size();
  while (!zstd_ && !pages.empty() && in_pipe_ == 0 && done_ == filled_) {
    const Result<Transfer> sent = channel_->send(pages);
    if (!sent) return sent.error();
    if (sent->size == 0) break;
    sent_ += sent->size;
    pages = pages.subspan(sent->size);
  }
  while (in_pipe_ > 0) {
    if (Status status = read_pipe(); !status) return std::move(status).error();
  }
  if (Status status = keep(pages); !status) return std::move(status).error();
  return send_rest();
}

void PageReceiver::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Result<PageReceiver> PageReceiver::create(Channel& channel, LinkCompression compression,
                                          Bytes first) {
  Result<Pipe> pipe = Pipe::create();
  if (!pipe) return std::move(pipe).error();
  PageReceiver receiver(channel, *std::move(pipe), first);
  if (compression == LinkCompression::None) return receiver;
  receiver.expanded_.resize(kBatch);
  receiver.zstd_.reset(ZSTD_createDCtx());
  if (!receiver.zstd_ || ZSTD_isError(ZSTD_DCtx_setParameter(
                             receiver.zstd_.get(), ZSTD_d_windowLogMax, kMaxWindowLog)) != 0)
    return no_memory();
  return receiver;
}

PageReceiver::PageReceiver(Channel& channel, Pipe pipe, Bytes first)
    : channel_(&channel),
      pipe_(std::move(pipe)),
      splices_(channel.is_plain()),
      is_pipe_(is_pipe(channel.to_receive().fd)),
      memory_(first.begin(), first.end()),
      filled_(first.size()) {}

Result<Pause> PageReceiver::move(int file, const std::string& name, uint64_t most) {
  const uint64_t until = received_ + most;
  while (received_ < until) {
    const uint64_t left = until - received_;
    const Result<size_t> moved = zstd_                          ? expand_to(file, name, left)
                                 : splices_ && done_ == filled_ ? splice_to(file, name, left)
                                                                : copy_to(file, name, left);
    if (!moved) return moved.error();
    received_ += *moved;
    if (*moved == 0) return Pause::Source;
  }
  return Pause::Enough;
}

Result<size_t> PageReceiver::splice_to(int file, const std::string& name, uint64_t most) {
  const int from = channel_->to_receive().fd;
  const Spliced spliced =
      splice_some(from, is_pipe_ ? file : pipe_.in.get(), std::min<uint64_t>(most, pipe_.size));
  if (spliced.error_number == EINVAL) {  // it cannot be spliced from
    splices_ = false;
    return copy_to(file, name, most);
  }
  if (spliced.error_number == EAGAIN) return size_t{0};
  if (spliced.error_number != 0)
    return system_error(is_pipe_ ? name : channel_->peer(), "cannot move pages",
                        spliced.error_number);
  ended_ = spliced.ended;
  if (is_pipe_) return spliced.size;
  if (Status status = splice_all(pipe_.out.get(), file, spliced.size, name); !status)
    return std::move(status).error();
  return spliced.size;
}

Result<size_t> PageReceiver::copy_to(int file, const std::string& name, uint64_t most) {
  if (done_ == filled_) {
    if (Status status = receive(std::min<uint64_t>(most, kBatch)); !status)
      return std::move(status).error();
  }
  const size_t size = std::min<uint64_t>(most, filled_ - done_);
  if (Status status = write_all(file, name, Bytes(memory_).subspan(done_, size)); !status)
    return std::move(status).error();
  done_ += size;
  return size;
}

// As much as there is, up to so many bytes, in place of what was there.
Status PageReceiver::receive(size_t most) {
  if (memory_.size() < most) memory_.resize(most);
  done_ = filled_ = 0;
  while (filled_ < most) {
    const Result<Transfer> got =
        channel_->receive(std::span(memory_).subspan(filled_, most - filled_));
    if (!got && filled_ > 0) break;  // first what came before it
    if (!got) return got.error();
    ended_ = got->ended;
    if (got->size == 0) break;
    filled_ += got->size;
  }
  return {};
}

Result<size_t> PageReceiver::expand_to(int file, const std::string& name, uint64_t most) {
  for (;;) {
    if (done_ == filled_ && !may_have_more_) {
      if (Status status = receive(kBatch); !status) return std::move(status).error();
      if (filled_ == 0) return size_t{0};
    }
    ZSTD_inBuffer in{memory_.data(), filled_, done_};
    ZSTD_outBuffer out{expanded_.data(), std::min<uint64_t>(most, expanded_.size()), 0};
    const size_t left = ZSTD_decompressStream(zstd_.get(), &out, &in);
    if (ZSTD_isError(left) != 0)
      return Error{channel_->peer(), std::nullopt,
                   std::string("cannot decompress pages: ") + ZSTD_getErrorName(left)};
    done_ = in.pos;
    may_have_more_ = out.pos == out.size;
    if (out.pos == 0) continue;
    if (Status status = write_all(file, name, Bytes(expanded_).first(out.pos)); !status)
      return std::move(status).error();
    return out.pos;
  }
}

}  // namespace strata::guest
