// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/size.h"
#include "cli/terminal.h"
#include "kernel/process_choice.h"
#include "record/event_choice.h"
#include "record/registry.h"
#include "record/session.h"
#include "record/thread_counters.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string default_folder() {
  const time_t now = time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  char name[64];
  strftime(name, sizeof name, "strata-%Y%m%d-%H%M%S", &local);
  return name;
}

// What a session may be called, made from its folder's name.
std::string name_of(const std::string& folder) {
  std::string name = std::filesystem::path(folder).filename();
  if (name.empty()) name = std::filesystem::path(folder).parent_path().filename();
  for (char& c : name) {
    if (!record::is_session_name("a" + std::string(1, c))) c = '_';
  }
  if (!record::is_session_name(name)) name = "s" + name.substr(0, 60);
  return name;
}

// What can only be had from a recording that is written as it grows, or only from a flight.
Status check_flight(const RecordArguments& arguments) {
  const auto fail = [](const std::string& cause) { return Error{"", std::nullopt, cause}; };
  if (!arguments.flight && !arguments.snapshot_on.empty())
    return fail("--snapshot-on is for a flight: --flight");
  if (arguments.snapshot_on.empty() && !arguments.after.empty())
    return fail("--after says how long to go on after --snapshot-on, which is not given");
  if (arguments.flight && !arguments.counters.empty())
    return fail("--counters are written as they come, and --flight writes nothing");
  if (arguments.apps.empty() && !arguments.contexts.empty())
    return fail("--context is what the events of --app tell besides, and none is given");
  return {};
}

// For tests: what a kernel with less to offer would do.
Result<std::optional<record::FlightWay>> forced_way() {
  const char* forced = getenv("STRATA_FLIGHT_WAY");
  if (forced == nullptr) return std::optional<record::FlightWay>();
  using enum record::FlightWay;
  for (const record::FlightWay way : {Mapped, Swapped, Stopped}) {
    if (record::name_of(way) == forced) return std::optional(way);
  }
  return Error{"", std::nullopt, "STRATA_FLIGHT_WAY is mapped, swapped or stopped"};
}

// An error that points to its place in what was said.
Error at_column(const char* option, const std::string& text, uint64_t column, const Error& error) {
  return {"", std::nullopt,
          std::string(option) + ": in column " + std::to_string(column + 1) + ": " + error.cause +
              "\n  " + text + "\n  " + std::string(column, ' ') + "^"};
}

Status plan_flight(const RecordArguments& arguments, record::SessionRequest& request) {
  if (Status status = check_flight(arguments); !status) return status;
  if (!arguments.flight) return {};
  record::FlightRequest flight;
  for (const std::string& text : arguments.snapshot_on) {
    Result<kernel::TriggerSpec> spec = kernel::parse_trigger(text);
    if (!spec)
      return at_column("--snapshot-on", text, spec.error().offset.value_or(0), spec.error());
    flight.snapshot_on.push_back(*std::move(spec));
  }
  if (!arguments.after.empty()) {
    const Result<Nanoseconds> after = parse_duration(arguments.after);
    if (!after) return after.error();
    flight.after = std::chrono::nanoseconds(after->count);
  }
  const Result<std::optional<record::FlightWay>> way = forced_way();
  if (!way) return way.error();
  flight.way = *way;
  request.flight = std::move(flight);
  return {};
}

// "discard", "block", "block=10ms"; and what a flight does in any case.
Status plan_full_rings(const RecordArguments& arguments, record::AppRequest& request) {
  using probe::abi::Policy;
  constexpr auto kDefaultWait = std::chrono::seconds(1);
  constexpr auto kLongestWait = std::chrono::hours(1);
  const auto fail = [](const std::string& cause) { return Error{"", std::nullopt, cause}; };
  if (arguments.flight) request.policy = Policy::Overwrite;
  const std::string& text = arguments.when_full;
  if (text.empty()) return {};
  if (arguments.flight) return fail("--when-full: in a flight the oldest events are overwritten");
  if (arguments.apps.empty()) return fail("--when-full is for the probes of --app");
  if (text == "discard") return {};
  constexpr std::string_view kBlock = "block";
  const bool has_time = text.starts_with(std::string(kBlock) + "=");
  if (text != kBlock && !has_time)
    return fail("--when-full is discard, block or block=TIME, not '" + text + "'");
  request.policy = Policy::Block;
  request.wait = kDefaultWait;
  if (!has_time) return {};
  const Result<Nanoseconds> wait = parse_duration(text.substr(kBlock.size() + 1));
  if (!wait) return wait.error();
  request.wait = std::chrono::microseconds(wait->count / 1000);
  if (request.wait <= request.wait.zero() || request.wait > kLongestWait)
    return fail("--when-full: a program waits for a time between 1us and 1h");
  return {};
}

