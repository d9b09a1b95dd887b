// SPDX-License-Identifier: Apache-2.0
#include "state/block.h"

#include <algorithm>
#include <iterator>

#include "state/index_writer.h"

namespace strata::state {
namespace {

constexpr uint64_t kSectorBytes = 512;

// LTTng's bits.
constexpr int64_t kWrite = 1;
constexpr int64_t kDiscard = 2;

}  // namespace

BlockDirection direction_of(std::string_view rwbs) {
  if (rwbs.starts_with('F')) rwbs.remove_prefix(1);  // it flushes first
  if (rwbs.starts_with('R')) return BlockDirection::Read;
  return rwbs.starts_with('W') ? BlockDirection::Write : BlockDirection::Other;
}

BlockDirection direction_of(int64_t rwbs) {
  if ((rwbs & kDiscard) != 0) return BlockDirection::Other;
  return (rwbs & kWrite) != 0 ? BlockDirection::Write : BlockDirection::Read;
}

BlockDevice& BlockDevices::device_of(DeviceId id) {
  const auto [found, is_new] = devices_.try_emplace(id);
  if (is_new) found->second.id = id;
  return found->second;
}

BlockDevices::Request& BlockDevices::wish(const Place& place, TaskId task, int64_t now) {
  Requests& requests = requests_[place.device];
  if (requests.size() >= kMostWishes)
    std::erase_if(requests, [](const auto& at) { return !at.second.is_issued; });
  Request& request = requests[place.sector];
  request = {.sectors = place.sectors,
             .has_wish = true,
             .origin = place.device,
             .task = task,
             .wished = now};
  return request;
}

void BlockDevices::queue(const Place& place, TaskId task, int64_t now) {
  if (place.sectors > 0) wish(place, task, now);
}

void BlockDevices::remap(const Place& place, DeviceId old_device, uint64_t old_sector, TaskId task,
                         int64_t now) {
  if (place.sectors == 0) return;
  Request passed_on = {.has_wish = true, .origin = old_device, .task = task, .wished = now};
  Requests& before = requests_[old_device];
  if (const auto found = before.find(old_sector);
      found != before.end() && !found->second.is_issued) {
    passed_on = found->second;
    before.erase(found);
  }
  passed_on.sectors = place.sectors;
  wish(place, task, now) = passed_on;
}

void BlockDevices::insert(const Place& place, TaskId task, int64_t now) {
  if (place.sectors == 0) return;
  Requests& requests = requests_[place.device];
  if (const auto found = requests.find(place.sector);
      found != requests.end() && !found->second.is_issued)
    found->second.sectors = place.sectors;
  else
    wish(place, task, now);
}

// The wish becomes a part of its neighbour, which from now on begins or ends elsewhere.
void BlockDevices::merge(const Place& place, TaskId task, int64_t now) {
  Requests& requests = requests_[place.device];
  if (const auto own = requests.find(place.sector); own != requests.end() && !own->second.is_issued)
    requests.erase(own);
  const auto behind = requests.lower_bound(place.sector);
  if (behind != requests.begin()) {
    auto& [sector, before] = *std::prev(behind);
    if (!before.is_issued && sector + before.sectors == place.sector) {
      before.sectors += place.sectors;
      ++before.merged;
      return;
    }
  }
  if (behind != requests.end() && !behind->second.is_issued &&
      place.sector + place.sectors == behind->first) {
    Request joined = behind->second;
    joined.sectors += place.sectors;
    ++joined.merged;
    requests.erase(behind);
    wish(place, task, now) = joined;
  }
}

void BlockDevices::issue(const Place& place, BlockDirection direction, TaskId task, int64_t now) {
  if (place.sectors == 0) return;
  Requests& requests = requests_[place.device];
  auto found = requests.find(place.sector);
  if (found == requests.end())
    found = requests.emplace(place.sector, Request{.origin = place.device, .task = task}).first;
  Request& request = found->second;
  if (request.is_issued) take_off(place.device, request, now);  // it was issued again
  request.sectors = place.sectors;
  request.direction = direction;
  request.is_issued = true;
  request.issued = now;
  request.first = place.sector;
  request.all = place.sectors;
  // What was wished for within it was merged into it, whether that was told or not.
  for (auto at = std::next(found);
       at != requests.end() && at->first - place.sector < place.sectors && !at->second.is_issued;) {
    ++request.merged;
    at = requests.erase(at);
  }
  for_devices(place.device, request, [&](BlockDevice& device) {
    settle(device, now);
    device.deepest = std::max(device.deepest, ++device.in_flight);
    if (request.has_wish) device.waiting.add(now - request.wished);
  });
}

void BlockDevices::complete(const Place& place, int64_t now) {
  Requests& requests = requests_[place.device];
  const auto found = requests.find(place.sector);
  if (place.sectors == 0 || found == requests.end() || !found->second.is_issued) return;
  Request request = found->second;
  requests.erase(found);
  charge(place, request);
  if (place.sectors < request.sectors) {  // the rest is still under way
    request.sectors -= place.sectors;
    requests[place.sector + place.sectors] = request;
    return;
  }
  take_off(place.device, request, now);
  for_devices(place.device, request, [&](BlockDevice& device) {
    ++device.requests;
    device.service.add(now - request.issued);
  });
  if (index_ == nullptr) return;
  BlockRecord record = record_of(place.device, place.sector, request, now);
  record.is_completed = true;
  index_->block_request(record, true);
}

BlockRecord BlockDevices::record_of(DeviceId id, uint64_t sector, const Request& request,
                                    int64_t now) {
  const int64_t begin = request.has_wish ? request.wished : request.issued;
  // A loss is told later than it began: what it cuts short may have begun in between.
  return {.begin = begin,
          .end = std::max(now, begin),
          .task = request.task,
          .device = id,
          .origin = request.origin,
          .sector = request.is_issued ? request.first : sector,
          .sectors = request.is_issued ? request.all : request.sectors,
          .direction = request.direction,
          .has_wish = request.has_wish,
          .is_issued = request.is_issued,
          .issued = request.issued,
          .merged = request.merged};
}

void BlockDevices::tell_open(int64_t now) {
  for (const auto& [id, requests] : requests_)
    for (const auto& [sector, request] : requests)
      index_->block_request(record_of(id, sector, request, now), false);
}

void BlockDevices::charge(const Place& place, const Request& request) {
  const uint64_t bytes = place.sectors * kSectorBytes;
  const auto add = [&](BlockBytes& to) {
    if (request.direction == BlockDirection::Read) to.read += bytes;
    if (request.direction == BlockDirection::Write) to.written += bytes;
  };
  for_devices(place.device, request, [&](BlockDevice& device) {
    device.sectors += place.sectors;
    add(device.bytes);
  });
  if (request.task == kNoTask) return;
  if (on_charge) on_charge(request.task);
  add(by_task_[request.task]);
}

void BlockDevices::take_off(DeviceId id, const Request& request, int64_t now) {
  for_devices(id, request, [&](BlockDevice& device) {
    settle(device, now);
    if (device.in_flight > 0) --device.in_flight;
  });
}

void BlockDevices::settle(BlockDevice& device, int64_t now) {
  if (now <= device.since) return;
  const auto ns = static_cast<uint64_t>(now - device.since);
  device.since = now;
  if (device.in_flight > 0) device.busy_ns += ns;
  device.depth_ns += ns * device.in_flight;
}

void BlockDevices::lose(int64_t now) {
  settle(now);
  if (index_ != nullptr)
    for (const auto& [id, requests] : requests_)
      for (const auto& [sector, request] : requests)
        index_->block_request(record_of(id, sector, request, now), true);
  requests_.clear();
  for (auto& [id, device] : devices_) device.in_flight = 0;
}

void BlockDevices::settle(int64_t now) {
  for (auto& [id, device] : devices_) settle(device, now);
}

void BlockDevices::reset(int64_t now) {
  settle(now);
  by_task_.clear();
  for (auto& [id, device] : devices_)
    device = {.id = id,
              .name = device.name,
              .in_flight = device.in_flight,
              .deepest = device.in_flight,
              .since = device.since};
}

}  // namespace strata::state
