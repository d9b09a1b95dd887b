// SPDX-License-Identifier: Apache-2.0
#include "record/session.h"

#include <poll.h>
#include <pwd.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/time_text.h"
#include "kernel/dynamic_probes.h"
#include "kernel/kernel_files.h"
#include "record/command.h"
#include "record/control.h"
#include "record/counters_source.h"
#include "record/kernel_source.h"
#include "record/registry.h"
#include "record/signals.h"
#include "record/snapshot_triggers.h"
#include "record/state_trace.h"
#include "record/watcher.h"

namespace strata::record {
namespace {

using Clock = std::chrono::steady_clock;
using Json = ControlSocket::Json;

std::string user_name() {
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? user->pw_name : std::to_string(getuid());
}

// For its owner alone: what a kernel does is nobody else's business.
// Whether it was not there before.
Result<bool> make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return true;
  if (errno != EEXIST) return system_error(path, "cannot create", errno);
  std::error_code error;
  if (!std::filesystem::is_directory(path, error) || !std::filesystem::is_empty(path, error))
    return Error{path, std::nullopt, "exists already and is no empty folder"};
  return false;
}

uint64_t folder_size(const std::string& path) {
  uint64_t size = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path, ignored)) {
    if (entry.is_regular_file(ignored)) size += entry.file_size(ignored);
  }
  return size;
}

recording::Description describe(const SessionRequest& request, const HostClock& clock,
                                int64_t begin_ns) {
  recording::Description description;
  const std::string machine = kernel::machine_text();
  const size_t name = machine.find(' ') + 1;
  const size_t release = machine.find(' ', name) + 1;
  description.machines.push_back({machine.substr(name, release - name - 1), "host",
                                  kernel::boot_id(),
                                  machine.substr(release, machine.find(' ', release) - release)});
  description.clocks = clock.descriptions(description.machines.front().name);
  description.maps = clock.maps();
  description.sessions.push_back({request.name, user_name(), begin_ns, 0, request.asked, {}});
  return description;
}

// The instance and the probes of a session, whoever made them. Whether nothing is left.
bool remove_from_kernel(const kernel::Tracefs& tracefs, const std::string& session) {
  const bool no_instance = static_cast<bool>(
      kernel::remove_instance(tracefs.file("instances/" + kernel::instance_name(session))));
  return static_cast<bool>(kernel::remove_probes(tracefs, kernel::probe_group(session))) &&
         no_instance;
}

// One session, from its first step to its last. The order of the members is that in which they must
// come; they go the other way.
class Session {
 public:
  Session(const SessionRequest& request, const SessionEvents& events)
      : request_(request), events_(events) {}

  // All that must be there before the first event: what fails leaves nothing behind.
  Status prepare();
  Status start();
  // What explains the events, read while they are already recorded.
  Status explain();
  // Until there is a reason to stop.
  void wait();
  // For a flight, in place of start(), explain(), stop() and finish().
  Status take_off();
  Result<SessionReport> land();
  void stop();
  Result<SessionReport> finish();

 private:
  Status add_counters();
  void make_kernel_events();
  Result<Snapshot> snapshot(std::string folder, const std::string& cause);
  void snapshot_if_due(Clock::time_point now);
  SessionStatus status(Clock::time_point now);
  void add_state();
  Json answer(const Json& question);
  bool is_over(Clock::time_point now);
  void tick(Clock::time_point now);
  Status write_description();
  void tell_clocks();
  void warn(const Error& error) const {
    if (events_.warning) events_.warning(error);
  }

  const SessionRequest& request_;
  const SessionEvents& events_;
  const int64_t begin_ns_ = now_since_epoch().count;
  Signals signals_;
  std::optional<kernel::Tracefs> tracefs_;
  std::optional<Registration> registration_;
  std::optional<ControlSocket> control_;
  std::optional<Watcher> watcher_;
  std::optional<Command> command_;
  std::optional<HostClock> clock_;
  std::unique_ptr<CountersSource> counters_;
  std::optional<KernelEvents> kernel_events_;
  std::optional<KernelSource> kernel_;  // or a flight
  std::optional<Flight> flight_;
  std::optional<SnapshotTriggers> triggers_;
  bool made_folder_ = false;
  Clock::time_point begin_;
  Clock::time_point next_anchor_;
  Clock::time_point next_sync_;
  Clock::time_point next_tick_;
  recording::Description description_;
  std::vector<recording::Part> other_parts_;
  SessionReport report_;
};

