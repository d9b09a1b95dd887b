// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "collect/listener.h"
#include "collect/ring_memory.h"
#include "collect/ring_reader.h"
#include "collect/site.h"
#include "support/temporary_folder.h"

namespace strata::test {

// A record that was read from a ring, kept.
struct KeptRecord {
  uint64_t time = 0;
  probe::abi::Clock clock = probe::abi::Clock::Tsc;
  std::string site;  // "provider:name"
  bool truncated = false;
  collect::RecordContexts contexts;
  std::vector<std::byte> payload;

  template <typename T>
  T at(size_t offset) const {
    T value;
    std::memcpy(&value, payload.data() + offset, sizeof value);
    return value;
  }
};

// What one process left.
struct KeptRings {
  std::vector<std::vector<KeptRecord>> rings;  // the last is the fallback
  uint64_t lost = 0;
  uint64_t damaged = 0;

  uint64_t kept() const;
  std::vector<KeptRecord> all() const;
};

// What rings of the memory's policy hold, of a program that does not write any more.
KeptRings read_rings(const collect::RingMemory& memory);

// A collector within a test: serves the handshake in a thread, gives every process that asks a
// memory of its own, and reads them when all is over. Nothing is drained meanwhile.
class Collector {
 public:
  explicit Collector(const collect::RingLayout& layout,
                     probe::abi::Clock clock = probe::abi::Clock::Tsc, uint32_t contexts = 0);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Programs that ask from now on write to the rings of this policy, too.
  void want(probe::abi::Policy policy);
  // Processes that ask, so far; each attachment counts.
  size_t attached();
  // Whether the first one has mapped its memory.
  bool is_used();
  collect::RingMemory& memory(size_t number);
  KeptRings read(size_t number = 0) { return read_rings(memory(number)); }
  // The same of another policy's rings.
  KeptRings read(size_t number, probe::abi::Policy policy);
  // Closes all memories that were given: who writes attaches anew.
  void close_all();

 private:
  void serve();

  collect::RingLayout layout_;
  probe::abi::Clock clock_;
  uint32_t contexts_;
  std::vector<probe::abi::Policy> also_wanted_;
  TemporaryFolder folder_;
  std::optional<collect::Listener> listener_;
  FileDescriptor stop_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<collect::RingMemory>> memories_;
  std::thread thread_;
};

// A layout for tests: one ring for each CPU (none: the fallback for all).
collect::RingLayout small_layout(probe::abi::Policy policy, bool per_cpu);

// Runs `body` in a child process and gives its wait status.
int in_child(const std::function<void()>& body);

}  // namespace strata::test
