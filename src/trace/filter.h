// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/event.h"
#include "trace/task_names.h"

namespace strata::trace {

// A condition on events in the one grammar of all commands (docs/filter.md), of which the kernel's
// own filter syntax is a subset:
//
//     prev_comm ~ "mysql*" and next_pid != 0
//
// Parsed once; resolved to offsets once per event type, at its first event; then evaluated without
// allocation. An event that lacks a field that a comparison names does not fulfil that comparison.
// Not for several threads at once.
class Filter {
 public:
  // Error::offset is the column of `text`, from 0, where it stops making sense.
  static Result<Filter> parse(std::string_view text);

  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  bool matches(const Event& event, const TaskNames& names) const;

  // No event of this type can match.
  bool rejects(const EventType& type) const;

  // The fields it names that neither are in any of `types` nor are told of every event: most
  // likely misspelt.
  std::vector<std::string> unknown_fields(const std::vector<const EventType*>& types) const;

 private:
  struct State;
  explicit Filter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace strata::trace