Status Session::prepare() {
  Result<kernel::Tracefs> tracefs = kernel::Tracefs::find();
  if (!tracefs) return std::move(tracefs).error();
  tracefs_.emplace(*std::move(tracefs));
  clean_up_after_the_dead(*tracefs_);

  Result<Registration> registration = Registration::add({request_.name,
                                                         getpid(),
                                                         getuid(),
                                                         user_name(),
                                                         request_.folder,
                                                         begin_ns_,
                                                         request_.flight.has_value(),
                                                         true,
                                                         {}});
  if (!registration) return std::move(registration).error();
  registration_.emplace(*std::move(registration));
  Result<ControlSocket> control = ControlSocket::listen(registration_->control());
  if (!control) return std::move(control).error();
  control_.emplace(*std::move(control));
  const Result<bool> made = make_folder(request_.folder);
  if (!made) return made.error();
  made_folder_ = *made;
  syslog(LOG_AUTHPRIV | LOG_NOTICE, "%s records session %s into %s", user_name().c_str(),
         request_.name.c_str(), request_.folder.c_str());

  Result<Watcher> watcher = Watcher::start(
      [&] {
        if (remove_from_kernel(*tracefs_, request_.name)) forget_session(request_.name);
      },
      {tracefs_->descriptor()});
  if (!watcher) return std::move(watcher).error();
  watcher_.emplace(*std::move(watcher));
  if (!request_.command.empty()) {
    Result<Command> prepared = Command::prepare(request_.command);
    if (!prepared) return std::move(prepared).error();
    command_.emplace(*std::move(prepared));
  }
  umask(077);  // what is recorded is for its owner alone

  Result<HostClock> clock = HostClock::choose(request_.clock);
  if (!clock) return std::move(clock).error();
  clock_.emplace(*std::move(clock));
  return add_counters();
}

Status Session::add_counters() {
  if (request_.counters.empty()) return {};
  CountersOptions wanted;
  wanted.folder = request_.folder;
  wanted.counters = request_.counters;
  if (!request_.read_at.empty()) wanted.read_at = request_.read_at;
  wanted.leave_out = {getpid()};
  auto created = CountersSource::create(*tracefs_, std::move(wanted));
  if (!created) {
    if (made_folder_) rmdir(request_.folder.c_str());
    return std::move(created).error();
  }
  counters_ = *std::move(created);
  return {};
}

void Session::make_kernel_events() {
  kernel_events_.emplace(*tracefs_,
                         KernelRequest{request_.name, request_.events, request_.buffer_bytes,
                                       request_.processes, request_.probes, request_.presets},
                         *clock_);
}

Status Session::start() {
  make_kernel_events();
  kernel_.emplace(*kernel_events_,
                  KernelSource::Options{request_.folder, request_.sync, request_.compressed});
  if (Status status = kernel_->start(); !status) {
    std::error_code ignored;  // nothing is in it but files of pages without any
    if (made_folder_) std::filesystem::remove_all(request_.folder, ignored);
    return status;
  }
  if (counters_) {
    if (Status status = counters_->start(); !status) return status;
  }
  begin_ = Clock::now();
  for (const Error& refused : kernel_events_->refused()) warn(refused);
  description_ = describe(request_, *clock_, begin_ns_);
  if (Status status = write_description(); !status) return status;
  if (command_) command_->run();
  if (events_.started) events_.started();
  return {};
}

Status Session::explain() {
  clock_->take_anchor();
  if (Status status = kernel_->write_head(); !status) return status;
  add_state();
  tell_clocks();
  return write_description();
}

// The state in which the recording starts, as a part of it. It is worth having and no more: what
// fails is told, and the recording goes on.
void Session::add_state() {
  if (!request_.state) return;
  Result<recording::Part> part = record::add_state(request_.folder, *clock_);
  if (!part) return warn(part.error());
  other_parts_.push_back(*std::move(part));
}

