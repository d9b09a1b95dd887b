// SPDX-License-Identifier: Apache-2.0
#include "guest/probe_channel.h"

#include <time.h>

#include <algorithm>
#include <array>

#include "clock/tsc.h"

namespace strata::guest {
namespace {

// Who does not take 32 bytes for so long is gone.
constexpr auto kPatience = std::chrono::seconds(1);

template <clockid_t Id>
uint64_t read_clock() {
  timespec now{};
  clock_gettime(Id, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

ProbeChannel::ProbeChannel(std::unique_ptr<Channel> channel, std::vector<std::byte> received)
    : channel_(std::move(channel)), received_(std::move(received)) {}

Status ProbeChannel::send(const clock::ProbeBytes& bytes) {
  return send_all(*channel_, bytes, within(kPatience));
}

// Whether a whole probe is there.
Result<bool> ProbeChannel::fill() {
  constexpr size_t kSize = std::tuple_size_v<clock::ProbeBytes>;
  std::array<std::byte, kSize> room;
  while (received_.size() < kSize) {
    const Result<Transfer> came =
        channel_->receive(std::span(room).first(kSize - received_.size()));
    if (!came) return came.error();
    if (came->ended) return Error{channel_->peer(), std::nullopt, "has ended the clock's stream"};
    if (came->size == 0) return false;
    received_.insert(received_.end(), room.begin(), room.begin() + came->size);
  }
  return true;
}

Result<bool> ProbeChannel::try_receive(clock::ProbeBytes& bytes) {
  const Result<bool> whole = fill();
  if (!whole || !*whole) return whole;
  std::copy_n(received_.begin(), bytes.size(), bytes.begin());
  received_.erase(received_.begin(), received_.begin() + bytes.size());
  return true;
}

void ProbeChannel::wait(std::chrono::microseconds most) {
  pollfd file = channel_->to_receive();
  wait_for({&file, 1}, within(most));
}

Result<std::optional<uint64_t>> ProbeChannel::next_burst() {
  const Result<bool> whole = fill();
  if (!whole) return whole.error();
  if (!*whole) return std::optional<uint64_t>();
  clock::ProbeBytes bytes;
  std::copy_n(received_.begin(), bytes.size(), bytes.begin());
  return std::optional(clock::to_probe(bytes).burst);
}

clock::ReadCounter counter_of(const std::string& kernel_clock) {
  if (kernel_clock == "x86-tsc") return clock::read_tsc;
  if (kernel_clock == "mono_raw") return read_clock<CLOCK_MONOTONIC_RAW>;
  if (kernel_clock == "mono") return read_clock<CLOCK_MONOTONIC>;
  if (kernel_clock == "boot") return read_clock<CLOCK_BOOTTIME>;
  return {};
}

}  // namespace strata::guest
