// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "state/file_calls.h"
#include "state/names.h"

namespace strata::state {

// What was read and written, as the calls returned it.
struct Traffic {
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;

  Traffic& operator+=(const Traffic& other) {
    reads += other.reads;
    writes += other.writes;
    read_bytes += other.read_bytes;
    written_bytes += other.written_bytes;
    return *this;
  }
  bool operator==(const Traffic&) const = default;
};

// A file by the name that programs opened it by (which may be relative to a folder that nobody
// told); a socket by its peer's address, or else its own.
struct File {
  FileKind kind = FileKind::Unknown;
  NameId name = kNoName;  // kNoName: nobody told
  uint64_t inode = 0;     // 0: not told
  uint64_t opens = 0;     // that were seen
  Traffic traffic = {};
};
using FileId = uint32_t;

// A file that is open, to which several descriptors may lead: copies, and those of child processes.
struct OpenFile {
  FileId file = 0;
  uint32_t descriptors = 0;  // that lead to it
  Traffic traffic = {};
};
using OpenId = uint32_t;

// Who wants to know which files change, before they do.
struct FileWatch {
  std::function<void(FileId)> changes = nullptr;
  // Traffic turns out to be another file's.
  std::function<void(FileId from, FileId to, const Traffic&)> moves = nullptr;
};

// All files of a machine, and which of them are open. An OpenId is given again when no descriptor
// leads to it any more; a FileId is not.
class OpenFiles {
 public:
  // More names than that are all called "(others)", so that memory does not grow with the trace.
  static constexpr size_t kMostFiles = 1u << 16;

  explicit OpenFiles(Names& names) : names_(names) {}

  // The file of a name and kind. An empty name: whichever they are, all of the kind.
  FileId file_of(FileKind kind, std::string_view name);
  // No descriptor leads to it yet.
  OpenId open(FileId file);
  void hold(OpenId open) { ++open_[open].descriptors; }
  void release(OpenId open);
  // It turns out which file it is: what went through it goes along.
  void identify(OpenId open, FileId file);
  // It turns out what the file of this name and kind is, if there is one, and how to call it.
  void describe(FileKind kind, std::string_view name, FileKind better_kind,
                std::string_view better_name);
  void count_open(OpenId open);
  void charge(OpenId open, const Traffic& traffic);
  // Sums begin at nothing again; what is open stays.
  void reset();
  void watch(FileWatch watch) { watch_ = std::move(watch); }

  const OpenFile& operator[](OpenId open) const { return open_[open]; }
  FileKind kind_of(OpenId open) const { return files_[open_[open].file].kind; }
  const std::vector<File>& files() const { return files_; }

 private:
  static uint64_t key_of(FileKind kind, NameId name) {
    return static_cast<uint64_t>(kind) << 32 | name;
  }

  Names& names_;
  std::vector<File> files_;
  std::unordered_map<uint64_t, FileId> by_name_;  // and kind
  std::vector<OpenFile> open_;
  std::vector<OpenId> free_;
  FileWatch watch_;
};

}  // namespace strata::state
