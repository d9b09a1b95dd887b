// SPDX-License-Identifier: Apache-2.0
#include "record/session_change.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernel/process_choice.h"

namespace strata::record {
namespace {

using Json = ControlSocket::Json;

// Throws, as nlohmann-json does, where it is none.
pid_t process_number(const Json& json) {
  const int64_t number = json.is_number_integer() ? json.get<int64_t>() : 0;
  if (number <= 0 || number > std::numeric_limits<pid_t>::max())
    throw std::invalid_argument("a process has a number above 0");
  return static_cast<pid_t>(number);
}

// Of what is recorded now.
Result<std::vector<kernel::EventChoice>> choose_enabled(const KernelEvents& events,
                                                        const std::vector<std::string>& patterns) {
  std::string names;
  for (const kernel::EventChoice& event : events.enabled()) names += event.full_name() + "\n";
  const kernel::EventCatalog catalog(names, "", "");
  kernel::EventCatalog::Marks marks = catalog.none();
  for (const std::string& pattern : patterns) {
    if (!catalog.mark(trace::EventPattern(pattern), marks))
      return Error{"", std::nullopt, "no event that is recorded matches '" + pattern + "'"};
  }
  return catalog.choices(marks);
}

Result<std::vector<pid_t>> threads_of(const std::vector<pid_t>& processes) {
  std::vector<pid_t> all;
  for (const pid_t process : processes) {
    const Result<std::vector<pid_t>> threads = kernel::threads_of(process);
    if (!threads) return threads.error();
    all.insert(all.end(), threads->begin(), threads->end());
  }
  return all;
}

Result<KernelChange> resolve(const SessionChange& change, const kernel::Tracefs& tracefs,
                             const KernelEvents& events) {
  KernelChange wanted;
  if (!change.enable.empty()) {
    const Result<kernel::EventCatalog> catalog = kernel::EventCatalog::read(tracefs);
    if (!catalog) return catalog.error();
    auto chosen = choose(*catalog, kernel::Profiles::built_in(), {}, change.enable, {});
    if (!chosen) return std::move(chosen).error();
    wanted.enable = *std::move(chosen);
  }
  auto unwanted = choose_enabled(events, change.disable);
  if (!unwanted) return std::move(unwanted).error();
  wanted.disable = *std::move(unwanted);
  std::erase_if(wanted.disable, [&](const kernel::EventChoice& event) {
    return std::ranges::find(wanted.enable, event.full_name(), &kernel::EventChoice::full_name) !=
           wanted.enable.end();
  });
  if (change.processes) {
    Result<std::vector<pid_t>> threads = threads_of(*change.processes);
    if (!threads) return std::move(threads).error();
    wanted.processes = *std::move(threads);
  }
  return wanted;
}

std::string count_of(const std::vector<kernel::EventChoice>& events) {
  return " (" + std::to_string(events.size()) + (events.size() == 1 ? " event)" : " events)");
}

std::string text_of(const SessionChange& change, const KernelChange& done) {
  std::vector<std::string> sentences;
  if (!change.enable.empty()) {
    std::string& text = sentences.emplace_back("enabled");
    for (const EventWish& wish : change.enable) {
      text += (&wish == &change.enable.front() ? " " : ", ") + wish.pattern;
      for (const std::string& filter : wish.filters) text += " if " + filter;
    }
    text += count_of(done.enable);
  }
  if (!change.disable.empty()) {
    std::string& text = sentences.emplace_back("disabled");
    for (const std::string& pattern : change.disable)
      text += (&pattern == &change.disable.front() ? " " : ", ") + pattern;
    text += count_of(done.disable);
  }
  if (change.processes && change.processes->empty()) sentences.emplace_back("all processes");
  if (change.processes && !change.processes->empty()) {
    std::string& text = sentences.emplace_back("only processes");
    for (const pid_t process : *change.processes) text += " " + std::to_string(process);
  }
  std::string all;
  for (const std::string& sentence : sentences) all += (all.empty() ? "" : "; ") + sentence;
  return all;
}

}  // namespace

Json to_json(const SessionChange& change) {
  Json json = {{"do", "change"}, {"enable", Json::array()}, {"disable", change.disable}};
  for (const EventWish& wish : change.enable)
    json["enable"].push_back({{"events", wish.pattern}, {"filters", wish.filters}});
  if (change.processes) json["processes"] = *change.processes;
  return json;
}

Result<SessionChange> parse_change(const Json& question) {
  try {
    SessionChange change;
    for (const Json& wish : question.value("enable", Json::array()))
      change.enable.push_back({wish.at("events"), wish.value("filters", Json::array())});
    question.value("disable", Json::array()).get_to(change.disable);
    if (const auto processes = question.find("processes"); processes != question.end()) {
      change.processes.emplace();
      for (const Json& process : *processes) change.processes->push_back(process_number(process));
    }
    if (change == SessionChange{}) return Error{"", std::nullopt, "nothing is to be changed"};
    return change;
  } catch (const std::exception& error) {
    return Error{"", std::nullopt, error.what()};
  }
}

Result<AppChange> take_probes(SessionChange& change, const AppRequest& programs,
                              const KernelEvents* events) {
  AppChange probes;
  for (const EventWish& wish : change.enable) {
    if (!chooses_any(trace::EventPattern(wish.pattern), programs.all)) continue;
    if (!wish.filters.empty())
      return Error{"", std::nullopt,
                   "'" + wish.pattern + "' is a probe of a program, for which there is no -F"};
    probes.enable.push_back(wish.pattern);
  }
  std::erase_if(change.enable, [&](const EventWish& wish) {
    return std::ranges::find(probes.enable, wish.pattern) != probes.enable.end();
  });
  std::erase_if(change.disable, [&](const std::string& pattern) {
    if (!chooses_any(trace::EventPattern(pattern), programs.files)) return false;
    probes.disable.push_back(pattern);
    return events == nullptr || !choose_enabled(*events, {pattern});
  });
  return probes;
}

std::string text_of(const AppChange& change) {
  std::string text;
  const auto add = [&](const char* verb, const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns)
      text += (&pattern != &patterns.front() ? ", "
               : text.empty()                ? std::string(verb) + " "
                                             : "; " + std::string(verb) + " ") +
              pattern;
    if (!patterns.empty()) text += " of programs";
  };
  add("enabled", change.enable);
  add("disabled", change.disable);
  return text;
}

Result<std::string> apply(const SessionChange& change, const kernel::Tracefs& tracefs,
                          KernelEvents& events, const std::string& head) {
  const Result<KernelChange> wanted = resolve(change, tracefs, events);
  if (!wanted) return wanted.error();
  if (!wanted->enable.empty()) {
    events.explain(wanted->enable);
    if (!head.empty()) {
      if (Status status = events.write_head(head); !status) return std::move(status).error();
    }
  }
  if (Status status = events.change(*wanted); !status) return std::move(status).error();
  return text_of(change, *wanted);
}

}  // namespace strata::record
