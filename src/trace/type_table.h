// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace strata::trace {

struct EventType;

// What someone keeps for each event type, found once per event: open addressing on the type's
// address, a multiplication and as a rule one comparison. Types of several traces may be mixed.
template <typename T>
class TypeTable {
 public:
  TypeTable() : slots_(64), shift_(58) {}

  // What is kept for `type`, or nothing. Valid until the next add().
  T* find(const EventType* type) {
    for (size_t i = home(type);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].type == type) [[likely]]
        return &slots_[i].value;
      if (slots_[i].type == nullptr) return nullptr;
    }
  }

  // `type` must not be there yet.
  T* add(const EventType* type, T value) {
    if (++used_ * 2 > slots_.size()) grow();
    return place(type, std::move(value));
  }

  template <typename F>
  void for_each(F&& f) const {
    for (const Slot& slot : slots_)
      if (slot.type) f(*slot.type, slot.value);
  }

 private:
  struct Slot {
    const EventType* type = nullptr;
    T value{};
  };

  size_t home(const EventType* type) const {
    return (reinterpret_cast<uintptr_t>(type) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  T* place(const EventType* type, T value) {
    size_t i = home(type);
    while (slots_[i].type != nullptr) i = (i + 1) & (slots_.size() - 1);
    slots_[i].type = type;
    slots_[i].value = std::move(value);
    return &slots_[i].value;
  }
  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
    --shift_;
    for (Slot& slot : old)
      if (slot.type) place(slot.type, std::move(slot.value));
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  unsigned shift_;
  size_t used_ = 0;
};

}  // namespace strata::trace
