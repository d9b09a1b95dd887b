// SPDX-License-Identifier: Apache-2.0
#include "record/old_snapshots.h"

#include <algorithm>
#include <vector>

#include "base/folder_size.h"
#include "recording/delete.h"
#include "recording/description.h"
#include "recording/open.h"

namespace strata::record {
namespace {

struct SavedSnapshot {
  std::string folder;
  int64_t end_ns = 0;
  uint64_t size = 0;
};

// The oldest first.
std::vector<SavedSnapshot> snapshots_in(const std::string& folder) {
  std::vector<SavedSnapshot> found;
  for (const std::string& recording : recording::recordings_at(folder)) {
    const Result<recording::Description> description = recording::read_description(recording);
    if (!description || description->sessions.empty()) continue;
    const recording::Session& session = description->sessions.back();
    if (recording::is_snapshot(session))
      found.push_back({recording, session.end_ns, folder_size(recording)});
  }
  std::ranges::sort(found, {}, &SavedSnapshot::end_ns);
  return found;
}

}  // namespace

void delete_old_snapshots(const std::string& folder, const Keep& keep, int64_t now_ns) {
  if (!keep.is_limited()) return;
  const std::vector<SavedSnapshot> snapshots = snapshots_in(folder);
  uint64_t size = 0;
  for (const SavedSnapshot& snapshot : snapshots) size += snapshot.size;
  for (size_t i = 0; i + 1 < snapshots.size(); ++i) {
    const bool is_old = keep.time && snapshots[i].end_ns < now_ns - keep.time->count();
    if (!is_old && !(keep.bytes && size > *keep.bytes)) return;
    recording::delete_recording(snapshots[i].folder);
    size -= snapshots[i].size;
  }
}

}  // namespace strata::record
