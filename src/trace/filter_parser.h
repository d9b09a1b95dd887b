// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"
#include "base/result.h"

namespace strata::trace {

enum class Comparison : uint8_t {
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Bits,
  Like
};

// A number as it was written: every int64_t and every uint64_t.
struct FilterNumber {
  uint64_t bits = 0;
  bool negative = false;  // then `bits` is an int64_t
};

// field, comparison, value: what a filter is made of.
struct FilterTerm {
  std::string field;
  size_t column = 0;  // of the field's name
  Comparison comparison = Comparison::Equal;
  std::string text;                    // the value as it was written, quotes undone
  std::optional<FilterNumber> number;  // the value where it can be read as an integer
  std::optional<double> real;          // the value where it can be read as a number of any kind
  std::optional<Glob> glob;            // of Like
  std::vector<uint64_t> cpus;          // of CPUS{...}: bit n of word n/64
  bool is_cpus = false;
};

// The tree of a filter. Its depth is bounded by the parser, so that walking it may recurse.
struct FilterNode {
  enum class Kind : uint8_t { Term, And, Or, Not };
  Kind kind = Kind::Term;
  uint32_t term = 0;                 // of Term: which
  std::vector<FilterNode> children;  // of the others: two or more, or one of Not
};

struct FilterTree {
  std::vector<FilterTerm> terms;
  FilterNode root;
};

// Whether "=" may stand for "==", and 10M for ten million. Not in what the kernel is to evaluate.
enum class Equals : uint8_t { DoubleOnly, SingleToo };

// Error::offset is the column, from 0.
Result<FilterTree> parse_filter(std::string_view text, Equals equals = Equals::DoubleOnly);

}  // namespace strata::trace
