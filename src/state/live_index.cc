// SPDX-License-Identifier: Apache-2.0
#include "state/live_index.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/unfinished.h"
#include "state/index_writer.h"

namespace strata::state {
namespace {

namespace fs = std::filesystem;

struct Place {
  std::string history;
  std::string lock;
  uint64_t source = 0;
};

// Nothing: the trace is no part of a recording.
std::optional<Place> place_of(const trace::Trace& trace) {
  const IndexPlace place = live_index_place(trace);
  if (place.folder.empty()) return std::nullopt;
  const std::string stem = place.folder + '/' + place.stem;
  return Place{stem + ".history", stem + ".lock", place.source};
}

}  // namespace

Result<LiveIndex> LiveIndex::create(const trace::Trace& trace) {
  const std::optional<Place> place = place_of(trace);
  if (!place) return Error{trace.info().path, std::nullopt, "is no part of a recording"};
  std::error_code error;
  fs::create_directories(fs::path(place->lock).parent_path(), error);
  FileDescriptor lock(open(place->lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return system_error(place->lock, "cannot create", errno);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return Error{place->history, std::nullopt, "is being written by another program"};
  for (const std::string& file : {place->history, IndexWriter::records_path(place->history)})
    remember_unfinished(file);
  return LiveIndex(place->history, place->source, std::move(lock));
}

LiveIndex::~LiveIndex() {
  if (!lock_) return;  // moved from
  for (const std::string& file : {path_, IndexWriter::records_path(path_)}) {
    unlink(file.c_str());
    forget_unfinished(file);
  }
}

std::optional<Index> open_live_index(const std::vector<std::unique_ptr<trace::Trace>>& traces) {
  for (const auto& trace : traces) {
    const std::optional<Place> place = place_of(*trace);
    if (!place) continue;
    const FileDescriptor lock(open(place->lock.c_str(), O_RDONLY | O_CLOEXEC));
    if (!lock) continue;
    // Nobody holds it: what lies there, its writer left when it was killed.
    if (flock(lock.get(), LOCK_SH | LOCK_NB) == 0) continue;
    Result<Index> index = Index::open(place->history, place->source);
    if (index) return *std::move(index);
  }
  return std::nullopt;
}

}  // namespace strata::state
