// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>

#include "state/durations.h"
#include "state/names.h"
#include "state/task.h"

namespace strata::state {

struct BlockRecord;
class IndexWriter;

// The kernel's number of a block device, 20 bits of it the minor one.
enum class DeviceId : uint32_t {};

enum class BlockDirection : uint8_t { Read, Write, Other };  // Other: discarding, flushing
// As the kernel's tracer writes it, "WS" or "RA"; and as LTTng does, in bits.
BlockDirection direction_of(std::string_view rwbs);
BlockDirection direction_of(int64_t rwbs);

struct BlockBytes {
  uint64_t read = 0;
  uint64_t written = 0;
};

// A block device, and what it has done.
struct BlockDevice {
  DeviceId id{};
  NameId name = kNoName;  // kNoName: nobody told
  uint64_t requests = 0;  // that were completed
  uint64_t sectors = 0;   // of those
  BlockBytes bytes = {};
  Durations waiting = {};  // from being wished for to being issued, where the wish was recorded
  Durations service = {};  // from being issued to being completed

  uint32_t in_flight = 0;  // that it has now
  uint32_t deepest = 0;
  uint64_t busy_ns = 0;   // with at least one
  uint64_t depth_ns = 0;  // all their times together; by the span, it is the average queue's depth
  int64_t since = 0;      // what was before is charged
};

// Requests to block devices, from somebody's wish (a "bio") over merging, the waiting queue and
// issuing to completion. Each is known by its device and first sector.
//
// A wish may be passed on to another device, as a partition and the device mapper do; whatever is
// done there is done for the first device, too, and for the task that wished for it. Requests
// without sectors, which flush, are left out: nothing tells one from another.
class BlockDevices {
 public:
  // `index`: where requests go that have ended; null: nowhere.
  explicit BlockDevices(IndexWriter* index = nullptr) : index_(index) {}

  struct Place {
    DeviceId device{};
    uint64_t sector = 0;
    uint32_t sectors = 0;
  };

  // Tasks: who runs when it happens; kNoTask: an interrupt, or nobody knows.
  void queue(const Place& place, TaskId task, int64_t now);
  void merge(const Place& place, TaskId task, int64_t now);
  void remap(const Place& place, DeviceId old_device, uint64_t old_sector, TaskId task,
             int64_t now);
  // In the device's own queue; it may be issued without.
  void insert(const Place& place, TaskId task, int64_t now);
  void issue(const Place& place, BlockDirection direction, TaskId task, int64_t now);
  void complete(const Place& place, int64_t now);
  // What was under way may have ended.
  void lose(int64_t now);
  void set_name(DeviceId device, NameId name) { device_of(device).name = name; }
  // Tells the index of all that are under way.
  void tell_open(int64_t now);

  // Called before a task is charged.
  std::function<void(TaskId)> on_charge;

  // Charges everything up to now.
  void settle(int64_t now);
  void reset(int64_t now);

  const std::map<DeviceId, BlockDevice>& devices() const { return devices_; }
  BlockBytes bytes_of(TaskId task) const {
    const auto found = by_task_.find(task);
    return found == by_task_.end() ? BlockBytes{} : found->second;
  }

 private:
  struct Request {
    uint32_t sectors = 0;
    BlockDirection direction = BlockDirection::Other;
    bool is_issued = false;
    bool has_wish = false;  // `wished` was recorded
    DeviceId origin{};      // for which it was wished
    TaskId task = kNoTask;
    int64_t wished = 0;
    int64_t issued = 0;
    uint64_t first = 0;  // as it was issued: it may be completed piece by piece
    uint32_t all = 0;
    uint32_t merged = 0;  // wishes that became a part of it
  };
  using Requests = std::map<uint64_t, Request>;  // by their first sector

  // More wishes than that are not under way at once: their ends were not recorded.
  static constexpr size_t kMostWishes = 1u << 16;

  BlockDevice& device_of(DeviceId id);
  Request& wish(const Place& place, TaskId task, int64_t now);
  static void settle(BlockDevice& device, int64_t now);
  // The one that has it, and the one for which it was wished.
  template <typename F>
  void for_devices(DeviceId id, const Request& request, F&& f) {
    f(device_of(id));
    if (request.origin != id) f(device_of(request.origin));
  }
  void charge(const Place& place, const Request& request);
  void take_off(DeviceId id, const Request& request, int64_t now);
  static BlockRecord record_of(DeviceId id, uint64_t sector, const Request& request, int64_t now);

  IndexWriter* index_;
  std::map<DeviceId, BlockDevice> devices_;
  std::map<DeviceId, Requests> requests_;
  std::unordered_map<TaskId, BlockBytes> by_task_;
};

}  // namespace strata::state
