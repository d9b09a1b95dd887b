// SPDX-License-Identifier: Apache-2.0
#include "state/file_calls.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace strata::state {
namespace {

using enum FileEffect;
using enum FileKind;

constexpr FileCall kCalls[] = {
    {.name = "accept", .effect = Accept, .makes = Socket, .fd = 0},
    {.name = "accept4", .effect = Accept, .makes = Socket, .fd = 0, .flags = 3},
    {.name = "clone", .effect = Clone, .flags = 0},
    {.name = "close", .effect = Close, .fd = 0},
    {.name = "close_range", .effect = CloseRange, .fd = 0, .other = 1, .flags = 2},
    {.name = "connect", .effect = Connect, .fd = 0},
    {.name = "copy_file_range", .effect = Transfer, .fd = 0, .other = 2},
    {.name = "creat", .effect = Open, .makes = File},
    {.name = "dup", .effect = Duplicate, .fd = 0},
    {.name = "dup2", .effect = Duplicate, .fd = 0},
    {.name = "dup3", .effect = Duplicate, .fd = 0, .flags = 2},
    {.name = "epoll_create", .effect = Open, .makes = Poll},
    {.name = "epoll_create1", .effect = Open, .makes = Poll, .flags = 0},
    {.name = "eventfd", .effect = Open, .makes = Event},
    {.name = "eventfd2", .effect = Open, .makes = Event, .flags = 1},
    {.name = "fanotify_init", .effect = Open, .makes = Watch, .flags = 0, .close_on_exec = 1},
    {.name = "fcntl", .effect = Control, .fd = 0, .command = 1, .value = 2},
    {.name = "fcntl64", .effect = Control, .fd = 0, .command = 1, .value = 2},
    {.name = "fdatasync", .effect = Use, .fd = 0},
    {.name = "fsync", .effect = Use, .fd = 0},
    {.name = "getdents", .effect = Use, .fd = 0},
    {.name = "getdents64", .effect = Use, .fd = 0},
    {.name = "inotify_init", .effect = Open, .makes = Watch},
    {.name = "inotify_init1", .effect = Open, .makes = Watch, .flags = 0},
    {.name = "io_uring_setup", .effect = Open, .makes = Other, .close_on_exec = kAlwaysCloses},
    {.name = "ioctl", .effect = Command, .fd = 0, .command = 1},
    {.name = "memfd_create", .effect = Open, .makes = Memory, .flags = 1, .close_on_exec = 1},
    {.name = "open", .effect = Open, .makes = File, .flags = 1},
    {.name = "open_by_handle_at", .effect = Open, .makes = File, .flags = 2},
    {.name = "openat", .effect = Open, .makes = File, .flags = 2},
    {.name = "openat2", .effect = Open, .makes = File},
    {.name = "perf_event_open", .effect = Open, .makes = Other, .flags = 4, .close_on_exec = 8},
    {.name = "pidfd_open", .effect = Open, .makes = Process, .close_on_exec = kAlwaysCloses},
    {.name = "pipe", .effect = OpenPair, .makes = Pipe},
    {.name = "pipe2", .effect = OpenPair, .makes = Pipe, .flags = 1},
    {.name = "pread64", .effect = Read, .fd = 0},
    {.name = "preadv", .effect = Read, .fd = 0},
    {.name = "preadv2", .effect = Read, .fd = 0},
    {.name = "pwrite64", .effect = Write, .fd = 0},
    {.name = "pwritev", .effect = Write, .fd = 0},
    {.name = "pwritev2", .effect = Write, .fd = 0},
    {.name = "read", .effect = Read, .fd = 0},
    {.name = "readv", .effect = Read, .fd = 0},
    {.name = "recvfrom", .effect = Read, .fd = 0},
    {.name = "recvmmsg", .effect = Use, .fd = 0},
    {.name = "recvmsg", .effect = Read, .fd = 0},
    {.name = "sendfile", .effect = Transfer, .fd = 1, .other = 0},
    {.name = "sendfile64", .effect = Transfer, .fd = 1, .other = 0},
    {.name = "sendmmsg", .effect = Use, .fd = 0},
    {.name = "sendmsg", .effect = Write, .fd = 0},
    {.name = "sendto", .effect = Write, .fd = 0},
    {.name = "signalfd", .effect = Open, .makes = Signal},
    {.name = "signalfd4", .effect = Open, .makes = Signal, .flags = 3},
    {.name = "socket", .effect = Open, .makes = Socket, .flags = 1, .family = 0},
    {.name = "socketpair", .effect = OpenPair, .makes = Socket, .flags = 1, .family = 0},
    {.name = "splice", .effect = Transfer, .fd = 0, .other = 2},
    {.name = "sync_file_range", .effect = Use, .fd = 0},
    {.name = "tee", .effect = Transfer, .fd = 0, .other = 1},
    {.name = "timerfd_create", .effect = Open, .makes = Timer, .flags = 1},
    {.name = "unshare", .effect = Unshare, .flags = 0},
    {.name = "userfaultfd", .effect = Open, .makes = Other, .flags = 0},
    {.name = "vmsplice", .effect = Write, .fd = 0},
    {.name = "write", .effect = Write, .fd = 0},
    {.name = "writev", .effect = Write, .fd = 0},
};
static_assert(std::ranges::is_sorted(kCalls, {}, &FileCall::name));

constexpr std::array<std::string_view, static_cast<size_t>(FileKind::Count_)> kKinds = {
    "unknown", "file",  "device", "pipe",  "socket", "local-socket", "event",
    "poll",    "timer", "signal", "watch", "memory", "process",      "other"};

}  // namespace

std::string_view name_of(FileKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::string_view name_of(DescriptorEnd end) {
  constexpr std::array<std::string_view, static_cast<size_t>(DescriptorEnd::Count_)> kEnds = {
      "open", "close", "replaced", "exec", "exit", "lost"};
  return kEnds[static_cast<size_t>(end)];
}

uint64_t inode_in(std::string_view name) {
  const size_t bracket = name.find(":[");
  if (bracket == std::string_view::npos || !name.ends_with(']')) return 0;
  uint64_t inode = 0;
  const auto [end, error] =
      std::from_chars(name.data() + bracket + 2, name.data() + name.size() - 1, inode);
  return error == std::errc() && end == name.data() + name.size() - 1 ? inode : 0;
}

FileKind kind_of_name(std::string_view name) {
  constexpr std::pair<std::string_view, FileKind> kBeginnings[] = {
      {"/dev/shm/", File},
      {"/dev/", Device},
      {"/memfd:", Memory},
      {"socket:", Socket},
      {"pipe:", Pipe},
      {"anon_inode:[eventfd", Event},
      {"anon_inode:[eventpoll", Poll},
      {"anon_inode:[timerfd", Timer},
      {"anon_inode:[signalfd", Signal},
      {"anon_inode:inotify", Watch},
      {"anon_inode:[fanotify", Watch},
      {"anon_inode:[pidfd", Process},
      {"anon_inode:", Other},
  };
  if (name.empty()) return FileKind::Unknown;
  for (const auto& [beginning, kind] : kBeginnings)
    if (name.starts_with(beginning)) return kind;
  return File;
}

const FileCall* find_file_call(std::string_view name) {
  const auto found = std::ranges::lower_bound(kCalls, name, {}, &FileCall::name);
  return found != std::end(kCalls) && found->name == name ? found : nullptr;
}

}  // namespace strata::state
