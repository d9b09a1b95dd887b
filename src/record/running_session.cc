// SPDX-License-Identifier: Apache-2.0
#include "record/running_session.h"

#include <poll.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/folder_size.h"
#include "record/state_trace.h"
#include "recording/finish.h"

namespace strata::record {
namespace {

// For its owner alone: what a kernel does is nobody else's business. Whether it was not there
// before.
Result<bool> make_folder(const std::string& path, bool may_hold_something) {
  if (mkdir(path.c_str(), 0700) == 0) return true;
  if (errno != EEXIST) return system_error(path, "cannot create", errno);
  std::error_code error;
  if (!std::filesystem::is_directory(path, error) ||
      (!may_hold_something && !std::filesystem::is_empty(path, error)))
    return Error{path, std::nullopt, "exists already and is no empty folder"};
  return false;
}

}  // namespace

Status RunningSession::prepare() {
  if (Status status = find_tracefs(); !status) return status;
  Result<Registration> registration =
      Registration::add({request_.name, getpid(), getuid(), user_name(), request_.folder, begin_ns_,
                         request_.flight.has_value(), true});
  if (!registration) return std::move(registration).error();
  registration_.emplace(*std::move(registration));
  Result<ControlSocket> control = ControlSocket::listen(registration_->control());
  if (!control) return std::move(control).error();
  control_.emplace(*std::move(control));
  const Result<bool> made = make_folder(request_.folder, request_.flight.has_value());
  if (!made) return made.error();
  made_folder_ = *made;
  syslog(LOG_AUTHPRIV | LOG_NOTICE, "%s records session %s into %s", user_name().c_str(),
         request_.name.c_str(), request_.folder.c_str());

  Result<Watcher> watcher = Watcher::start(
      [&] {
        if (!tracefs_ || remove_from_kernel(*tracefs_, request_.name, getuid()))
          forget_session(request_.name, getuid());
      },
      tracefs_ ? std::vector{tracefs_->descriptor()} : std::vector<int>());
  if (!watcher) return std::move(watcher).error();
  watcher_.emplace(*std::move(watcher));
  if (!request_.app.empty())
    app_ = std::make_unique<AppSource>(request_.app, !request_.command.empty());
  if (!request_.command.empty()) {
    Result<Command> prepared =
        Command::prepare(request_.command, app_ ? app_->environment() : Command::Environment());
    if (!prepared) return std::move(prepared).error();
    command_.emplace(*std::move(prepared));
  }
  umask(077);  // what is recorded is for its owner alone

  Result<HostClock> clock = HostClock::choose(request_.clock);
  if (!clock) return std::move(clock).error();
  clock_.emplace(*std::move(clock));
  if (Status status = add_folder(); !status) return status;
  return add_counters();
}

Status RunningSession::find_tracefs() {
  if (!request_.wants_kernel()) return {};
  Result<kernel::Tracefs> tracefs = kernel::Tracefs::find();
  if (!tracefs) return std::move(tracefs).error();
  tracefs_.emplace(*std::move(tracefs));
  clean_up_after_the_dead(*tracefs_);
  return {};
}

// Where nothing is recorded after all.
void RunningSession::remove_folder() {
  std::error_code ignored;  // nothing is in it but files of pages without any
  if (chunks_) std::filesystem::remove_all(folder_, ignored);
  if (made_folder_) std::filesystem::remove_all(request_.folder, ignored);
}

Status RunningSession::add_counters() {
  if (request_.counters.empty()) return {};
  CountersOptions wanted;
  wanted.folder = folder_;
  wanted.counters = request_.counters;
  if (!request_.read_at.empty()) wanted.read_at = request_.read_at;
  wanted.leave_out = {getpid()};
  auto created = CountersSource::create(*tracefs_, std::move(wanted));
  if (!created) {
    remove_folder();
    return std::move(created).error();
  }
  counters_ = *std::move(created);
  return {};
}

void RunningSession::make_kernel_events() {
  kernel_events_.emplace(
      *tracefs_,
      KernelRequest{machine_wide_name(request_.name, getuid()), request_.events,
                    request_.buffer_bytes, request_.processes, request_.probes, request_.presets},
      *clock_);
}

Status RunningSession::start_app() {
  if (!app_) return {};
  clock_->take_anchor();
  app_->prepare(folder_, *clock_);
  if (Status status = app_->start(); !status) return status;
  for (const std::string& remark : app_->remarks()) warn({"", std::nullopt, remark});
  return {};
}

Status RunningSession::start_kernel() {
  std::vector<pid_t> own_threads;
  if (app_) own_threads = app_->threads();
  const auto leave_out = [&](const std::vector<pid_t>& threads) {
    own_threads.insert(own_threads.end(), threads.begin(), threads.end());
  };
  if (request_.forward) leave_out(request_.forward->threads);
  for (const MachineSource* machine : request_.machines) leave_out(machine->threads());
  if (chunks_) own_threads.push_back(chunks_->start());
  if (!tracefs_) return {};
  make_kernel_events();
  if (request_.compressed_live && request_.compressed && !chunks_)
    own_threads.push_back(compression_.emplace().start());
  KernelSource::Options options{folder_, request_.sync, std::move(own_threads)};
  if (request_.forward) options.pages = request_.forward->pages;
  kernel_.emplace(*kernel_events_, std::move(options));
  if (Status status = kernel_->start(); !status) return status;
  for (const Error& refused : kernel_events_->refused()) warn(refused);
  if (compression_) kernel_->compress_by(*compression_);
  return {};
}

Status RunningSession::start() {
  call_machines();
  Status started = start_app();
  if (started) started = start_kernel();
  if (!started) {
    app_.reset();
    remove_folder();
    return started;
  }
  if (counters_) {
    if (Status status = counters_->start(); !status) return status;
  }
  await_machines();
  begin_ = Clock::now();
  description_ = describe(request_, *clock_, begin_ns_);
  if (Status status = write_description(); !status) return status;
  if (command_) command_->run();
  tell_start();
  return {};
}

void RunningSession::tell_start() const {
  if (!events_.started) return;
  events_.started({clock_->kernel_name(), raw(clock_->last_reading().value_or(Ticks{0})),
                   kernel_events_ ? kernel_events_->instance().page_size() : 0});
}

Status RunningSession::explain() {
  clock_->take_anchor();
  if (kernel_) {
    if (Status status = kernel_->write_head(); !status) return status;
    add_throttling();
    add_state();
  }
  tell_clocks();
  if (Status status = write_description(); !status) return status;
  if (events_.explained) events_.explained();
  settle();
  return {};
}

// Who moves pages over a link makes more different calls than who writes files.
void RunningSession::settle() {
  if (!kernel_events_ || request_.forward || !request_.machines.empty()) return;
  if (chunks_ && chunks_->is_finishing()) return;
  if (Status status = kernel_events_->settle(); !status) warn(status.error());
}

// The state in which the recording starts, as a part of it. It is worth having and no more: what
// fails is told, and the recording goes on.
void RunningSession::add_state() {
  if (!request_.state) return;
  Result<recording::Part> part = record::add_state(folder_, *clock_);
  if (!part) return warn(part.error());
  other_parts_.push_back(*std::move(part));
}

// As the starting state, no reason not to record.
void RunningSession::add_throttling() {
  throttling_.emplace(folder_, *clock_);
  if (Status status = throttling_->start(); !status) warn(status.error());
}

void RunningSession::sample_throttling() {
  if (Status status = throttling_->sample(); !status) warn(status.error());
  if (!throttling_->awaits_trace()) return;
  if (Status status = kernel_events_->get_busy(); !status) warn(status.error());
  if (Status status = throttling_->start(); !status) warn(status.error());
  if (Status status = write_description(); !status) warn(status.error());
  settle();
}

// What the anchors tell is better known the later it is asked.
void RunningSession::tell_clocks() {
  description_.clocks = clock_->descriptions(description_.machines.front().name);
  description_.maps = clock_->maps();
  for (const MachineSource* machine : request_.machines) {
    for (recording::NamedClock& clock : machine->clocks())
      description_.clocks.push_back(std::move(clock));
    for (trace::ClockMap& map : machine->maps()) description_.maps.push_back(std::move(map));
  }
}

void RunningSession::gather_parts() {
  description_.parts.clear();
  const auto add = [&](const std::vector<recording::Part>& parts) {
    description_.parts.insert(description_.parts.end(), parts.begin(), parts.end());
  };
  if (kernel_) add(kernel_->parts());
  if (counters_) add(counters_->parts());
  if (throttling_) add(throttling_->parts());
  if (app_) add(complete_programs_ ? *complete_programs_ : app_->parts());
  add(other_parts_);
  for (recording::Part& part : description_.parts)
    part.machine = description_.machines.front().name;
  description_.machines.resize(1);
  for (const MachineSource* machine : request_.machines) {
    description_.machines.push_back(machine->machine());
    add(machine->parts());
  }
}

Status RunningSession::write_description() {
  gather_parts();
  if (app_) told_programs_ = app_->parts().size();
  return recording::write_description(folder_, description_);
}

bool RunningSession::is_over(Clock::time_point now) {
  if (is_forsaken_ || signals_.asked_to_end() || (kernel_ && kernel_->failed()) ||
      (app_ && app_->failed()))
    return true;
  if (command_) report_.command_status = command_->ended();
  if (report_.command_status) return true;
  return request_.duration && now - begin_ >= *request_.duration;
}

// Whatever is due.
void RunningSession::tick(Clock::time_point now) {
  constexpr auto kTick = std::chrono::seconds(1);
  constexpr auto kBetweenAnchors = std::chrono::minutes(5);
  if (now >= next_sync_) {
    if (kernel_) kernel_->to_disk();
    if (app_) app_->to_disk();
    next_sync_ = Clock::now() + request_.sync;
  }
  if (now >= next_anchor_) {
    next_anchor_ = now + kBetweenAnchors;
    clock_->take_anchor();
    if (request_.flight) clock_->forget_anchors(kFlightAnchors);
  }
  if (now >= next_tick_) {
    next_tick_ = std::max(next_tick_ + kTick, now);
    tell_new_programs();
    if (kernel_) {
      const SourceStatus rings = kernel_->status();
      kernel_events_->fit_rings(rings.fill, rings.lost);
    }
    if (events_.status) events_.status(status(now));
    if (throttling_) sample_throttling();
  }
  if (now >= next_tending_) tend_chunks(now);
  if (request_.flight) snapshot_if_due(now);
}

// Programs come when they like, and so do their traces.
void RunningSession::tell_new_programs() {
  if (!app_ || app_->parts().size() == told_programs_) return;
  if (Status status = write_description(); !status) warn(status.error());
}

SessionStatus RunningSession::status(Clock::time_point now) {
  if (request_.flight) return flight_status(now);
  SessionStatus status{{}, now - begin_};
  if (kernel_) status += kernel_->status();
  if (app_) status += app_->status();
  for (MachineSource* machine : request_.machines)
    status.machines.push_back({machine->status(), machine->name(), machine->machine().ended});
  return status;
}

void RunningSession::wait() {
  next_anchor_ = begin_ + std::chrono::minutes(5);
  next_sync_ =
      kernel_ || (app_ && !request_.flight) ? begin_ + request_.sync : Clock::time_point::max();
  next_tick_ = begin_ + std::chrono::seconds(1);
  if (chunks_) next_tending_ = chunk_begin_ = begin_;
  for (Clock::time_point now = Clock::now(); !is_over(now); now = Clock::now()) {
    tick(now);
    Clock::time_point until = std::min({next_tick_, next_sync_, next_tending_});
    if (request_.duration) until = std::min(until, begin_ + *request_.duration);
    if (triggers_) until = std::min(until, triggers_->next());
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    std::vector<pollfd> waiting = {{signals_.file(), POLLIN, 0},
                                   {control_->file(), POLLIN, 0},
                                   {request_.forward ? request_.forward->until : -1, 0, 0}};
    if (triggers_) triggers_->add_files(waiting);
    for (const MachineSource* machine : request_.machines)
      waiting.push_back({machine->file(), POLLIN, 0});
    poll(waiting.data(), waiting.size(), static_cast<int>(std::max<int64_t>(left, 0)));
    is_forsaken_ = waiting[2].revents != 0;
    if (!request_.machines.empty()) look_at_machines();
    if (waiting[1].revents != 0)
      control_->serve([this](const Json& question) { return answer(question); });
  }
}

void RunningSession::stop() {
  report_.last.elapsed = Clock::now() - begin_;
  if (compression_) packed_ = compression_->stop();  // it asks the kernel's source
  for (MachineSource* machine : request_.machines) machine->ask_to_end();
  const auto end = [this](Source& source) {
    if (Status stopped = source.stop(); !stopped) warn(stopped.error());
  };
  if (kernel_) {
    end(*kernel_);
    report_.last += kernel_->status();
  }
  if (counters_) end(*counters_);
  if (throttling_) end(*throttling_);
  if (app_) {
    end(*app_);
    report_.last += app_->status();
  }
  for (MachineSource* machine : request_.machines) {
    end(*machine);
    report_.last.machines.push_back({machine->status(), machine->name(), machine->machine().ended});
  }
  look_at_machines();
  signals_.release();
}

Result<SessionReport> RunningSession::finish() {
  EndedChunk ended = end_chunk({});
  if (Status status = recording::write_description(folder_, description_); !status)
    return std::move(status).error();
  if (request_.forward) {
    report_.finished = false;
  } else if (chunks_) {
    chunks_->finish(std::move(ended));
    report_.finished = chunks_->finish_all(events_.finishing);
    chunks_->delete_old(Clock::now());
    for (const Error& problem : chunks_->problems()) warn(problem);
  } else {
    ended.ending.packed = std::move(packed_);
    const Result<recording::Finished> finished = recording::finish_recording(
        folder_, {request_.compressed, events_.finishing, std::move(ended.ending)});
    report_.finished = static_cast<bool>(finished);
    if (!finished) warn(finished.error());
  }
  report_.last.lost = (kernel_ ? kernel_->lost() : 0) + (app_ ? app_->status().lost : 0);
  report_.size = folder_size(request_.folder);
  return report_;
}

}  // namespace strata::record
