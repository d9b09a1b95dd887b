// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "collect/ring_memory.h"

namespace strata::test {

// The bytes of a ring memory, made by hand after probe/abi.h: what a program would have left.
class RingMaker {
 public:
  explicit RingMaker(const collect::RingLayout& layout) : layout_(layout), bytes_(layout.size()) {}

  Bytes bytes() const { return bytes_; }
  std::vector<std::byte>& raw() { return bytes_; }
  uint64_t head() const { return head_; }

  // The program's dictionary: its events, of which the first has the id kFirstId. Fields as
  // probe.h writes them: "u32 value".
  struct Declared {
    std::string name;
    std::vector<std::string> fields = {"u32 value"};
    probe::abi::SiteKind kind = probe::abi::SiteKind::Event;
  };
  void declare(const std::vector<Declared>& events) {
    using namespace probe::abi;
    constexpr uint64_t kSites = 0x10000;  // addresses in the program
    constexpr uint64_t kFlags = 0x80000;
    std::string sites;
    for (size_t i = 0; i < events.size(); ++i) {
      std::string strings = std::string("shop") + '\0' + events[i].name + '\0';
      for (const std::string& field : events[i].fields) strings += field + '\0';
      strings.resize((strings.size() + 3) / 4 * 4);
      Site site{};
      site.size = static_cast<uint32_t>(sizeof site + strings.size());
      site.flag = static_cast<int32_t>(kFlags + i * sizeof(Flag) - kSites - sites.size() -
                                       offsetof(Site, flag));
      site.version = kSiteVersion;
      site.kind = events[i].kind;
      site.fields = static_cast<uint8_t>(events[i].fields.size());
      sites.append(reinterpret_cast<const char*>(&site), sizeof site) += strings;
    }
    const auto padded = static_cast<uint32_t>((sizeof(Module) + sites.size() + 7) / 8 * 8);
    const Module module{
        padded, kFirstId, static_cast<uint32_t>(sites.size()), static_cast<uint32_t>(events.size()),
        kSites, kFlags};
    std::byte* at = bytes_.data() + layout_.dictionary();
    std::memcpy(at, &module, sizeof module);
    std::memcpy(at + sizeof module, sites.data(), sites.size());
    std::memcpy(bytes_.data() + offsetof(Header, dictionary_used), &padded, sizeof padded);
  }

  void open_block(uint64_t lost = 0, probe::abi::Clock clock = probe::abi::Clock::Tsc) {
    using namespace probe::abi;
    const uint64_t left = layout_.block() - head_ % layout_.block();
    if (left != layout_.block()) {
      if (left >= 16) put<uint32_t>(head_ + 8, make_word(kPadId, 16));
      head_ += left;
    }
    put(head_, Block{time_++, make_word(kBlockId, sizeof(Block)), clock, head_, lost});
    move_head(sizeof(Block));
  }
  void tell_lost(uint64_t lost) {
    using namespace probe::abi;
    put(head_, Lost{time_++, make_word(kLostId, sizeof(Lost)), 0, lost});
    move_head(sizeof(Lost));
  }
  void add(uint32_t id, uint32_t value) {
    using namespace probe::abi;
    if (head_ % layout_.block() == 0 || layout_.block() - head_ % layout_.block() < 16)
      open_block();
    put(head_, time_++);
    put<uint32_t>(head_ + 8, make_word(id, 16));
    put<uint32_t>(head_ + 12, value);
    move_head(16);
  }
  // Any fields.
  void add(uint32_t id, Bytes payload) {
    using namespace probe::abi;
    const auto size = static_cast<uint32_t>((kPayload + payload.size() + 7) / 8 * 8);
    if (head_ % layout_.block() == 0 || layout_.block() - head_ % layout_.block() < size)
      open_block();
    put(head_, time_++);
    put<uint32_t>(head_ + 8, make_word(id, size));
    std::memcpy(bytes_.data() + layout_.data() + (head_ + kPayload) % layout_.capacity(),
                payload.data(), payload.size());
    move_head(size);
  }
  // Of the records that follow.
  void set_time(uint64_t time) { time_ = time; }
  void set_lost(uint64_t lost) {
    std::memcpy(control() + offsetof(probe::abi::RingControl, lost), &lost, sizeof lost);
  }
  void set_head(uint64_t head) {
    head_ = head;
    move_head(0);
  }
  template <typename T>
  void put(uint64_t position, const T& value) {
    std::memcpy(bytes_.data() + layout_.data() + position % layout_.capacity(), &value,
                sizeof value);
  }

 private:
  std::byte* control() { return bytes_.data() + layout_.controls(); }
  void move_head(uint64_t by) {
    head_ += by;
    std::memcpy(control() + offsetof(probe::abi::RingControl, head), &head_, sizeof head_);
  }

  collect::RingLayout layout_;
  std::vector<std::byte> bytes_;
  uint64_t head_ = 0;
  uint64_t time_ = 1;
};

}  // namespace strata::test
