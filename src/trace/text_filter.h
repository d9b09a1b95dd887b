// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/filter_parser.h"

namespace strata::trace {

// A condition in the grammar of all commands (docs/filter.md) on what has named texts and is no
// event: a row of statistics, say. Numbers are compared as numbers where the text is one. What has
// no such text does not fulfil the comparison.
class TextFilter {
 public:
  // Error::offset is the column of `text`, from 0, where it stops making sense.
  static Result<TextFilter> parse(std::string_view text);

  using Lookup = std::function<std::optional<std::string_view>(std::string_view field)>;
  bool matches(const Lookup& value_of) const { return fulfils(tree_.root, value_of); }

  // The names in it.
  std::vector<std::string> fields() const;

 private:
  explicit TextFilter(FilterTree tree) : tree_(std::move(tree)) {}
  bool fulfils(const FilterNode& node, const Lookup& value_of) const;

  FilterTree tree_;
};

}  // namespace strata::trace