// What was said, as a request; an error that is the user's.
Result<record::SessionRequest> request_of(const RecordArguments& arguments) {
  record::SessionRequest request;
  const std::string folder = arguments.output.empty() ? default_folder() : arguments.output;
  request.folder = std::filesystem::absolute(folder).lexically_normal().string();
  if (request.folder.size() > 1 && request.folder.ends_with('/')) request.folder.pop_back();
  request.name = arguments.name.empty() ? name_of(request.folder) : arguments.name;
  if (!record::is_session_name(request.name))
    return Error{"", std::nullopt,
                 "'" + request.name + "' is no name for a session: letters, digits, '-', '_', '.'"};
  request.clock = arguments.clock;
  request.compressed = arguments.packing == Packing::Zstd;
  request.compressed_live = arguments.compress == CompressWhen::Live;
  if (request.compressed_live && !request.compressed)
    return Error{"", std::nullopt, "--compress live, but --compression none"};
  request.command = arguments.command;
  request.asked = arguments.asked;
  request.presets = arguments.presets;
  request.counters = arguments.counters;
  request.read_at = arguments.read_at;
  if (!request.read_at.empty() && request.counters.empty())
    return Error{"", std::nullopt,
                 "--read-at says when to read counters, but --counters names none"};
  request.state = !arguments.no_state;
  if (!arguments.buffer_size.empty()) {
    const Result<uint64_t> size = parse_size(arguments.buffer_size);
    if (!size) return size.error();
    request.buffer_bytes = *size;
  }
  if (!arguments.duration.empty()) {
    const Result<Nanoseconds> duration = parse_duration(arguments.duration);
    if (!duration) return duration.error();
    request.duration = std::chrono::nanoseconds(duration->count);
  }
  if (!arguments.keep.empty()) {
    const Result<Nanoseconds> keep = parse_duration(arguments.keep);
    if (!keep) return keep.error();
    request.keep.time = std::chrono::nanoseconds(keep->count);
  }
  if (!arguments.max_size.empty()) {
    const Result<uint64_t> size = parse_size(arguments.max_size);
    if (!size) return size.error();
    request.keep.bytes = *size;
  }
  if (!arguments.sync.empty()) {
    const Result<Nanoseconds> sync = parse_duration(arguments.sync);
    if (!sync) return sync.error();
    request.sync = std::max(std::chrono::milliseconds(sync->count / 1'000'000),
                            std::chrono::milliseconds(100));
  }
  if (Status status = plan_flight(arguments, request); !status) return std::move(status).error();
  if (Status status = plan_full_rings(arguments, request.app); !status)
    return std::move(status).error();
  return request;
}

Status choose_kernel_events(const RecordArguments& arguments, const std::vector<std::string>& names,
                            const std::vector<record::EventWish>& wishes,
                            const std::vector<std::string>& for_all,
                            record::SessionRequest& request) {
  const Result<kernel::Tracefs> tracefs = kernel::Tracefs::find();
  if (!tracefs) return tracefs.error();
  const Result<kernel::EventCatalog> catalog = kernel::EventCatalog::read(*tracefs);
  if (!catalog) return catalog.error();
  kernel::Profiles profiles = kernel::Profiles::built_in();
  if (!arguments.profiles_file.empty()) {
    if (Status status = profiles.add_file(arguments.profiles_file); !status) return status;
  }
  Result<std::vector<kernel::EventChoice>> events =
      record::choose(*catalog, profiles, names, wishes, for_all);
  if (!events) return std::move(events).error();
  request.events = *std::move(events);
  request.app.ordered_clock = !request.events.empty();
  return {};
}

