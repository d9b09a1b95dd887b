// SPDX-License-Identifier: Apache-2.0
#include "record/session.h"

#include <poll.h>
#include <pwd.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/folder_size.h"
#include "base/time_text.h"
#include "kernel/dynamic_probes.h"
#include "kernel/kernel_files.h"
#include "kernel/machine_state.h"
#include "record/command.h"
#include "record/control.h"
#include "record/counters_source.h"
#include "record/kernel_source.h"
#include "record/registry.h"
#include "record/session_change.h"
#include "record/signals.h"
#include "record/state_trace.h"
#include "record/watcher.h"
#include "recording/finish.h"

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
  void stop();
  Result<SessionReport> finish();

 private:
  Status add_counters();
  void add_state();
  void settle();
  Json answer(const Json& question);
  Json change(const Json& question);
  Json take_now();
  Status add_folder();
  void remove_folder();
  void tend_chunks(Clock::time_point now);
  Status next_chunk();
  EndedChunk end_chunk(std::vector<kernel::PageFile> pages);
  bool is_over(Clock::time_point now);
  void tick(Clock::time_point now);
  void gather_parts();
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
  std::optional<KernelSource> kernel_;
  bool made_folder_ = false;
  std::string folder_;  // of the recording: the one that was asked for, or a chunk in it
  std::optional<Chunks> chunks_;
  Clock::time_point chunk_begin_;
  uint64_t bytes_before_chunk_ = 0;
  Clock::time_point begin_;
  Clock::time_point next_anchor_;
  Clock::time_point next_sync_;
  Clock::time_point next_tick_;
  Clock::time_point next_tending_ = Clock::time_point::max();
  recording::Description description_;
  std::vector<recording::Part> other_parts_;
  SessionReport report_;
};

Status Session::prepare() {
  Result<kernel::Tracefs> tracefs = kernel::Tracefs::find();
  if (!tracefs) return std::move(tracefs).error();
  tracefs_.emplace(*std::move(tracefs));
  clean_up_after_the_dead(*tracefs_);

  Result<Registration> registration = Registration::add(
      {request_.name, getpid(), getuid(), user_name(), request_.folder, begin_ns_, true, {}});
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
        if (remove_from_kernel(*tracefs_, request_.name, getuid()))
          forget_session(request_.name, getuid());
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
  if (Status status = add_folder(); !status) return status;
  return add_counters();
}

// What is recorded into.
Status Session::add_folder() {
  folder_ = request_.folder;
  if (!request_.keep.is_limited()) return {};
  chunks_.emplace(request_.folder, request_.keep, request_.compressed);
  Result<std::string> first = chunks_->make_folder();
  if (!first) return std::move(first).error();
  folder_ = *std::move(first);
  return {};
}

// Where nothing is recorded after all.
void Session::remove_folder() {
  std::error_code ignored;  // nothing is in it but files of pages without any
  if (chunks_) std::filesystem::remove_all(folder_, ignored);
  if (made_folder_) std::filesystem::remove_all(request_.folder, ignored);
}

