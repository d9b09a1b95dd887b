// SPDX-License-Identifier: Apache-2.0
#include "collect/ring_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace strata::collect {
namespace abi = probe::abi;
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint32_t kMaxBlockLog2 = 24;  // whoever reads a ring has a copy of a block

constexpr abi::Policy kFirst{0};
constexpr abi::Policy kBehindAll{abi::kPolicies};  // where the rings of another one would begin

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

uint64_t RingLayout::filters() const {
  return round_up(dictionary() + dictionary_size, alignof(abi::FilterArea));
}

uint64_t RingLayout::controls(abi::Policy of) const {
  return round_up(filters() + abi::kMaxReaders * sizeof(abi::FilterArea),
                  alignof(abi::RingControl)) +
         rings_before(of) * sizeof(abi::RingControl);
}

uint64_t RingLayout::data(abi::Policy of) const {
  return round_up(controls(kBehindAll), kPage) + (rings_before(of) << capacity_log2);
}

uint64_t RingLayout::size() const { return data(kBehindAll); }

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
  if (block_log2 > kMaxBlockLog2) return Error{{}, {}, "blocks of a ring are too large"};
  if (policy > abi::Policy::Block) return Error{{}, {}, "no such policy"};
  return {};
}

bool RingLayout::is_like(const RingLayout& other) const {
  return rings == other.rings && block_log2 == other.block_log2 &&
         dictionary_size == other.dictionary_size;
}

Result<RingLayout> RingLayout::read(Bytes memory, abi::Policy policy, const std::string& name) {
  abi::Header header;
  if (memory.size() < sizeof header) return Error{name, 0, "too small for the header of rings"};
  std::memcpy(&header, memory.data(), sizeof header);
  if (header.magic != abi::kMagic) return Error{name, 0, "these are not the rings of a program"};
  if (header.version != abi::kVersion)
    return Error{name, offsetof(abi::Header, version),
                 "rings of version " + std::to_string(header.version) + ", which is not known"};
  RingLayout layout;
  layout.rings = header.rings;
  layout.policy = policy;
  layout.capacity_log2 = header.capacity_log2;
  layout.block_log2 = header.block_log2;
  layout.dictionary_size = header.dictionary_size;
  if (Status status = layout.check(); !status) {
    Error error = std::move(status).error();
    error.file = name;
    return error;
  }
  if (header.dictionary != layout.dictionary() || header.filters != layout.filters() ||
      header.controls != layout.controls(kFirst) || header.data != layout.data(kFirst) ||
      header.size != layout.size() || memory.size() < layout.size())
    return Error{name, 0, "the header of the rings contradicts itself, or they are cut short"};
  return layout;
}

Result<RingMemory> RingMemory::create(const RingLayout& layout, abi::Clock clock) {
  if (Status status = layout.check(); !status) return std::move(status).error();
  RingMemory memory;
  memory.layout_ = layout;
  if (Status status = memory.make_file(layout.size()); !status) return std::move(status).error();

  abi::Header& header = memory.header();
  header.version = abi::kVersion;
  header.rings = layout.rings;
  header.size = layout.size();
  header.controls = static_cast<uint32_t>(layout.controls(kFirst));
  header.dictionary = static_cast<uint32_t>(layout.dictionary());
  header.dictionary_size = layout.dictionary_size;
  header.data = layout.data(kFirst);
  header.capacity_log2 = static_cast<uint8_t>(layout.capacity_log2);
  header.block_log2 = static_cast<uint8_t>(layout.block_log2);
  header.wait_us = layout.wait_us;
  header.filters = static_cast<uint32_t>(layout.filters());
  header.clock =
      abi::ClockWord{static_cast<uint32_t>(clock), abi::policy_bit(layout.policy), false, 0}.word();
  header.magic = abi::kMagic;
  return memory;
}

Result<RingMemory> RingMemory::open(FileDescriptor file, abi::Policy policy,
                                    const std::string& name) {
  constexpr int kSealed = F_SEAL_SHRINK | F_SEAL_GROW;
  const int seals = fcntl(file.get(), F_GET_SEALS);
  struct stat status {};
  struct statfs system {};
  if (seals < 0 || (seals & kSealed) != kSealed || fstat(file.get(), &status) != 0)
    return Error{name, {}, "the size of the rings is not sealed"};
  // Of huge pages there may be none when they are first looked at, which is a fault.
  if (fstatfs(file.get(), &system) != 0 || system.f_type != TMPFS_MAGIC)
    return Error{name, {}, "the rings are not in plain memory"};
  const auto size = static_cast<uint64_t>(status.st_size);
  RingMemory memory;
  memory.descriptor_ = std::move(file);
  if (Status mapped = memory.map(size); !mapped) return std::move(mapped).error();
  const Result<RingLayout> layout = RingLayout::read(Bytes(memory.start_, size), policy, name);
  if (!layout || layout->size() != size) {
    munmap(std::exchange(memory.start_, nullptr), size);
    if (!layout) return layout.error();
    return Error{name, 0, "there is more than the rings"};
  }
  memory.layout_ = *layout;
  return memory;
}