Status choose_events(const RecordArguments& arguments, record::SessionRequest& request) {
  std::vector<record::EventWish> wishes;
  std::vector<std::string> for_all;
  for (const EventOrFilter& condition : arguments.conditions) {
    if (!condition.is_filter)
      wishes.push_back({condition.text, {}});
    else
      (wishes.empty() ? for_all : wishes.back().filters).push_back(condition.text);
  }
  Result<record::AppRequest> app = record::choose_probes(arguments.apps, wishes, for_all);
  if (!app) return std::move(app).error();
  const Result<uint32_t> contexts = record::parse_contexts(arguments.contexts);
  if (!contexts) return contexts.error();
  if (Status status = record::check_thread_counters(*contexts); !status) return status;
  app->contexts = *contexts;
  app->buffer_bytes = request.buffer_bytes;
  app->policy = request.app.policy;
  app->wait = request.app.wait;
  request.app = *std::move(app);
  std::vector<std::string> names = arguments.profiles;
  // Who asks for something in particular gets that alone.
  const bool asked = !wishes.empty() || !arguments.uprobes.empty() || !arguments.usdts.empty() ||
                     !arguments.kprobes.empty() || !arguments.presets.empty() ||
                     !request.app.empty();
  if (names.empty() && !asked) names.emplace_back(kernel::kDefaultProfile);
  if (!names.empty() || !wishes.empty())
    return choose_kernel_events(arguments, names, wishes, for_all, request);
  return {};
}

// "PLACE ARGUMENTS": the place has no blanks.
template <typename Parse>
Status add_probes(const std::vector<std::string>& texts, Parse parse, const char* option,
                  record::SessionRequest& request) {
  for (const std::string& text : texts) {
    const size_t blank = text.find(' ');
    Result<kernel::ProbeSpec> spec = parse(text.substr(0, blank));
    Status arguments;
    if (spec && blank != std::string::npos)
      arguments = kernel::add_arguments(*spec, text.substr(blank + 1));
    if (!spec || !arguments) {
      const Error& error = spec ? arguments.error() : spec.error();
      const uint64_t column = error.offset.value_or(0) + (spec ? blank + 1 : 0);
      return at_column(option, text, column, error);
    }
    request.probes.push_back(*std::move(spec));
  }
  return {};
}

Status choose_probes(const RecordArguments& arguments, record::SessionRequest& request) {
  if (Status status = add_probes(arguments.uprobes, kernel::parse_uprobe, "--uprobe", request);
      !status)
    return status;
  if (Status status = add_probes(arguments.usdts, kernel::parse_usdt, "--usdt", request); !status)
    return status;
  return add_probes(arguments.kprobes, kernel::parse_kprobe, "--kprobe", request);
}

Status choose_processes(const RecordArguments& arguments, record::SessionRequest& request) {
  const auto add = [&](Result<std::vector<pid_t>> threads) -> Status {
    if (!threads) return std::move(threads).error();
    request.processes.insert(request.processes.end(), threads->begin(), threads->end());
    return {};
  };
  for (const int32_t pid : arguments.pids) {
    if (Status status = add(kernel::threads_of(pid)); !status) return status;
  }
  if (!request.wants_kernel() &&
      !(arguments.pids.empty() && arguments.cgroup.empty() && arguments.container.empty()))
    return Error{"", std::nullopt,
                 "-p, --cgroup and --container choose among the kernel's events, and none is "
                 "asked for; --app takes the number of a process"};
  std::string cgroup = arguments.cgroup;
  if (!arguments.container.empty()) {
    Result<std::string> found = kernel::cgroup_of_container(arguments.container);
    if (!found) return std::move(found).error();
    cgroup = *std::move(found);
  }
  if (cgroup.empty()) return {};
  return add(kernel::threads_in_cgroup(cgroup));
}

