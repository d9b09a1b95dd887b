// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "history/interval.h"

namespace strata::history {

// A state and its info, in one number: they are compared for every interval.
class Meaning {
 public:
  Meaning() = default;
  Meaning(State state, uint32_t info) : packed_(uint64_t{info} << kStateBits | state) {}

  State state() const { return static_cast<State>(packed_ % kStates); }
  uint32_t info() const { return static_cast<uint32_t>(packed_ >> kStateBits); }
  uint64_t packed() const { return packed_; }

  bool operator==(const Meaning&) const = default;

 private:
  uint64_t packed_ = 0;
};

// What the bytes of a block's tokens mean: a table of what came lately, in which each meaning has
// two places. One that is in neither is told in full (kNew), and then put into the first; what was
// there moves to the second. So the table needs no room in the file, rare meanings cost what they
// take, and there may be any number of them.
class TokenTable {
 public:
  static constexpr uint8_t kNew = 255;

  // kNew: it is to be told, and is here from now on.
  uint8_t find(Meaning meaning) {
    const uint8_t place = place_of(meaning);
    if (meanings_[place] == meaning) [[likely]]
      return place;
    if (meanings_[place ^ 1] == meaning) return place ^ 1;
    add(meaning, place);
    return kNew;
  }
  void add(Meaning meaning) { add(meaning, place_of(meaning)); }
  Meaning operator[](uint8_t token) const { return meanings_[token]; }

 private:
  static constexpr unsigned kPlaces = 254;  // even, and kNew is none of them

  static uint8_t place_of(Meaning meaning) {
    const uint32_t mixed = static_cast<uint32_t>(meaning.packed()) * 0x9e3779b1u;
    return static_cast<uint8_t>(uint64_t{mixed} * kPlaces >> 32);
  }
  void add(Meaning meaning, uint8_t place) {
    meanings_[place ^ 1] = meanings_[place];
    meanings_[place] = meaning;
  }

  std::array<Meaning, 256> meanings_ = {};
};

}  // namespace strata::history
