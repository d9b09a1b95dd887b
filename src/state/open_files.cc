// SPDX-License-Identifier: Apache-2.0
#include "state/open_files.h"

namespace strata::state {

FileId OpenFiles::file_of(FileKind kind, std::string_view name) {
  const bool is_full = files_.size() >= kMostFiles && !name.empty();
  const NameId id = names_.id(is_full ? "(others)" : name);
  const auto [found, is_new] =
      by_name_.emplace(key_of(kind, id), static_cast<FileId>(files_.size()));
  if (is_new) files_.push_back({kind, id, inode_in(name)});
  return found->second;
}

OpenId OpenFiles::open(FileId file) {
  if (free_.empty()) {
    open_.push_back({file});
    return static_cast<OpenId>(open_.size() - 1);
  }
  const OpenId id = free_.back();
  free_.pop_back();
  open_[id] = {file};
  return id;
}

void OpenFiles::release(OpenId open) {
  if (--open_[open].descriptors == 0) free_.push_back(open);
}

void OpenFiles::identify(OpenId open, FileId file) {
  OpenFile& at = open_[open];
  if (at.file == file) return;
  if (watch_.moves) watch_.moves(at.file, file, at.traffic);
  Traffic& before = files_[at.file].traffic;
  before.reads -= at.traffic.reads;
  before.writes -= at.traffic.writes;
  before.read_bytes -= at.traffic.read_bytes;
  before.written_bytes -= at.traffic.written_bytes;
  files_[file].traffic += at.traffic;
  at.file = file;
}

void OpenFiles::describe(FileKind kind, std::string_view name, FileKind better_kind,
                         std::string_view better_name) {
  const auto found = by_name_.find(key_of(kind, names_.find(name)));
  if (found == by_name_.end()) return;
  File& file = files_[found->second];
  file.kind = better_kind;
  if (!better_name.empty()) file.name = names_.id(better_name);
}

void OpenFiles::count_open(OpenId open) {
  const FileId file = open_[open].file;
  if (watch_.changes) watch_.changes(file);
  ++files_[file].opens;
}

void OpenFiles::charge(OpenId open, const Traffic& traffic) {
  if (watch_.changes) watch_.changes(open_[open].file);
  open_[open].traffic += traffic;
  files_[open_[open].file].traffic += traffic;
}

void OpenFiles::reset() {
  for (File& file : files_) {
    file.traffic = {};
    file.opens = 0;
  }
  for (OpenFile& open : open_) open.traffic = {};
}

}  // namespace strata::state