// One line that is written over again and again.
class StatusLine {
 public:
  ~StatusLine() { wipe(); }
  void show(const record::SessionStatus& status) {
    const double seconds = std::chrono::duration<double>(status.elapsed - last_.elapsed).count();
    if (seconds > 0) {
      const auto rate = [&](uint64_t now, uint64_t before) {
        return static_cast<uint64_t>(static_cast<double>(now - std::min(before, now)) / seconds);
      };
      std::string text = duration_text(Nanoseconds{status.elapsed.count()}) + "  ";
      const std::string events = grouped(rate(status.events, last_.events)) + "/s, ";
      if (status.reach)
        text += "the last " + duration_text(Nanoseconds{status.reach->count()}) + " are kept, " +
                events + size_text(status.bytes);
      else
        text += grouped(status.events) + " events, " + events +
                size_text(rate(status.bytes, last_.bytes)) + "/s, lost " + grouped(status.lost) +
                ", buffer " + std::to_string(static_cast<int>(status.fill * 100)) + " % full";
      std::fprintf(stderr, "\r%s\033[K", text.c_str());
    }
    last_ = status;
  }
  void wipe() {
    if (last_.elapsed.count() > 0) std::fputs("\r\033[K", stderr);
  }

 private:
  record::SessionStatus last_;
};

int tell(const record::SessionRequest& request, const record::SessionReport& report, bool json) {
  const record::SessionStatus& last = report.last;
  Output out(STDOUT_FILENO);
  if (request.flight && json) {
    const Json object = {{"folder", request.folder},
                         {"session", request.name},
                         {"snapshots", report.snapshots},
                         {"left_out", report.left_out},
                         {"duration_ns", last.elapsed.count()}};
    out.text().put(object.dump(2, ' ', false, Json::error_handler_t::replace));
  } else if (request.flight) {
    out.text().put("took " + grouped(report.snapshots) + " snapshots in " +
                   duration_text(Nanoseconds{last.elapsed.count()}) + ", left out " +
                   grouped(report.left_out) + " that came too soon after another");
  } else if (json) {
    const Json object = {{"folder", request.folder},   {"session", request.name},
                         {"events", last.events},      {"lost", last.lost},
                         {"bytes", report.size},       {"duration_ns", last.elapsed.count()},
                         {"finished", report.finished}};
    out.text().put(object.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    out.text().put("recorded " + grouped(last.events) + " events in " +
                   duration_text(Nanoseconds{last.elapsed.count()}) + " into " + request.folder +
                   " (" + size_text(report.size) + "), lost " + grouped(last.lost));
  }
  out.text().put('\n');
  if (!out.finish()) return kExitInput;
  if (!report.finished)
    complain(request.folder +
             ": is not finished; it opens as it is, and 'strata recover' finishes "
             "it");
  return report.finished ? kExitFine : kExitInput;
}

}  // namespace

int run(const RecordArguments& arguments) {
  Result<record::SessionRequest> request = request_of(arguments);
  if (!request) {
    complain(request.error());
    return kExitUsage;
  }
  for (const auto& choose : {choose_events, choose_probes, choose_processes}) {
    if (Status status = choose(arguments, *request); !status) {
      complain(status.error());
      return kExitInput;
    }
  }
  StatusLine line;
  std::optional<Progress> progress;
  record::SessionEvents events;
  if (isatty(STDERR_FILENO) != 0)
    events.status = [&](const record::SessionStatus& status) { line.show(status); };
  // A filter that many events do not know is told a few times, not hundreds.
  constexpr size_t kMostWarnings = 5;
  size_t warnings = 0;
  events.warning = [&](const Error& error) {
    line.wipe();
    if (++warnings <= kMostWarnings) warn(error.text());
  };
  events.snapshot = [&](const record::Snapshot& snapshot) {
    line.wipe();
    std::fprintf(stderr, "saved %s events of the last %s into %s\n",
                 grouped(snapshot.events).c_str(),
                 duration_text(Nanoseconds{snapshot.end_ns - snapshot.begin_ns}).c_str(),
                 snapshot.folder.c_str());
  };
  events.finishing = [&](uint64_t done, uint64_t total) {
    if (!progress) {
      line.wipe();
      progress.emplace("finishing " + request->folder, false);
    }
    progress->update(done, total);
  };
  const Result<record::SessionReport> report = record::record(*request, events);
  progress.reset();
  line.wipe();
  if (warnings > kMostWarnings)
    warn("and " + std::to_string(warnings - kMostWarnings) + " more of that kind");
  if (!report) {
    complain(report.error());
    return kExitInput;
  }
  const int status = tell(*request, *report, arguments.json);
  if (report->command_status && WIFEXITED(*report->command_status) &&
      WEXITSTATUS(*report->command_status) == 127)
    return kExitInput;
  return status;
}

}  // namespace strata::cli