// What the anchors tell is better known the later it is asked.
void Session::tell_clocks() {
  description_.clocks = clock_->descriptions(description_.machines.front().name);
  description_.maps = clock_->maps();
}

Status Session::write_description() {
  description_.parts = kernel_->parts();
  if (counters_) {
    const std::vector<recording::Part> own = counters_->parts();
    description_.parts.insert(description_.parts.end(), own.begin(), own.end());
  }
  description_.parts.insert(description_.parts.end(), other_parts_.begin(), other_parts_.end());
  for (recording::Part& part : description_.parts)
    part.machine = description_.machines.front().name;
  return recording::write_description(request_.folder, description_);
}

bool Session::is_over(Clock::time_point now) {
  if (signals_.asked_to_end() || (kernel_ && kernel_->failed())) return true;
  if (command_) report_.command_status = command_->ended();
  if (report_.command_status) return true;
  return request_.duration && now - begin_ >= *request_.duration;
}

// Whatever is due.
void Session::tick(Clock::time_point now) {
  constexpr auto kTick = std::chrono::seconds(1);
  constexpr auto kBetweenAnchors = std::chrono::minutes(5);
  if (kernel_ && now >= next_sync_) {
    kernel_->to_disk();
    next_sync_ = Clock::now() + request_.sync;
  }
  if (now >= next_anchor_) {
    next_anchor_ = now + kBetweenAnchors;
    clock_->take_anchor();
    if (flight_) clock_->forget_anchors(kFlightAnchors);
  }
  if (now >= next_tick_) {
    next_tick_ = std::max(next_tick_ + kTick, now);
    if (events_.status) events_.status(status(now));
  }
  if (flight_) snapshot_if_due(now);
}

SessionStatus Session::status(Clock::time_point now) {
  if (flight_) return {flight_->status(), now - begin_, flight_->reach()};
  return {kernel_->status(), now - begin_};
}

void Session::wait() {
  next_anchor_ = begin_ + std::chrono::minutes(5);
  next_sync_ = flight_ ? Clock::time_point::max() : begin_ + request_.sync;
  next_tick_ = begin_ + std::chrono::seconds(1);
  for (Clock::time_point now = Clock::now(); !is_over(now); now = Clock::now()) {
    tick(now);
    Clock::time_point until = std::min(next_tick_, next_sync_);
    if (request_.duration) until = std::min(until, begin_ + *request_.duration);
    if (triggers_) until = std::min(until, triggers_->next());
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    std::vector<pollfd> waiting = {{signals_.file(), POLLIN, 0}, {control_->file(), POLLIN, 0}};
    if (triggers_) triggers_->add_files(waiting);
    poll(waiting.data(), waiting.size(), static_cast<int>(std::max<int64_t>(left, 0)));
    if (waiting[1].revents != 0)
      control_->serve([this](const Json& question) { return answer(question); });
  }
}

Json Session::answer(const Json& question) {
  const auto what = question.find("do");
  const std::string name =
      what != question.end() && what->is_string() ? what->get<std::string>() : "";
  if (name == "status") {
    const SessionStatus status = this->status(Clock::now());
    Json told = {{"events", status.events},
                 {"bytes", status.bytes},
                 {"lost", status.lost},
                 {"fill", status.fill},
                 {"elapsed_ns", status.elapsed.count()}};
    if (status.reach) told["window_ns"] = status.reach->count();
    return told;
  }
  if (name == "snapshot" && flight_) {
    const auto folder = question.find("folder");
    const bool named = folder != question.end() && folder->is_string();
    const Result<Snapshot> saved =
        snapshot(named ? folder->get<std::string>() : "", "asked for by name");
    return saved ? to_json(*saved) : Json{{"error", saved.error().text()}};
  }
  if (name == "snapshot")
    return {{"error", "this session is no flight: all it records goes into " + request_.folder}};
  return {{"error", "this session cannot do '" + name + "'"}};
}

