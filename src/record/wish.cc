// SPDX-License-Identifier: Apache-2.0
#include "record/wish.h"

#include "kernel/process_choice.h"
#include "record/thread_counters.h"

namespace strata::record {
namespace {

Status choose_kernel_events(const Wish& wish, const std::vector<std::string>& profile_names,
                            const std::vector<EventWish>& wishes, SessionRequest& request) {
  const Result<kernel::Tracefs> tracefs = kernel::Tracefs::find();
  if (!tracefs) return tracefs.error();
  const Result<kernel::EventCatalog> catalog = kernel::EventCatalog::read(*tracefs);
  if (!catalog) return catalog.error();
  kernel::Profiles profiles = kernel::Profiles::built_in();
  if (Status status = profiles.add_text(wish.profiles_text, wish.profiles_file); !status)
    return status;
  Result<std::vector<kernel::EventChoice>> events =
      choose(*catalog, profiles, profile_names, wishes, wish.filters);
  if (!events) return std::move(events).error();
  request.events = *std::move(events);
  request.app.ordered_clock = !request.events.empty();
  return {};
}

Status choose_events(const Wish& wish, SessionRequest& request) {
  std::vector<EventWish> wishes = wish.events;
  Result<AppRequest> app = choose_probes(wish.apps, wishes, wish.filters);
  if (!app) return std::move(app).error();
  const Result<uint32_t> contexts = parse_contexts(wish.contexts);
  if (!contexts) return contexts.error();
  if (Status status = check_thread_counters(*contexts); !status) return status;
  app->contexts = *contexts;
  app->buffer_bytes = wish.buffer_bytes;
  app->policy = wish.policy;
  app->wait = wish.wait;
  request.app = *std::move(app);
  std::vector<std::string> names = wish.profiles;
  // Who asks for something in particular gets that alone.
  const bool asked = !wishes.empty() || !wish.uprobes.empty() || !wish.usdts.empty() ||
                     !wish.kprobes.empty() || !wish.presets.empty() || !request.app.empty();
  if (names.empty() && !asked) names.emplace_back(kernel::kDefaultProfile);
  if (names.empty() && wishes.empty()) return {};
  return choose_kernel_events(wish, names, wishes, request);
}

// "PLACE ARGUMENTS": the place has no blanks.
template <typename Parse>
Status add_probes(const std::vector<std::string>& texts, Parse parse, const char* option,
                  SessionRequest& request) {
  for (const std::string& text : texts) {
    const size_t blank = text.find(' ');
    Result<kernel::ProbeSpec> spec = parse(text.substr(0, blank));
    Status arguments;
    if (spec && blank != std::string::npos)
      arguments = kernel::add_arguments(*spec, text.substr(blank + 1));
    if (!spec || !arguments) {
      const Error& error = spec ? arguments.error() : spec.error();
      const uint64_t column = error.offset.value_or(0) + (spec ? blank + 1 : 0);
      return error_at_column(option, text, column, error.cause);
    }
    request.probes.push_back(*std::move(spec));
  }
  return {};
}

Status place_probes(const Wish& wish, SessionRequest& request) {
  if (Status status = add_probes(wish.uprobes, kernel::parse_uprobe, "--uprobe", request); !status)
    return status;
  if (Status status = add_probes(wish.usdts, kernel::parse_usdt, "--usdt", request); !status)
    return status;
  return add_probes(wish.kprobes, kernel::parse_kprobe, "--kprobe", request);
}

Status choose_processes(const Wish& wish, SessionRequest& request) {
  const auto add = [&](Result<std::vector<pid_t>> threads) -> Status {
    if (!threads) return std::move(threads).error();
    request.processes.insert(request.processes.end(), threads->begin(), threads->end());
    return {};
  };
  for (const int32_t pid : wish.processes) {
    if (Status status = add(kernel::threads_of(pid)); !status) return status;
  }
  if (!request.wants_kernel() &&
      !(wish.processes.empty() && wish.cgroup.empty() && wish.container.empty()))
    return Error{"", std::nullopt,
                 "-p, --cgroup and --container choose among the kernel's events, and none is "
                 "asked for; --app takes the number of a process"};
  std::string cgroup = wish.cgroup;
  if (!wish.container.empty()) {
    Result<std::string> found = kernel::cgroup_of_container(wish.container);
    if (!found) return std::move(found).error();
    cgroup = *std::move(found);
  }
  if (cgroup.empty()) return {};
  return add(kernel::threads_in_cgroup(cgroup));
}

}  // namespace

Status resolve(const Wish& wish, SessionRequest& request) {
  request.presets = wish.presets;
  request.counters = wish.counters;
  request.read_at = wish.read_at;
  request.state = wish.state;
  request.clock = wish.clock;
  request.buffer_bytes = wish.buffer_bytes;
  request.sync = wish.sync;
  for (const auto& choose : {choose_events, place_probes, choose_processes}) {
    if (Status status = choose(wish, request); !status) return status;
  }
  return {};
}

}  // namespace strata::record
