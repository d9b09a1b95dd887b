// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/abi.h"
#include "probe/glob.h"

namespace strata::probe {

// The machine that runs an abi::Predicate on the fields of a record. It runs in the traced program,
// before a record is written, and in the collector, on what it reads; neither trusts the bytes of
// the other. A predicate cannot loop, since every test leads to one of a smaller number. Where
// predicate or record lead out of themselves the record passes: who keeps it has to look at it
// anyway.

struct View {
  const std::byte* data;
  size_t size;

  // Each byte is read once, since somebody else may be writing there.
  template <typename T>
  bool read(size_t at, T& value) const {
    if (size < sizeof value || at > size - sizeof value) return false;
    if constexpr (__is_class(T)) {
      static_assert(sizeof(T) % sizeof(uint64_t) == 0);
      struct Words {
        uint64_t word[sizeof(T) / sizeof(uint64_t)];
      } words;
      for (uint64_t& word : words.word) {
        word = once<uint64_t>(at);
        at += sizeof word;
      }
      value = __builtin_bit_cast(T, words);
    } else {
      value = once<T>(at);
    }
    return true;
  }
  Characters characters(size_t begin, size_t length) const {
    const auto* const first = reinterpret_cast<const char*>(data) + begin;
    return {first, first + length};
  }

 private:
  template <typename T>
  T once(size_t at) const {
    struct __attribute__((packed, may_alias)) Unaligned {
      T value;
    };
    return reinterpret_cast<const volatile Unaligned*>(data + at)->value;
  }
};

class PredicateRun {
 public:
  PredicateRun(View predicate, View fields, const uint64_t* duration)
      : predicate_(predicate), fields_(fields), duration_(duration) {}

  bool passes() {
    if (!predicate_.read(offsetof(abi::Predicate, first), next_) ||
        !predicate_.read(offsetof(abi::Predicate, tests), tests_) ||
        !predicate_.read(offsetof(abi::Predicate, skips), skips_))
      return true;
    for (uint32_t before = tests_; next_ < before;) {
      abi::Test test;
      uint8_t relation = 0;
      if (!predicate_.read(sizeof(abi::Predicate) + next_ * sizeof test, test) ||
          !go_to(test.base) || !relate(test, relation))
        return true;
      before = next_;
      next_ = (relation & test.accepts) != 0 ? test.if_true : test.if_false;
    }
    return next_ != abi::kDrop;
  }

 private:
  // The end of a string; SIZE_MAX: there is none.
  size_t end_of_text(size_t at) const {
    for (; at < fields_.size; ++at)
      if (fields_.data[at] == std::byte{0}) return at;
    return SIZE_MAX;
  }

  // Walks on to a base, or from the first one on where it is one before.
  bool go_to(uint32_t base) {
    if (base < base_) base_ = 0, at_ = 0;
    for (; base_ < base; ++base_) {
      if (base_ >= skips_) return false;
      uint16_t offset = 0;
      uint16_t element = 0;
      const size_t skip =
          sizeof(abi::Predicate) + tests_ * sizeof(abi::Test) + base_ * sizeof(abi::Skip);
      if (!predicate_.read(skip + offsetof(abi::Skip, offset), offset) ||
          !predicate_.read(skip + offsetof(abi::Skip, element), element))
        return false;
      at_ += offset;
      uint16_t count = 0;
      if (element == 0) {
        const size_t end = end_of_text(at_);
        if (end == SIZE_MAX) return false;
        at_ = end + 1;
      } else if (fields_.read(at_, count)) {
        at_ += sizeof count + size_t{count} * element;
      } else {
        return false;
      }
    }
    return true;
  }

  bool relate(const abi::Test& test, uint8_t& relation) const {
    switch (test.load) {
      case abi::Load::U8:
        return relate_integers<uint8_t, uint64_t>(test, relation);
      case abi::Load::U16:
        return relate_integers<uint16_t, uint64_t>(test, relation);
      case abi::Load::U32:
        return relate_integers<uint32_t, uint64_t>(test, relation);
      case abi::Load::U64:
        return relate_integers<uint64_t, uint64_t>(test, relation);
      case abi::Load::S8:
        return relate_integers<int8_t, int64_t>(test, relation);
      case abi::Load::S16:
        return relate_integers<int16_t, int64_t>(test, relation);
      case abi::Load::S32:
        return relate_integers<int32_t, int64_t>(test, relation);
      case abi::Load::S64:
        return relate_integers<int64_t, int64_t>(test, relation);
      case abi::Load::F32:
        return relate_floats<float>(test, relation);
      case abi::Load::F64:
        return relate_floats<double>(test, relation);
      case abi::Load::Text:
        return relate_texts(test, relation);
      case abi::Load::Duration:
        if (duration_ != nullptr) relation = relation_of(*duration_, test.value);
        return duration_ != nullptr;
    }
    return false;
  }

  template <typename T>
  static uint8_t order(T value, T with) {
    if (value < with) return abi::kLess;
    if (value > with) return abi::kGreater;
    return value == with ? abi::kEqual : abi::kUnordered;
  }

  template <typename Wide>
  static uint8_t relation_of(Wide value, Wide with) {
    return static_cast<uint8_t>(order(value, with) | ((value & with) != 0 ? abi::kCommonBits : 0));
  }

  template <typename Stored, typename Wide>
  bool relate_integers(const abi::Test& test, uint8_t& relation) const {
    Stored stored;
    if (!fields_.read(at_ + test.offset, stored)) return false;
    relation = relation_of(static_cast<Wide>(stored), static_cast<Wide>(test.value));
    return true;
  }

  template <typename Stored>
  bool relate_floats(const abi::Test& test, uint8_t& relation) const {
    Stored stored;
    if (!fields_.read(at_ + test.offset, stored)) return false;
    relation = order(static_cast<double>(stored), __builtin_bit_cast(double, test.value));
    return true;
  }

  bool relate_texts(const abi::Test& test, uint8_t& relation) const {
    const size_t at = at_ + test.offset;
    const size_t end = end_of_text(at);
    const auto begin = static_cast<uint32_t>(test.value);
    const auto length = static_cast<uint32_t>(test.value >> 32);
    if (end == SIZE_MAX || begin > predicate_.size || length > predicate_.size - begin)
      return false;
    const Characters text = fields_.characters(at, end - at);
    const Characters with = predicate_.characters(begin, length);
    if ((test.accepts & abi::kMatches) != 0) {
      relation = glob_matches(with, text) ? abi::kMatches : 0;
    } else {
      const bool same = end - at == length && __builtin_memcmp(text.begin, with.begin, length) == 0;
      relation = same ? abi::kEqual : abi::kUnordered;
    }
    return true;
  }

  View predicate_;
  View fields_;
  const uint64_t* duration_;
  uint8_t next_ = abi::kPass;
  uint8_t tests_ = 0;
  uint16_t skips_ = 0;
  uint32_t base_ = 0;
  size_t at_ = 0;  // where the base is
};

// `duration`: of the span that the record is of, where it is known.
inline bool passes(View predicate, View fields, const uint64_t* duration = nullptr) {
  return PredicateRun(predicate, fields, duration).passes();
}

}  // namespace strata::probe