void Session::stop() {
  report_.last = {kernel_->status(), Clock::now() - begin_};
  if (Status stopped = kernel_->stop(); !stopped) warn(stopped.error());
  if (counters_) {
    if (Status ended = counters_->stop(); !ended) warn(ended.error());
  }
  clock_->take_anchor();
  tell_clocks();
  description_.sessions.back().end_ns = now_since_epoch().count;
  signals_.release();
}

Result<SessionReport> Session::finish() {
  if (Status status = kernel_->finish(events_.finishing); !status) {
    report_.finished = false;
    warn(status.error());
  }
  report_.last.lost = kernel_->parts().front().lost;
  if (Status status = write_description(); !status) return std::move(status).error();
  report_.size = folder_size(request_.folder);
  return report_;
}

Status Session::take_off() {
  make_kernel_events();
  flight_.emplace(*kernel_events_, *clock_, request_.flight->way);
  Status status = flight_->start();
  if (status) {
    auto triggers = SnapshotTriggers::open(*tracefs_, kernel_events_->instance().cpus(),
                                           request_.flight->snapshot_on, request_.flight->after);
    if (triggers)
      triggers_.emplace(*std::move(triggers));
    else
      status = std::move(triggers).error();
  }
  if (!status) {
    if (made_folder_) rmdir(request_.folder.c_str());
    return status;
  }
  begin_ = Clock::now();
  for (const Error& refused : kernel_events_->refused()) warn(refused);
  if (flight_->way() != FlightWay::Mapped)
    warn({"", std::nullopt,
          "this kernel's rings cannot be mapped: a snapshot empties them" +
              std::string(flight_->way() == FlightWay::Stopped
                              ? ", and nothing is recorded while it does"
                              : "")});
  description_ = describe(request_, *clock_, begin_ns_);
  clock_->take_anchor();
  if (command_) command_->run();
  if (events_.started) events_.started();
  return {};
}

void Session::snapshot_if_due(Clock::time_point now) {
  const auto save = [this](const std::string& cause) {
    if (Result<Snapshot> saved = snapshot("", cause); !saved) warn(saved.error());
  };
  if (signals_.asked_for_snapshot()) save("SIGUSR1");
  if (const std::optional<std::string> cause = triggers_->due(now)) {
    save(*cause);
    triggers_->saved(Clock::now());
  }
}

Result<Snapshot> Session::snapshot(std::string folder, const std::string& cause) {
  Result<FlightCopy> copy = flight_->copy();
  if (!copy) return std::move(copy).error();
  if (folder.empty()) folder = request_.folder + "/" + snapshot_name(copy->end_ns);
  Result<Snapshot> saved =
      save_snapshot(*std::move(copy), *kernel_events_, *clock_, description_,
                    {std::move(folder), cause, request_.state, request_.compressed},
                    [this](const Error& error) { warn(error); });
  if (!saved) return saved;
  ++report_.snapshots;
  if (events_.snapshot) events_.snapshot(*saved);
  return saved;
}

Result<SessionReport> Session::land() {
  report_.last = status(Clock::now());
  report_.left_out = triggers_->left_out();
  triggers_.reset();
  if (Status stopped = flight_->stop(); !stopped) warn(stopped.error());
  signals_.release();
  // Where there was no snapshot there is nothing in it.
  if (made_folder_) rmdir(request_.folder.c_str());
  return report_;
}

}  // namespace

void clean_up_after_the_dead(const kernel::Tracefs& tracefs) {
  for (const SessionEntry& entry : list_sessions()) {
    if (entry.is_alive || (entry.user != getuid() && getuid() != 0)) continue;
    if (remove_from_kernel(tracefs, entry.name)) forget_session(entry.name);
  }
}

Result<SessionReport> record(const SessionRequest& request, const SessionEvents& events) {
  Session session(request, events);
  if (Status status = session.prepare(); !status) return std::move(status).error();
  if (request.flight) {
    if (Status status = session.take_off(); !status) return std::move(status).error();
    session.wait();
    return session.land();
  }
  if (Status status = session.start(); !status) return std::move(status).error();
  if (Status status = session.explain(); !status) return std::move(status).error();
  session.wait();
  session.stop();
  return session.finish();
}

}  // namespace strata::record
