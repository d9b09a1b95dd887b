// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trace/task_names.h"
#include "trace/trace.h"
#include "trace/type_table.h"

namespace strata::trace {

// The names of a trace's threads while its events go by: what the trace told at the start, and what
// its switches and wake-ups tell on the way. An event that tells nothing new costs a comparison, or
// two look-ups in a bitmap where it names threads.
class LearnedNames {
 public:
  explicit LearnedNames(const Trace& trace);

  const TaskNames& names() const { return names_; }
  // Changes with every name that is learnt: what was derived from a name that was not known must be
  // looked at again.
  uint32_t version() const { return version_; }

  // To be called before an event is shown: it may name the thread that it happened in.
  void learn_running(const Event& event) {
    if (event.type->comm) [[unlikely]]
      add_running(event);
  }

  void learn(const Event& event) {
    switch (event.type->meaning.word) {
      case Word::SchedSwitch:
      case Word::SchedWakeup:
      case Word::SchedWakeupNew:
        if (tells_news(event)) [[unlikely]]
          add(event);
        break;
      default:
        break;
    }
  }

 private:
  struct Named {  // the threads that events of a type name
    FieldRef first;
    FieldRef second;
  };

  bool tells_news(const Event& event) {
    const Named* named = types_.find(event.type);
    if (!named) [[unlikely]]
      named = add_type(*event.type);
    return !is_known(event.integer(named->first)) || !is_known(event.integer(named->second));
  }
  bool is_known(std::optional<int64_t> tid) const {
    if (!tid) return true;
    auto bit = static_cast<uint64_t>(*tid);
    return bit / 64 < known_.size() && (known_[bit / 64] >> (bit % 64) & 1) != 0;
  }
  const Named* add_type(const EventType& type);
  void add(const Event& event);
  void add_running(const Event& event);
  void mark_known(int64_t tid);

  TaskNames names_;
  uint32_t version_ = 0;
  std::vector<uint64_t> known_;  // a bit a thread; those with odd ids are asked for every time
  TypeTable<Named> types_;
};

// A ready-made piece of text for each thread, which depends on its name: open addressing, texts
// inside the table.
template <size_t N>
class TaskTexts {
 public:
  struct Text {
    int32_t tid = 0;
    uint32_t version = 0;  // of the names, where the thread's was not known yet
    uint8_t size = 0;      // 0: not made yet
    bool named = false;
    char text[N];
  };

  TaskTexts() : slots_(256), shift_(24) {}

  // Its text may be missing or out of date: see stale(). Valid until the next call.
  Text& at(Tid tid) {
    for (size_t i = home(raw(tid));; i = (i + 1) & (slots_.size() - 1)) {
      Text& slot = slots_[i];
      if (slot.tid == raw(tid) && slot.size != 0) [[likely]]
        return slot;
      if (slot.size == 0) return add(raw(tid), i);
    }
  }
  static bool stale(const Text& text, uint32_t version) {
    return !text.named && (text.size == 0 || text.version != version);
  }

 private:
  size_t home(int32_t tid) const { return (static_cast<uint32_t>(tid) * 0x9e3779b1u) >> shift_; }

  Text& add(int32_t tid, size_t i) {
    if (++used_ * 2 > slots_.size()) {
      std::vector<Text> old(slots_.size() * 2);
      old.swap(slots_);
      --shift_;
      for (const Text& text : old)
        if (text.size != 0) slots_[free_slot(text.tid)] = text;
      i = free_slot(tid);
    }
    slots_[i].tid = tid;
    return slots_[i];
  }
  size_t free_slot(int32_t tid) const {
    size_t i = home(tid);
    while (slots_[i].size != 0) i = (i + 1) & (slots_.size() - 1);
    return i;
  }

  std::vector<Text> slots_;  // a power of two, at most half full
  unsigned shift_;
  size_t used_ = 0;
};

}  // namespace strata::trace
