// SPDX-License-Identifier: Apache-2.0
//
// What the thread of a GuestSource says to the agent, and what it hears.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "format/tracedat/trace_dat.h"
#include "guest/guest_source.h"
#include "kernel/ring_drain.h"

namespace strata::guest {
namespace {

// The agent numbers recordings as its host does; this host has one on a connection.
constexpr uint32_t kRecording = 1;

constexpr auto kCallPatience = std::chrono::seconds(5);    // to connect
constexpr auto kStartPatience = std::chrono::seconds(10);  // until it records
constexpr auto kBetweenWords = std::chrono::seconds(1);
constexpr auto kSilence = std::chrono::seconds(5);  // from then on it is told
constexpr auto kBetweenBursts = std::chrono::seconds(5);
// For the rest, when it is to end: as long as something still comes, and not for ever.
constexpr auto kEndPatience = std::chrono::seconds(3);
constexpr auto kMostEndPatience = std::chrono::seconds(30);

// A ring and a stream each: more is no machine that this host runs.
constexpr size_t kMostGuestCpus = 1024;

Status check(const Started& started) {
  const auto refuse = [](const char* why) { return Error{"", std::nullopt, why}; };
  if (!std::has_single_bit(started.page_size) || started.page_size < 4096 ||
      started.page_size > 65536)
    return refuse("has rings with pages of a size that there is not");
  std::vector<uint32_t> cpus = started.cpus;
  std::ranges::sort(cpus);
  if (cpus.empty() || cpus.size() > kMostGuestCpus || cpus.back() >= kMaxCpus ||
      std::ranges::adjacent_find(cpus) != cpus.end())
    return refuse("has CPUs that there cannot be");
  return {};
}

// "2026-11-20 00:12:05 UTC"
std::string time_ago(std::chrono::steady_clock::duration ago) {
  const auto then = std::chrono::system_clock::now() -
                    std::chrono::duration_cast<std::chrono::system_clock::duration>(ago);
  const time_t seconds = std::chrono::system_clock::to_time_t(then);
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[40];
  strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text;
}

}  // namespace

void GuestSource::run() {
  thread_id_ = static_cast<pid_t>(syscall(SYS_gettid));
  thread_id_.notify_all();
  Status status = begin();
  if (status) {
    {
      const std::lock_guard lock(mutex_);
      phase_ = Phase::Recording;
    }
    changed_.notify_all();
    status = talk();
  }
  if (status) status = finish();
  pages_->end();
  if (!started_.cpus.empty()) take_files();
  if (!files_->has_head()) forget_trace();
  if (!status) end(status.error().text());
  // An agent that hears no goodbye takes the connection for cut off.
  if (connection_) connection_->channel().end_sending();
  connection_.reset();
  const std::lock_guard lock(mutex_);
  phase_ = Phase::Ended;
  changed_.notify_all();
}

Status GuestSource::begin() {
  Result<Dialed> dialed = dial(wanted_.address, key_, within(kCallPatience));
  if (!dialed) return std::move(dialed).error();
  connection_.emplace(std::move(dialed->connection));
  const Deadline deadline = within(kStartPatience);
  const Result<Message> first = connection_->receive(deadline);
  if (!first) return first.error();
  if (first->kind == Kind::Refused) return hear(*first);
  const Result<Description> description = decode<Description>(*first);
  if (!description) return description.error();
  {
    const std::lock_guard lock(mutex_);
    machine_.boot_id = description->boot_id;
    machine_.kernel = description->kernel;
  }
  const std::string json = to_json(wanted_.request);
  if (Status sent = connection_->send(Record{std::as_bytes(std::span(json))}, kRecording); !sent)
    return sent;
  if (Status started = await_start(deadline); !started) return started;
  if (Status attached = attach_streams(deadline); !attached) return attached;
  take_files();
  if (Status compared = clock_->compare(); !compared) note(compared.error().text());
  heard_ = next_word_ = Clock::now();
  next_burst_ = heard_ + kBetweenWords;  // soon again, for the clocks' rates
  return {};
}

Status GuestSource::await_start(Deadline deadline) {
  while (true) {
    const Result<Message> message = connection_->receive(deadline);
    if (!message) return message.error();
    if (message->kind != Kind::Started) {
      if (Status heard = hear(*message); !heard) return heard;
      continue;
    }
    Result<Started> started = decode<Started>(*message);
    if (!started) return std::move(started).error();
    if (Status fine = check(*started); !fine) return fine;
    const std::lock_guard lock(mutex_);
    started_ = *std::move(started);
    part_clocks_["kernel"] =
        clock_name(started_.clock == "x86-tsc" ? "host.tsc" : "host." + started_.clock);
    return {};
  }
}

Status GuestSource::attach_streams(Deadline deadline) {
  std::vector<GuestPages::Source> sources;
  for (const uint32_t cpu : started_.cpus) {
    Result<DataChannel> data = attach(wanted_.address, key_, {started_.token, cpu}, deadline);
    if (!data) return std::move(data).error();
    Result<kernel::PageFile> file =
        kernel::PageFile::create(tracedat::TraceDat::page_file_name(files_->trace_path(), cpu));
    if (!file) return std::move(file).error();
    sources.push_back({cpu, *std::move(data), std::move(file->path), std::move(file->file)});
  }
  if (Status begun =
          pages_->begin(std::move(sources), started_.page_size,
                        wanted_.request.compressed ? LinkCompression::Zstd : LinkCompression::None);
      !begun)
    return begun;
  if (!counter_of(started_.clock)) {
    note("its clock " + started_.clock + " cannot be compared with this machine's");
    return {};
  }
  Result<DataChannel> probes =
      attach(wanted_.address, key_, {started_.token, kClockStream}, deadline);
  if (!probes) return std::move(probes).error();
  clock_->begin(
      std::make_unique<ProbeChannel>(std::move(probes->channel), std::move(probes->received)));
  return {};
}

Status GuestSource::talk() {
  while (!asked_to_end_ && !is_done_) {
    if (Status heard = hear_all(); !heard) return heard;
    if (const std::optional<Error> problem = pages_->problem()) return *problem;
    if (Status said = say_what_is_due(Clock::now()); !said) return said;
    std::vector<pollfd> files = {{wake_.get(), POLLIN, 0}, connection_->channel().to_receive()};
    if (connection_->unsent() > 0) files.push_back(connection_->channel().to_send());
    wait_for(files, std::min(next_word_, next_burst_));
  }
  return {};
}

Status GuestSource::hear_all() {
  bool heard = false;
  while (true) {
    const Result<std::optional<Message>> message = connection_->receive();
    if (!message) return message.error();
    if (!*message) break;
    heard = true;
    if (Status status = hear(**message); !status) return status;
  }
  if (heard) take_files();
  if (heard) heard_ = Clock::now();
  watch_silence(Clock::now());
  return {};
}

Status GuestSource::hear(const Message& message) {
  const auto failed = [](const auto& result) { return Status(result.error()); };
  switch (message.kind) {
    case Kind::KeepAlive: {
      Result<KeepAlive> alive = decode<KeepAlive>(message);
      if (!alive) return failed(alive);
      if (alive->answers) return {};
      alive->answers = true;
      return connection_->send(*alive);
    }
    case Kind::Status: {
      const Result<RecordingStatus> told = decode<RecordingStatus>(message);
      if (!told) return failed(told);
      const std::lock_guard lock(mutex_);
      status_.events = told->events;
      status_.lost = told->lost;
      for (const CpuStatus& cpu : told->cpus)
        status_.fill = std::max(status_.fill, std::min<uint16_t>(cpu.permille, 1000) / 1000.0);
      return {};
    }
    case Kind::File: {
      const Result<File> file = decode<File>(message);
      return file ? files_->begin(*file) : failed(file);
    }
    case Kind::Piece: {
      const Result<Piece> piece = decode<Piece>(message);
      return piece ? files_->take(*piece) : failed(piece);
    }
    case Kind::Problem: {
      const Result<Problem> problem = decode<Problem>(message);
      if (!problem) return failed(problem);
      note(problem->what);
      return {};
    }
    case Kind::Refused: {
      const Result<Refused> refused = decode<Refused>(message);
      if (!refused) return failed(refused);
      return Error{"", std::nullopt, "refuses: " + refused->why};
    }
    case Kind::Done: {
      const Result<Done> done = decode<Done>(message);
      if (!done) return failed(done);
      is_done_ = true;
      pages_->expect(done->streams);
      const std::lock_guard lock(mutex_);
      status_.events = done->events;
      why_done_ = done->why;
      return {};
    }
    default:
      return {};
  }
}

Status GuestSource::say_what_is_due(Clock::time_point now) {
  if (now >= next_word_) {
    next_word_ = now + kBetweenWords;
    if (Status sent = connection_->send(KeepAlive{++words_, false}); !sent) return sent;
  }
  // A guest that does not answer would not answer probes either.
  if (now >= next_burst_) {
    next_burst_ = now + kBetweenBursts;
    if (!is_silent_) {
      if (Status compared = clock_->compare(); !compared) note(compared.error().text());
    }
  }
  return connection_->flush();
}

void GuestSource::watch_silence(Clock::time_point now) {
  const bool silent = now - heard_ > kSilence;
  if (silent == std::exchange(is_silent_, silent)) return;
  const std::string text = silent ? "no answer since " + time_ago(now - heard_) : "";
  {
    const std::lock_guard lock(mutex_);
    machine_.ended = text;
  }
  note(silent ? text : "answers again");
}

// What is still to come is waited for as long as something comes.
Status GuestSource::finish() {
  if (!is_done_) {
    if (!is_silent_) {
      if (Status compared = clock_->compare(); !compared) note(compared.error().text());
    }
    if (Status sent = connection_->send(Stop{}, kRecording); !sent) return sent;
  }
  const Clock::time_point last = Clock::now() + kMostEndPatience;
  uint64_t bytes = pages_->bytes();
  Clock::time_point progress = Clock::now();
  while (!is_done_) {
    if (Status said = connection_->flush(); !said) return said;
    std::vector<pollfd> files = {connection_->channel().to_receive()};
    wait_for(files, within(std::chrono::milliseconds(100)));
    if (Status heard = hear_all(); !heard) return heard;
    if (const std::optional<Error> problem = pages_->problem()) return *problem;
    if (std::exchange(bytes, pages_->bytes()) != pages_->bytes()) progress = Clock::now();
    const Clock::time_point now = Clock::now();
    if (now - std::max(progress, heard_) > kEndPatience || now > last)
      return Error{"", std::nullopt, "no answer since " + time_ago(now - heard_)};
  }
  const bool whole = pages_->wait(within(kEndPatience));
  if (const std::optional<Error> problem = pages_->problem()) return *problem;
  if (!whole) return Error{"", std::nullopt, "the last of its pages did not come"};
  if (!why_done_.empty()) return Error{"", std::nullopt, why_done_};
  const std::lock_guard lock(mutex_);
  machine_.ended.clear();
  return {};
}

void GuestSource::end(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    // Since when nothing was heard of it says more than how that came out.
    if (!is_silent_) machine_.ended = why + ", at " + time_ago({});
  }
  note(why);
}

}  // namespace strata::guest