Status Session::add_counters() {
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

Status Session::start() {
  kernel_events_.emplace(
      *tracefs_,
      KernelRequest{machine_wide_name(request_.name, getuid()), request_.events,
                    request_.buffer_bytes, request_.processes, request_.probes, request_.presets},
      *clock_);
  KernelSource::Options how{folder_, request_.sync};
  if (chunks_) how.own_threads.push_back(chunks_->start());
  kernel_.emplace(*kernel_events_, std::move(how));
  if (Status status = kernel_->start(); !status) {
    remove_folder();
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
  if (Status status = write_description(); !status) return status;
  settle();
  return {};
}

void Session::settle() {
  if (chunks_ && chunks_->is_finishing()) return;
  if (Status status = kernel_events_->settle(); !status) warn(status.error());
}

// The state in which the recording starts, as a part of it. It is worth having and no more: what
// fails is told, and the recording goes on.
void Session::add_state() {
  if (!request_.state) return;
  const Result<kernel::MachineState> state = kernel::gather_state(clock_->state_clock());
  const Status written =
      state ? write_state(folder_ + "/" + kStateFolder, *state, clock_->ctf_clock())
            : Status(state.error());
  if (!written) return warn(written.error());
  other_parts_.push_back({.file = kStateFolder,
                          .kind = "ctf",
                          .what = "state",
                          .machine = "",
                          .clock = clock_->state_clock_name(),
                          .finished = true});
}

// What the anchors tell is better known the later it is asked.
void Session::tell_clocks() {
  description_.clocks = clock_->descriptions(description_.machines.front().name);
  description_.maps = clock_->maps();
}

void Session::gather_parts() {
  description_.parts = kernel_->parts();
  if (counters_) {
    const std::vector<recording::Part> own = counters_->parts();
    description_.parts.insert(description_.parts.end(), own.begin(), own.end());
  }
  description_.parts.insert(description_.parts.end(), other_parts_.begin(), other_parts_.end());
  for (recording::Part& part : description_.parts)
    part.machine = description_.machines.front().name;
}

Status Session::write_description() {
  gather_parts();
  return recording::write_description(folder_, description_);
}

bool Session::is_over(Clock::time_point now) {
  if (signals_.asked_to_end() || kernel_->failed()) return true;
  if (command_) report_.command_status = command_->ended();
  if (report_.command_status) return true;
  return request_.duration && now - begin_ >= *request_.duration;
}

// Whatever is due.
void Session::tick(Clock::time_point now) {
  constexpr auto kTick = std::chrono::seconds(1);
  constexpr auto kBetweenAnchors = std::chrono::minutes(5);
  if (now >= next_sync_) {
    kernel_->to_disk();
    next_sync_ = Clock::now() + request_.sync;
  }
  if (now >= next_anchor_) {
    next_anchor_ = now + kBetweenAnchors;
    clock_->take_anchor();
  }
  if (now >= next_tick_) {
    next_tick_ += kTick;
    if (events_.status) events_.status({kernel_->status(), now - begin_});
  }
  if (now >= next_tending_) tend_chunks(now);
}

void Session::tend_chunks(Clock::time_point now) {
  constexpr auto kBetweenTendings = std::chrono::milliseconds(200);
  next_tending_ = now + kBetweenTendings;
  if (chunks_->should_end(now - chunk_begin_, kernel_->bytes() - bytes_before_chunk_)) {
    // Where there cannot be another chunk, this one goes on, and has had its share again in a
    // while.
    if (Status status = next_chunk(); !status) warn(status.error());
    chunk_begin_ = Clock::now();
    bytes_before_chunk_ = kernel_->bytes();
  }
  chunks_->delete_old(Clock::now());
  settle();
  for (const Error& problem : chunks_->problems()) warn(problem);
}

// In an order in which at every moment all that was recorded opens: the next chunk is one, without
// events, before any can come to it.
Status Session::next_chunk() {
  const Result<std::string> folder = chunks_->make_folder();
  if (!folder) return folder.error();
  tell_clocks();
  recording::Description next = description_;
  next.sessions.back().begin_ns = now_since_epoch().count;
  next.parts = kernel_->parts();
  next.parts.front().machine = next.machines.front().name;
  Result<KernelSource::PageFiles> files = kernel_->make_files(*folder);
  const Status opens = files ? recording::write_description(*folder, next) : Status(files.error());
  if (!opens) {
    std::error_code ignored;
    std::filesystem::remove_all(*folder, ignored);
    return opens;
  }
  if (Status status = kernel_events_->get_busy(); !status) warn(status.error());
  KernelSource::Complete kernel = kernel_->continue_in(*folder, *std::move(files));
  EndedChunk ended = end_chunk(std::move(kernel.pages));
  description_.parts[0].lost = kernel.part.lost;
  if (counters_) {
    const recording::Part counters = counters_->continue_in(*folder);
    description_.parts[1].lost = counters.lost;
    description_.parts[1].lost_unknown = counters.lost_unknown;
    description_.parts[1].finished = counters.finished;
  }
  const Status told = recording::write_description(folder_, description_);
  chunks_->finish(std::move(ended));
  folder_ = *folder;
  description_ = std::move(next);
  other_parts_.clear();
  clock_->begin_chunk();
  add_state();
  tell_clocks();
  if (Status status = write_description(); !status) return status;
  return told;
}

// The recording in folder_ has all that comes to it.
EndedChunk Session::end_chunk(std::vector<kernel::PageFile> pages) {
  clock_->take_anchor();
  tell_clocks();
  gather_parts();
  description_.sessions.back().end_ns = now_since_epoch().count;
  return {folder_, Clock::now(), std::move(pages), kernel_->ending()};
}

void Session::wait() {
  next_anchor_ = begin_ + std::chrono::minutes(5);
  next_sync_ = begin_ + request_.sync;
  next_tick_ = begin_ + std::chrono::seconds(1);
  if (chunks_) next_tending_ = chunk_begin_ = begin_;
  for (Clock::time_point now = Clock::now(); !is_over(now); now = Clock::now()) {
    tick(now);
    Clock::time_point until = std::min({next_tick_, next_sync_, next_tending_});
    if (request_.duration) until = std::min(until, begin_ + *request_.duration);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting[] = {{signals_.file(), POLLIN, 0}, {control_->file(), POLLIN, 0}};
    poll(waiting, 2, static_cast<int>(std::max<int64_t>(left, 0)));
    if (waiting[1].revents != 0)
      control_->serve([this](const Json& question) { return answer(question); });
  }
}

Json Session::answer(const Json& question) {
  const auto what = question.find("do");
  const std::string name =
      what != question.end() && what->is_string() ? what->get<std::string>() : "";
  if (name == "status") {
    const SourceStatus status = kernel_->status();
    return {{"events", status.events},
            {"bytes", status.bytes},
            {"lost", status.lost},
            {"fill", status.fill},
            {"elapsed_ns", std::chrono::nanoseconds(Clock::now() - begin_).count()}};
  }
  if (name == "change") return change(question);
  if (name == "take") return take_now();
  return {{"error", "this session cannot do '" + name + "'"}};
}

// For who follows the recording.
Json Session::take_now() {
  const std::optional<uint64_t> now = clock_->now();
  const KernelSource::Written written = kernel_->take_now();
  Json files = Json::array();
  for (const auto& [cpu, bytes] : written.bytes) files.push_back({{"cpu", cpu}, {"bytes", bytes}});
  Json answer = {{"path", written.path}, {"files", std::move(files)}};
  if (now) answer["until"] = *now;
  return answer;
}

Json Session::change(const Json& question) {
  const Result<SessionChange> wanted = parse_change(question);
  if (!wanted) return {{"error", wanted.error().text()}};
  if (Status status = kernel_events_->get_busy(); !status) warn(status.error());
  const Result<std::string> done =
      apply(*wanted, *tracefs_, *kernel_events_, folder_ + "/host.dat");
  if (done) {
    description_.sessions.back().changes.push_back({now_since_epoch().count, *done});
    if (Status status = write_description(); !status) warn(status.error());
  }
  settle();
  if (!done) return {{"error", done.error().text()}};
  return {{"changed", *done}};
}

void Session::stop() {
  report_.last.elapsed = Clock::now() - begin_;
  if (Status stopped = kernel_->stop(); !stopped) warn(stopped.error());
  static_cast<SourceStatus&>(report_.last) = kernel_->status();
  if (counters_) {
    if (Status ended = counters_->stop(); !ended) warn(ended.error());
  }
  signals_.release();
}

Result<SessionReport> Session::finish() {
  EndedChunk ended = end_chunk({});
  if (Status status = recording::write_description(folder_, description_); !status)
    return std::move(status).error();
  if (chunks_) {
    chunks_->finish(std::move(ended));
    report_.finished = chunks_->finish_all(events_.finishing);
    chunks_->delete_old(Clock::now());
    for (const Error& problem : chunks_->problems()) warn(problem);
  } else {
    const Result<recording::Finished> finished = recording::finish_recording(
        folder_, {request_.compressed, events_.finishing, std::move(ended.ending)});
    report_.finished = static_cast<bool>(finished);
    if (!finished) warn(finished.error());
  }
  report_.last.lost = kernel_->lost();
  report_.size = folder_size(request_.folder);
  return report_;
}

}  // namespace

void clean_up_after_the_dead(const kernel::Tracefs& tracefs) {
  for (const SessionEntry& entry : list_sessions()) {
    if (entry.is_alive || (entry.user != getuid() && getuid() != 0)) continue;
    if (remove_from_kernel(tracefs, entry.name, entry.user)) forget_session(entry.name, entry.user);
  }
}

Result<SessionReport> record(const SessionRequest& request, const SessionEvents& events) {
  Session session(request, events);
  if (Status status = session.prepare(); !status) return std::move(status).error();
  if (Status status = session.start(); !status) return std::move(status).error();
  if (Status status = session.explain(); !status) return std::move(status).error();
  session.wait();
  session.stop();
  return session.finish();
}

}  // namespace strata::record
