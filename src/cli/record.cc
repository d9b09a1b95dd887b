// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/record_guests.h"
#include "cli/record_wish.h"
#include "cli/size.h"
#include "cli/terminal.h"
#include "record/registry.h"
#include "record/session.h"

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
  if (arguments.flight && !arguments.wish.counters.empty())
    return fail("--counters are written as they come, and --flight writes nothing");
  if (arguments.flight && !arguments.when_full.empty())
    return fail("--when-full: in a flight the oldest events are overwritten");
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

Status plan_flight(const RecordArguments& arguments, record::SessionRequest& request) {
  if (Status status = check_flight(arguments); !status) return status;
  if (!arguments.flight) return {};
  record::FlightRequest flight;
  for (const std::string& text : arguments.snapshot_on) {
    Result<kernel::TriggerSpec> spec = kernel::parse_trigger(text);
    if (!spec)
      return error_at_column("--snapshot-on", text, spec.error().offset.value_or(0),
                             spec.error().cause);
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
  request.compressed = arguments.packing == Packing::Zstd;
  request.compressed_live = arguments.compress == CompressWhen::Live;
  if (request.compressed_live && !request.compressed)
    return Error{"", std::nullopt, "--compress live, but --compression none"};
  request.command = arguments.command;
  request.asked = arguments.asked;
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
  if (Status status = plan_flight(arguments, request); !status) return std::move(status).error();
  return request;
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
      for (size_t i = 0; i < status.machines.size(); ++i) {
        const record::MachineStatus& guest = status.machines[i];
        const uint64_t before = i < last_.machines.size() ? last_.machines[i].bytes : 0;
        text += "; " + guest.name + ": " +
                (guest.ended.empty()
                     ? size_text(rate(guest.bytes, before)) + "/s, lost " + grouped(guest.lost)
                     : guest.ended);
      }
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
    Json object = {{"folder", request.folder},   {"session", request.name},
                   {"events", last.events},      {"lost", last.lost},
                   {"bytes", report.size},       {"duration_ns", last.elapsed.count()},
                   {"finished", report.finished}};
    Json guests = Json::array();
    for (const record::MachineStatus& guest : last.machines)
      guests.push_back({{"name", guest.name},
                        {"events", guest.events},
                        {"lost", guest.lost},
                        {"bytes", guest.bytes},
                        {"ended", guest.ended}});
    if (!guests.empty()) object["guests"] = std::move(guests);
    out.text().put(object.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    out.text().put("recorded " + grouped(last.events) + " events in " +
                   duration_text(Nanoseconds{last.elapsed.count()}) + " into " + request.folder +
                   " (" + size_text(report.size) + "), lost " + grouped(last.lost));
    for (const record::MachineStatus& guest : last.machines)
      out.text().put("\nof guest " + guest.name + " " + grouped(guest.events) + " events, lost " +
                     grouped(guest.lost) + (guest.ended.empty() ? "" : ": " + guest.ended));
  }
  out.text().put('\n');
  if (!out.finish()) return kExitInput;
  if (!report.finished)
    complain(request.folder +
             ": is not finished; it opens as it is, and 'strata recover' finishes "
             "it");
  const bool all_came = std::ranges::all_of(
      last.machines, [](const record::MachineStatus& guest) { return guest.ended.empty(); });
  return report.finished && all_came ? kExitFine : kExitInput;
}

}  // namespace

int run(const RecordArguments& arguments) {
  Result<record::SessionRequest> request = request_of(arguments);
  if (!request) {
    complain(request.error());
    return kExitUsage;
  }
  Result<record::Wish> wish = wish_of(arguments);
  if (!wish) {
    complain(wish.error());
    return kExitUsage;
  }
  if (arguments.flight) wish->policy = probe::abi::Policy::Overwrite;
  Status wanted = read_profiles(arguments, *wish);
  if (wanted) wanted = record::resolve(*wish, *request);
  if (!wanted) {
    complain(wanted.error());
    return kExitInput;
  }
  const Result<Guests> guests = guests_of(arguments);
  if (!guests) {
    complain(guests.error());
    return kExitUsage;
  }
  for (const auto& guest : *guests) request->machines.push_back(guest.get());
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
