// SPDX-License-Identifier: Apache-2.0
#include "collect/ring_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace strata::collect {
namespace abi = probe::abi;
namespace {

constexpr uint64_t kPage = 4096;

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) & ~(to - 1); }

template <typename T>
void store(T& to, T value) {
  __atomic_store_n(&to, value, __ATOMIC_RELEASE);
}

template <typename T>
T load(const T& from) {
  return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}

}  // namespace

uint64_t RingLayout::controls() const {
  return round_up(dictionary() + dictionary_size, alignof(abi::RingControl));
}

uint64_t RingLayout::data() const {
  return round_up(controls() + (uint64_t{rings} + 1) * sizeof(abi::RingControl), kPage);
}

uint64_t RingLayout::oldest(uint64_t head) const {
  if (policy != abi::Policy::Overwrite) return 0;
  // The program may be about to open the next block, over the oldest one.
  const uint64_t current = head / block();
  const uint64_t blocks = capacity() / block();
  return current + 2 <= blocks ? 0 : (current + 2 - blocks) * block();
}

Status RingLayout::check() const {
  if (rings > abi::kMaxRings) return Error{{}, {}, "too many rings"};
  if (block_log2 < abi::kMinBlockLog2) return Error{{}, {}, "blocks of a ring are too small"};
  if (capacity_log2 <= block_log2) return Error{{}, {}, "a ring is smaller than two blocks"};
  if (capacity_log2 > abi::kMaxCapacityLog2) return Error{{}, {}, "a ring is too large"};
  if (policy > abi::Policy::Block) return Error{{}, {}, "no such policy"};
  return {};
}

Result<RingLayout> RingLayout::read(Bytes memory, const std::string& name) {
  abi::Header header;
  if (memory.size() < sizeof header) return Error{name, 0, "too small for the header of rings"};
  std::memcpy(&header, memory.data(), sizeof header);
  if (header.magic != abi::kMagic) return Error{name, 0, "these are not the rings of a program"};
  if (header.version != abi::kVersion)
    return Error{name, offsetof(abi::Header, version),
                 "rings of version " + std::to_string(header.version) + ", which is not known"};
  RingLayout layout;
  layout.rings = header.rings;
  layout.policy = header.policy;
  layout.capacity_log2 = header.capacity_log2;
  layout.block_log2 = header.block_log2;
  layout.dictionary_size = header.dictionary_size;
  layout.wait_us = header.wait_us;
  if (Status status = layout.check(); !status) {
    Error error = std::move(status).error();
    error.file = name;
    return error;
  }
  if (header.dictionary != layout.dictionary() || header.controls != layout.controls() ||
      header.data != layout.data() || header.size != layout.size() || memory.size() < layout.size())
    return Error{name, 0, "the header of the rings contradicts itself, or they are cut short"};
  return layout;
}

Result<RingMemory> RingMemory::create(const RingLayout& layout, abi::Clock clock) {
  if (Status status = layout.check(); !status) return std::move(status).error();
  RingMemory memory;
  memory.layout_ = layout;
  memory.descriptor_ =
      FileDescriptor(memfd_create("strata-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const int fd = memory.descriptor_.get();
  if (fd < 0) return system_error({}, "cannot make memory for a program's rings", errno);
  if (ftruncate(fd, static_cast<off_t>(layout.size())) != 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return system_error({}, "cannot size the memory for a program's rings", errno);
  void* start = mmap(nullptr, layout.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (start == MAP_FAILED) return system_error({}, "cannot map a program's rings", errno);
  memory.start_ = static_cast<std::byte*>(start);

  abi::Header& header = memory.header();
  header.version = abi::kVersion;
  header.rings = layout.rings;
  header.size = layout.size();
  header.controls = static_cast<uint32_t>(layout.controls());
  header.dictionary = static_cast<uint32_t>(layout.dictionary());
  header.dictionary_size = layout.dictionary_size;
  header.policy = layout.policy;
  header.data = layout.data();
  header.capacity_log2 = static_cast<uint8_t>(layout.capacity_log2);
  header.block_log2 = static_cast<uint8_t>(layout.block_log2);
  header.wait_us = layout.wait_us;
  header.clock = static_cast<uint32_t>(clock);
  header.magic = abi::kMagic;
  return memory;
}

RingMemory::RingMemory(RingMemory&& other) noexcept
    : layout_(other.layout_),
      descriptor_(std::move(other.descriptor_)),
      start_(std::exchange(other.start_, nullptr)) {}

RingMemory& RingMemory::operator=(RingMemory&& other) noexcept {
  std::swap(layout_, other.layout_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(start_, other.start_);
  return *this;
}

RingMemory::~RingMemory() {
  if (start_ != nullptr) munmap(start_, layout_.size());
}

void RingMemory::set_clock(abi::Clock clock) {
  store(header().clock, static_cast<uint32_t>(clock));
}

void RingMemory::close() { store(header().clock, abi::kClosed); }

abi::RingControl& RingMemory::control(uint32_t ring) const {
  return reinterpret_cast<abi::RingControl*>(start_ + layout_.controls())[ring];
}

void RingMemory::set_tail(uint32_t ring, uint64_t tail) { store(control(ring).tail, tail); }

void RingMemory::say_asleep() {
  // Before the heads are looked at, once more: who fills a ring later sees it.
  __atomic_store_n(&header().sleeps, 1, __ATOMIC_SEQ_CST);
}

void RingMemory::say_awake() { store(header().sleeps, uint32_t{0}); }

bool RingMemory::is_used(uint32_t ring) const {
  return load(control(ring).head) != 0 || load(control(ring).lost) != 0;
}

uint64_t RingMemory::filled(uint32_t ring) const {
  return std::min(load(control(ring).head) - load(control(ring).tail), layout_.capacity());
}

uint64_t RingMemory::lost(uint32_t ring) const { return load(control(ring).lost); }

uint64_t RingMemory::lost_outside() const {
  return __atomic_load_n(&header().lost, __ATOMIC_RELAXED);
}

}  // namespace strata::collect
