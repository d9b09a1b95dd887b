// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "trace/filter_parser.h"

namespace strata::trace {

// A filter as tests, each of which leads on to another one or to the verdict: what a tree becomes
// before it is evaluated, whatever it is evaluated on.
//
// `write(term, if_true, if_false)` writes the test of a term that leads to one or the other, and
// gives where it stands; where its outcome is certain, it writes nothing and gives one of the two.
// What comes later is written first, so that what a test leads to is there before it. Gives where
// to begin.
template <typename Write>
uint32_t write_tests(const FilterTree& tree, const FilterNode& node, uint32_t if_true,
                     uint32_t if_false, const Write& write) {
  switch (node.kind) {
    case FilterNode::Kind::Term:
      return write(tree.terms[node.term], if_true, if_false);
    case FilterNode::Kind::Not:
      return write_tests(tree, node.children[0], if_false, if_true, write);
    case FilterNode::Kind::And: {
      uint32_t next = if_true;
      for (size_t i = node.children.size(); i-- > 0;)
        next = write_tests(tree, node.children[i], next, if_false, write);
      return next;
    }
    case FilterNode::Kind::Or: {
      uint32_t next = if_false;
      for (size_t i = node.children.size(); i-- > 0;)
        next = write_tests(tree, node.children[i], if_true, next, write);
      return next;
    }
  }
  return if_false;
}

template <typename Write>
uint32_t write_tests(const FilterTree& tree, uint32_t if_true, uint32_t if_false,
                     const Write& write) {
  return write_tests(tree, tree.root, if_true, if_false, write);
}

// Texts are the same, or others, or like a pattern; nothing else.
inline bool compare_text(std::string_view value, const FilterTerm& term) {
  switch (term.comparison) {
    case Comparison::Equal:
      return value == term.text;
    case Comparison::NotEqual:
      return value != term.text;
    case Comparison::Like:
      return term.glob->matches(value);
    default:
      return false;
  }
}

// A number that no field of this kind can have decides a comparison for all events.
inline std::optional<bool> certain_outcome(const FilterTerm& term, bool is_signed) {
  if (term.comparison == Comparison::Bits) return std::nullopt;
  const bool above = is_signed && !term.number->negative &&
                     term.number->bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const bool below = !is_signed && term.number->negative;
  if (!above && !below) return std::nullopt;
  switch (term.comparison) {
    case Comparison::NotEqual:
      return true;
    case Comparison::Less:
    case Comparison::LessEqual:
      return above;
    case Comparison::Greater:
    case Comparison::GreaterEqual:
      return below;
    default:
      return false;
  }
}

}  // namespace strata::trace
