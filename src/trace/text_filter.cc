// SPDX-License-Identifier: Apache-2.0
#include "trace/text_filter.h"

#include <algorithm>
#include <charconv>

#include "trace/filter_tests.h"

namespace strata::trace {
namespace {

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool compare(std::string_view value, const FilterTerm& term) {
  if (term.is_cpus) return false;
  const std::optional<double> number = number_of(value);
  if (!number || !term.real) return compare_text(value, term);
  switch (term.comparison) {
    case Comparison::Less:
      return *number < *term.real;
    case Comparison::LessEqual:
      return *number <= *term.real;
    case Comparison::Greater:
      return *number > *term.real;
    case Comparison::GreaterEqual:
      return *number >= *term.real;
    default:
      return compare_text(value, term);
  }
}

}  // namespace

Result<TextFilter> TextFilter::parse(std::string_view text) {
  Result<FilterTree> tree = parse_filter(text, Equals::SingleToo);
  if (!tree) return std::move(tree).error();
  return TextFilter(*std::move(tree));
}

std::vector<std::string> TextFilter::fields() const {
  std::vector<std::string> names;
  for (const FilterTerm& term : tree_.terms) names.push_back(term.field);
  return names;
}

bool TextFilter::fulfils(const FilterNode& node, const Lookup& value_of) const {
  const auto holds = [&](const FilterNode& child) { return fulfils(child, value_of); };
  switch (node.kind) {
    case FilterNode::Kind::Term: {
      const FilterTerm& term = tree_.terms[node.term];
      const std::optional<std::string_view> value = value_of(term.field);
      return value && compare(*value, term);
    }
    case FilterNode::Kind::Not:
      return !holds(node.children[0]);
    case FilterNode::Kind::And:
      return std::ranges::all_of(node.children, holds);
    case FilterNode::Kind::Or:
      return std::ranges::any_of(node.children, holds);
  }
  return false;
}

}  // namespace strata::trace
