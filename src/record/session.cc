// SPDX-License-Identifier: Apache-2.0
#include "record/session.h"

#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/time_text.h"
#include "kernel/dynamic_probes.h"
#include "kernel/kernel_files.h"
#include "kernel/machine_state.h"
#include "record/command.h"
#include "record/counters_source.h"
#include "record/kernel_source.h"
#include "record/registry.h"
#include "record/state_trace.h"
#include "record/watcher.h"

namespace strata::record {
namespace {

using Clock = std::chrono::steady_clock;

// Signals that the loop waits for instead of being interrupted by them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
    file_ = FileDescriptor(signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~Signals() { release(); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int file() const { return file_.get(); }
  // Whether somebody asked us to end.
  bool asked_to_end() {
    signalfd_siginfo info{};
    bool asked = false;
    while (read(file_.get(), &info, sizeof info) == sizeof info) asked |= info.ssi_signo != SIGCHLD;
    return asked;
  }
  // From here on they do what they did before.
  void release() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t set_{};
  sigset_t before_{};
  FileDescriptor file_;
};

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

// The instance and the probes of a user's session. Whether nothing is left.
bool remove_from_kernel(const kernel::Tracefs& tracefs, const std::string& name, uid_t user) {
  const std::string session = machine_wide_name(name, user);
  const bool no_instance = static_cast<bool>(
      kernel::remove_instance(tracefs.file("instances/" + kernel::instance_name(session))));
  return static_cast<bool>(kernel::remove_probes(tracefs, kernel::probe_group(session))) &&
         no_instance;
}

// The state in which the recording starts, as a part of it. It is worth having and no more: what
// fails is told, and the recording goes on.
void add_state(const SessionRequest& request, const SessionEvents& events, const HostClock& clock,
               std::vector<recording::Part>& parts) {
  if (!request.state) return;
  const Result<kernel::MachineState> state = kernel::gather_state(clock.state_clock());
  const Status written =
      state ? write_state(request.folder + "/" + kStateFolder, *state, clock.ctf_clock())
            : Status(state.error());
  if (!written) {
    if (events.warning) events.warning(written.error());
    return;
  }
  parts.push_back({.file = kStateFolder,
                   .kind = "ctf",
                   .what = "state",
                   .machine = "",
                   .clock = clock.state_clock_name(),
                   .finished = true});
}

// Until there is a reason to stop.
std::optional<int> wait_for_end(const SessionRequest& request, const SessionEvents& events,
                                Signals& signals, Command* command, KernelSource& kernel,
                                HostClock& clock, Clock::time_point begin) {
  constexpr auto kTick = std::chrono::seconds(1);
  constexpr auto kBetweenAnchors = std::chrono::minutes(5);
  Clock::time_point next_anchor = begin + kBetweenAnchors;
  Clock::time_point next_sync = begin + request.sync;
  Clock::time_point next_tick = begin + kTick;
  for (;;) {
    if (signals.asked_to_end() || kernel.failed()) return std::nullopt;
    if (command != nullptr) {
      if (const std::optional<int> status = command->ended()) return status;
    }
    const Clock::time_point now = Clock::now();
    if (request.duration && now - begin >= *request.duration) return std::nullopt;
    if (now >= next_sync) {
      kernel.to_disk();
      next_sync = Clock::now() + request.sync;
    }
    if (now >= next_anchor) {
      next_anchor += kBetweenAnchors;
      clock.take_anchor();
    }
    if (now >= next_tick) {
      next_tick += kTick;
      if (events.status) {
        SessionStatus status{kernel.status(), now - begin, 0};
        status.fill = kernel.fill();
        events.status(status);
      }
    }
    Clock::time_point until = std::min(next_tick, next_sync);
    if (request.duration) until = std::min(until, begin + *request.duration);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting{signals.file(), POLLIN, 0};
    poll(&waiting, 1, static_cast<int>(std::max<int64_t>(left, 0)));
  }
}

}  // namespace

void clean_up_after_the_dead(const kernel::Tracefs& tracefs) {
  for (const SessionEntry& entry : list_sessions()) {
    if (entry.is_alive || (entry.user != getuid() && getuid() != 0)) continue;
    if (remove_from_kernel(tracefs, entry.name, entry.user)) forget_session(entry.name, entry.user);
  }
}

Result<SessionReport> record(const SessionRequest& request, const SessionEvents& events) {
  Signals signals;
  Result<kernel::Tracefs> tracefs = kernel::Tracefs::find();
  if (!tracefs) return std::move(tracefs).error();
  clean_up_after_the_dead(*tracefs);

  const int64_t begin_ns = now_since_epoch().count;
  Result<Registration> registration = Registration::add(
      {request.name, getpid(), getuid(), user_name(), request.folder, begin_ns, true});
  if (!registration) return std::move(registration).error();
  const Result<bool> made = make_folder(request.folder);
  if (!made) return made.error();
  syslog(LOG_AUTHPRIV | LOG_NOTICE, "%s records session %s into %s", user_name().c_str(),
         request.name.c_str(), request.folder.c_str());

  Result<Watcher> watcher = Watcher::start(
      [&] {
        if (remove_from_kernel(*tracefs, request.name, getuid()))
          forget_session(request.name, getuid());
      },
      {tracefs->descriptor()});
  if (!watcher) return std::move(watcher).error();
  std::optional<Command> command;
  if (!request.command.empty()) {
    Result<Command> prepared = Command::prepare(request.command);
    if (!prepared) return std::move(prepared).error();
    command.emplace(*std::move(prepared));
  }
  umask(077);  // what is recorded is for its owner alone

  Result<HostClock> clock = HostClock::choose(request.clock);
  if (!clock) return std::move(clock).error();
  std::unique_ptr<CountersSource> counters;
  if (!request.counters.empty()) {
    CountersOptions wanted;
    wanted.folder = request.folder;
    wanted.counters = request.counters;
    if (!request.read_at.empty()) wanted.read_at = request.read_at;
    wanted.leave_out = {getpid()};
    auto created = CountersSource::create(*tracefs, std::move(wanted));
    if (!created) {
      if (*made) rmdir(request.folder.c_str());
      return std::move(created).error();
    }
    counters = *std::move(created);
  }
  KernelSource kernel(*tracefs,
                      {machine_wide_name(request.name, getuid()), request.folder, request.events,
                       request.buffer_bytes, request.sync, request.processes, request.probes,
                       request.presets, request.compressed},
                      *clock);
  if (Status status = kernel.start(); !status) {
    std::error_code ignored;  // nothing is in it but files of pages without any
    if (*made) std::filesystem::remove_all(request.folder, ignored);
    return std::move(status).error();
  }
  if (counters) {
    if (Status status = counters->start(); !status) return std::move(status).error();
  }
  const Clock::time_point begin = Clock::now();
  for (const Error& refused : kernel.refused()) {
    if (events.warning) events.warning(refused);
  }
  recording::Description description = describe(request, *clock, begin_ns);
  std::vector<recording::Part> other_parts;
  // What the anchors tell is better known the later it is asked.
  const auto tell_clocks = [&] {
    description.clocks = clock->descriptions(description.machines.front().name);
    description.maps = clock->maps();
  };
  const auto tell_parts = [&] {
    description.parts = kernel.parts();
    if (counters) {
      const std::vector<recording::Part> own = counters->parts();
      description.parts.insert(description.parts.end(), own.begin(), own.end());
    }
    description.parts.insert(description.parts.end(), other_parts.begin(), other_parts.end());
    for (recording::Part& part : description.parts)
      part.machine = description.machines.front().name;
    return recording::write_description(request.folder, description);
  };
  if (Status status = tell_parts(); !status) return std::move(status).error();
  if (command) command->run();
  if (events.started) events.started();
  clock->take_anchor();
  if (Status status = kernel.write_head(); !status) return std::move(status).error();
  add_state(request, events, *clock, other_parts);
  tell_clocks();
  if (Status status = tell_parts(); !status) return std::move(status).error();

  SessionReport report;
  report.command_status =
      wait_for_end(request, events, signals, command ? &*command : nullptr, kernel, *clock, begin);
  report.last = {kernel.status(), Clock::now() - begin, 0};
  const Status stopped = kernel.stop();
  if (!stopped && events.warning) events.warning(stopped.error());
  if (counters) {
    const Status ended = counters->stop();
    if (!ended && events.warning) events.warning(ended.error());
  }
  clock->take_anchor();
  tell_clocks();
  description.sessions.back().end_ns = now_since_epoch().count;
  signals.release();

  if (Status status = kernel.finish(events.finishing); !status) {
    report.finished = false;
    if (events.warning) events.warning(status.error());
  }
  report.last.lost = kernel.parts().front().lost;
  if (Status status = tell_parts(); !status) return std::move(status).error();
  report.size = folder_size(request.folder);
  return report;
}

}  // namespace strata::record
