// SPDX-License-Identifier: Apache-2.0
#include "collector.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace strata::test {
namespace abi = probe::abi;
namespace {

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "the test's collector: %s\n", why.c_str());
  std::abort();
}

}  // namespace

uint64_t KeptRings::kept() const {
  uint64_t sum = 0;
  for (const auto& ring : rings) sum += ring.size();
  return sum;
}

std::vector<KeptRecord> KeptRings::all() const {
  std::vector<KeptRecord> records;
  for (const auto& ring : rings) records.insert(records.end(), ring.begin(), ring.end());
  return records;
}

Collector::Collector(const collect::RingLayout& layout, abi::Clock clock, uint32_t contexts)
    : layout_(layout), clock_(clock), contexts_(contexts) {
  const std::string path = folder_.file("socket");
  Result<collect::Listener> listener = collect::Listener::open(path);
  if (!listener) fail(listener.error().text());
  listener_.emplace(std::move(*listener));
  stop_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  setenv(abi::kSocketVariable, path.c_str(), 1);
  thread_ = std::thread([this] { serve(); });
}

Collector::~Collector() {
  close_all();
  const uint64_t one = 1;
  if (write(stop_.get(), &one, sizeof one) != sizeof one) fail("cannot stop");
  thread_.join();
}

void Collector::serve() {
  while (true) {
    pollfd ready[2] = {{listener_->descriptor(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) continue;
    if (ready[1].revents != 0) return;
    const std::optional<collect::Asking> program = listener_->next();
    if (!program) continue;
    Result<collect::RingMemory> memory = collect::RingMemory::create(layout_, clock_);
    if (!memory) fail(memory.error().text());
    memory->add_contexts(contexts_);
    const std::lock_guard lock(mutex_);
    for (const abi::Policy policy : also_wanted_) memory->clock_word().want(policy);
    memories_.push_back(std::make_unique<collect::RingMemory>(std::move(*memory)));
    collect::give_rings(*program, *memories_.back());
  }
}

void Collector::want(abi::Policy policy) {
  const std::lock_guard lock(mutex_);
  also_wanted_.push_back(policy);
}

size_t Collector::attached() {
  const std::lock_guard lock(mutex_);
  return memories_.size();
}

bool Collector::is_used() {
  const std::lock_guard lock(mutex_);
  // Not always the first: a program waits a second for its memory, then asks again.
  return std::ranges::any_of(memories_, [](const auto& memory) {
    return load_once<uint32_t>(memory->bytes().data() + offsetof(abi::Header, pid)) != 0;
  });
}

collect::RingMemory& Collector::memory(size_t number) {
  const std::lock_guard lock(mutex_);
  return *memories_.at(number);
}

void Collector::close_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& memory : memories_) memory->clock_word().close();
}

KeptRings Collector::read(size_t number, abi::Policy policy) {
  Result<FileDescriptor> file = memory(number).reopen();
  if (!file) fail(file.error().text());
  const Result<collect::RingMemory> rings =
      collect::RingMemory::open(std::move(*file), policy, "test");
  if (!rings) fail(rings.error().text());
  return read_rings(*rings);
}

KeptRings read_rings(const collect::RingMemory& from) {
  const collect::RingLayout& layout = from.layout();
  collect::Dictionary dictionary;
  if (Status status = dictionary.update(from.bytes(), layout); !status) fail(status.error().text());
  KeptRings kept;
  struct Visitor {
    const collect::Dictionary& dictionary;
    std::vector<KeptRecord>& into;
    uint64_t& missing;
    void record(const collect::RingRecord& record) {
      const collect::Site* site = dictionary.find(record.id);
      if (site == nullptr) fail("a record of an unknown site");
      const std::optional<size_t> size = collect::payload_size(*site, record.payload);
      if (!size) fail("a record that is not as its site says");
      into.push_back(
          {record.time,
           record.clock,
           site->provider + ":" + site->name,
           record.truncated,
           collect::RecordContexts::read(record.contexts).value_or(collect::RecordContexts()),
           {record.payload.begin(), record.payload.begin() + static_cast<long>(*size)}});
    }
    void lost(uint64_t events) { missing += events; }
  };
  for (uint32_t ring = 0; ring <= layout.rings; ++ring) {
    collect::RingReader reader(layout, ring);
    reader.read_all(from.bytes(), Visitor{dictionary, kept.rings.emplace_back(), kept.lost});
    if (reader.broken()) fail("a head that cannot be");
    kept.damaged += reader.damaged();
  }
  kept.lost += from.lost_outside();
  return kept;
}

collect::RingLayout small_layout(abi::Policy policy, bool per_cpu) {
  collect::RingLayout layout;
  layout.rings = per_cpu ? static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF)) : 0;
  layout.policy = policy;
  layout.capacity_log2 = 18;
  layout.block_log2 = 14;
  return layout;
}

int in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      body();
    } catch (...) {
      _exit(99);
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace strata::test