Result<RingMemory> RingMemory::copy(Bytes bytes, abi::Policy policy, const std::string& name) {
  const Result<RingLayout> layout = RingLayout::read(bytes, policy, name);
  if (!layout) return layout.error();
  RingMemory memory;
  memory.layout_ = *layout;
  if (Status status = memory.make_file(layout->size()); !status) return std::move(status).error();
  // Pages that nobody wrote to stay so.
  static constexpr std::byte kNothing[kPage] = {};
  const auto copy_part = [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; at += kPage) {
      const Bytes page = bytes.subspan(at, std::min(kPage, end - at));
      if (std::memcmp(page.data(), kNothing, page.size()) != 0)
        std::memcpy(memory.start_ + at, page.data(), page.size());
    }
  };
  copy_part(0, layout->data(kFirst));
  copy_part(layout->data(),
            layout->data() + ((uint64_t{layout->rings} + 1) << layout->capacity_log2));
  return memory;
}

Status RingMemory::make_file(uint64_t size) {
  descriptor_ = FileDescriptor(memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor_) return system_error({}, "cannot make memory for a program's rings", errno);
  if (ftruncate(descriptor_.get(), static_cast<off_t>(size)) != 0 ||
      fcntl(descriptor_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return system_error({}, "cannot size the memory for a program's rings", errno);
  return map(size);
}

Status RingMemory::map(uint64_t size) {
  void* start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
  if (start == MAP_FAILED) return system_error({}, "cannot map a program's rings", errno);
  start_ = static_cast<std::byte*>(start);
  return {};
}

Result<FileDescriptor> RingMemory::reopen() const {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor_.get());
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return system_error(path, "cannot open a program's rings", errno);
  return file;
}

RingMemory::RingMemory(RingMemory&& other) noexcept
    : layout_(other.layout_),
      filtering_(other.filtering_),
      descriptor_(std::move(other.descriptor_)),
      start_(std::exchange(other.start_, nullptr)) {}

RingMemory& RingMemory::operator=(RingMemory&& other) noexcept {
  std::swap(layout_, other.layout_);
  std::swap(filtering_, other.filtering_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(start_, other.start_);
  return *this;
}

RingMemory::~RingMemory() {
  if (start_ != nullptr) munmap(start_, layout_.size());
}

ReaderTable RingMemory::readers() const {
  ReaderTable table{{}, {}, clock_word()};
  for (uint32_t policy = 0; policy < abi::kPolicies; ++policy) {
    table.controls[policy] = controls(abi::Policy{policy});
    table.filtering[policy] = header().filtering[policy];
  }
  return table;
}

// Before its reader wants these rings: where nobody has yet, what is there is of one that has left.
void RingMemory::wait_at_least(uint32_t microseconds) {
  uint32_t& wait = header().wait_us;
  if (!clock_word().said().wants(abi::Policy::Block) || load(wait) < microseconds)
    store(wait, microseconds);
}

uint32_t RingMemory::contexts() const { return load(header().contexts) & abi::kAllContexts; }

void RingMemory::add_contexts(uint32_t contexts) {
  if (contexts == 0) return;
  __atomic_fetch_or(&header().contexts, contexts, __ATOMIC_RELEASE);
  clock_word().look();
}

bool RingMemory::looks_at_filters() const {
  const abi::ClockWord said = clock_word().said();
  return said.looks || said.wanted != abi::policy_bit(layout_.policy);
}

void RingMemory::set_filters(uint32_t reader, std::span<const SitePredicate> predicates) {
  // 2, 3, 4, ...: the program may be looking at the half that holds now.
  filtering_ = std::max(filtering_, abi::kEverything) + 1;
  auto& area = reinterpret_cast<abi::FilterArea*>(start_ + layout_.filters())[reader];
  abi::FilterHalf& half = area.halves[filtering_ % 2];
  // Entries from the front, what they lead to from the back.
  uint32_t count = 0;
  size_t back = sizeof half.bytes;
  for (const auto& [id, bytes] : predicates) {
    const size_t front = (size_t{count} + 1) * sizeof(abi::FilterEntry);
    if (front > back || bytes.size() > back - front) continue;
    back -= bytes.size();
    const abi::FilterEntry entry{id, static_cast<uint16_t>(back),
                                 static_cast<uint16_t>(bytes.size())};
    std::memcpy(half.bytes + count * sizeof entry, &entry, sizeof entry);
    std::memcpy(half.bytes + back, bytes.data(), bytes.size());
    ++count;
  }
  store(half.count, count);
  store(header().filtering[static_cast<uint32_t>(layout_.policy)][reader], filtering_);
}

abi::Clock RingMemory::clock() const {
  const abi::ClockWord said = clock_word().said();
  return said.is_closed() ? abi::Clock::Tsc : abi::Clock{said.clock};
}

std::span<abi::RingControl> RingMemory::controls(abi::Policy policy) const {
  return {reinterpret_cast<abi::RingControl*>(start_ + layout_.controls(policy)),
          size_t{layout_.rings} + 1};
}

void RingMemory::say_asleep() {
  // Before the heads are looked at, once more: who fills a ring later sees it.
  __atomic_store_n(&header().sleeps, 1, __ATOMIC_SEQ_CST);
}

bool RingMemory::is_used(uint32_t ring) const {
  return load(control(ring).head) != 0 || load(control(ring).lost) != 0;
}

uint64_t RingMemory::filled(uint32_t ring, uint64_t position) const {
  return std::min(load(control(ring).head) - position, layout_.capacity());
}

uint64_t RingMemory::filled(uint32_t ring) const { return filled(ring, load(control(ring).tail)); }

uint64_t RingMemory::lost(uint32_t ring) const { return load(control(ring).lost); }

uint64_t RingMemory::lost_outside() const {
  return __atomic_load_n(&header().lost, __ATOMIC_RELAXED);
}

}  // namespace strata::collect
