// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::state {

// What a descriptor leads to.
enum class FileKind : uint8_t {
  Unknown,
  File,  // or a directory, or whatever else a path leads to
  Device,
  Pipe,
  Socket,       // to another machine, or of a family that nobody told
  LocalSocket,  // to another process of this one
  Event,
  Poll,
  Timer,
  Signal,
  Watch,   // inotify, fanotify
  Memory,  // memfd
  Process,
  Other,
  Count_,
};

std::string_view name_of(FileKind kind);  // "local-socket"

// What the kernel calls an open file tells its kind: "socket:[17]", "/dev/null".
FileKind kind_of_name(std::string_view name);

// What a system call does with descriptors.
enum class FileEffect : uint8_t {
  None,
  Open,        // returns a new one
  OpenPair,    // makes two
  Accept,      // returns a new one, of the same kind as its own
  Duplicate,   // returns another for the same
  Control,     // may do so, or change its flags
  Command,     // one for what it leads to; some change its flags
  Close,       //
  CloseRange,  // from one to another
  Read,        // returns how many bytes came
  Write,       // returns how many bytes went
  Transfer,    // the same, from one descriptor to another
  Connect,     // gives a socket its peer
  Use,         // is about it, and nothing of the above
  Clone,       // makes a task, which gets or shares them all
  Unshare,     // gives the task its own of what it shared
};

constexpr int8_t kNoArgument = -1;
constexpr uint32_t kAlwaysCloses = UINT32_MAX;  // on exec, whatever its flags are

// A system call that has to do with descriptors, and the number of each argument that matters.
struct FileCall {
  std::string_view name;
  FileEffect effect = FileEffect::None;
  FileKind makes = FileKind::Unknown;
  int8_t fd = kNoArgument;
  int8_t other = kNoArgument;  // Transfer: where to; CloseRange: the last
  int8_t flags = kNoArgument;
  int8_t command = kNoArgument;
  int8_t value = kNoArgument;  // of the command
  int8_t family = kNoArgument;
  uint32_t close_on_exec = 02000000;  // which of its flags says so: O_CLOEXEC
};

// Null: it has nothing to do with them.
const FileCall* find_file_call(std::string_view name);

// By what a descriptor comes that no call made: it is a parent's, or was open before anything was
// told.
inline constexpr FileCall kInheritedFile{.name = "fork"};
inline constexpr FileCall kFileOpenBefore{.name = "before"};

// How it went.
enum class DescriptorEnd : uint8_t { None, Close, Replaced, Exec, Exit, Lost, Count_ };
std::string_view name_of(DescriptorEnd end);  // "close"; None: "open"

// The inode that a name tells, as those of sockets and pipes do: "socket:[17]". 0: it does not.
uint64_t inode_in(std::string_view name);

}  // namespace strata::state
