// SPDX-License-Identifier: Apache-2.0
//
// What another machine sends during a burst, and what is made of it. The first byte says which side
// this is.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "clock/offset_estimate.h"
#include "clock/probe_exchange.h"

namespace {

using namespace strata;

class Bytes : public clock::ProbeLink {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  Status send(const clock::ProbeBytes&) override { return {}; }
  Result<bool> try_receive(clock::ProbeBytes& bytes) override {
    if (size_ == 0) return Error{"", std::nullopt, "the end"};
    const size_t taken = std::min(size_, bytes.size());
    std::memcpy(bytes.data(), data_, taken);
    data_ += taken;
    size_ -= taken;
    // Most messages are to be in turn.
    if (const clock::Probe probe = clock::to_probe(bytes); probe.burst % 8 != 0)
      bytes = clock::to_bytes({expected_, probe.last, 0, probe.sent, probe.received});
    expected_ += 2;
    return true;
  }
  void wait(std::chrono::microseconds) override {}
  void begins_with(uint32_t number) { expected_ = number; }

 private:
  const uint8_t* data_;
  size_t size_;
  uint32_t expected_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  Bytes link(data + 1, size - 1);
  uint64_t time = 0;
  const clock::ReadCounter counter = [&] { return time += 1000; };
  const bool asks = data[0] % 2 == 0;
  link.begins_with(asks ? 1 : 0);
  // Who asks ends when it likes; so the burst ends before the bytes do.
  const clock::BurstLimits limits{.messages = static_cast<uint32_t>(size / 48)};
  const Result<clock::Burst> burst =
      asks ? clock::ask(link, 0, counter, limits) : clock::answer(link, 0, counter, limits);
  if (!burst) return 0;
  const Result<clock::Burst> kept = clock::fastest(*burst);
  if (kept && (kept->forth.size() > 64 || kept->back.size() > 64)) abort();
  const std::vector<clock::Burst> one = {*burst};
  if (const auto map = clock::map_through(one, 0.4)) map->at(12345);
  if (kept) (void)clock::meet(*kept, 1.0);
  return 0;
}
