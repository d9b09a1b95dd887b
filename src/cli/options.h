// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"

namespace strata::cli {

// Options that several commands have, and the groups that --help shows commands in.

inline const char* const kRecord = "Record";
inline const char* const kLook = "Look";
inline const char* const kAsk = "Ask";
inline const char* const kChange = "Change";

inline void add_json(CLI::App& command, bool& json, const char* what) {
  command.add_flag("--json", json, what);
}

// An option that is one of a few words.
template <typename T>
CLI::Option* add_choice(CLI::App& command, const char* name, T& value,
                        std::vector<std::pair<std::string, T>> choices, const char* help) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.push_back(choice.first);
  return command
      .add_option_function<std::string>(
          name,
          [&value, choices](const std::string& given) {
            for (const auto& [word, meaning] : choices)
              if (word == given) value = meaning;
          },
          help)
      ->check(CLI::IsMember(words).description(""));
}

inline void add_packing(CLI::App& command, Packing& packing) {
  add_choice<Packing>(command, "--compression", packing,
                      {{"none", Packing::None}, {"zstd", Packing::Zstd}}, "none or zstd (default)")
      ->type_name("HOW");
}

inline void add_period(CLI::App& command, std::string& begin, std::string& end) {
  command.add_option("--begin", begin, "From this time on")->type_name("TIME");
  command.add_option("--end", end, "Up to this time, which is included")->type_name("TIME");
}

// An option that may be given several times, with one value each time: it must not take the paths
// that follow.
template <typename T>
CLI::Option* add_repeated(CLI::App& command, const char* names, std::vector<T>& values,
                          const char* help) {
  return command.add_option(names, values, help)->allow_extra_args(false);
}

// -e and -F, of which each belongs to what was given before it.
class Conditions {
 public:
  void add_to(CLI::App& command, const char* filter_help, const char* event = "-e",
              const char* event_help =
                  "Only these events (globs; a bare word is a system or an event);\n"
                  "repeatable") {
    command_ = &command;
    event_ = add_repeated(command, event, events_, event_help)->type_name("[SYSTEM:]EVENT");
    filter_ = add_repeated(command, "-F", filters_, filter_help)->type_name("EXPR");
  }

  // CLI11 keeps the values of each option by itself, and the order of the options; but for those of
  // a file, which has no order: its filters are for all.
  std::vector<EventOrFilter> in_order() const {
    std::vector<EventOrFilter> all;
    size_t e = 0;
    size_t f = 0;
    const auto given = [&](const CLI::Option* option) {
      return std::ranges::find(command_->parse_order(), option) != command_->parse_order().end();
    };
    while (!given(filter_) && f < filters_.size()) all.push_back({true, filters_[f++]});
    while (!given(event_) && e < events_.size()) all.push_back({false, events_[e++]});
    for (const CLI::Option* option : command_->parse_order()) {
      if (option == event_ && e < events_.size()) all.push_back({false, events_[e++]});
      if (option == filter_ && f < filters_.size()) all.push_back({true, filters_[f++]});
    }
    return all;
  }

 private:
  const CLI::App* command_ = nullptr;
  const CLI::Option* event_ = nullptr;
  const CLI::Option* filter_ = nullptr;
  std::vector<std::string> events_;
  std::vector<std::string> filters_;
};

}  // namespace strata::cli
