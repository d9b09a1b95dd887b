// SPDX-License-Identifier: Apache-2.0
#include "guest/guest_source.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/signals_blocked.h"
#include "format/tracedat/trace_dat.h"

namespace strata::guest {
namespace {

constexpr const char* kAppMark = "-app-";

// Whether a guest's own words can be told to people.
bool is_text(const std::string& words) {
  return words.size() <= kMaxText && std::ranges::all_of(words, is_printable);
}

// Guests' clocks have the names of a host's, but for whose they are.
constexpr std::string_view kHostsClock = "host.";

}  // namespace

bool is_guest_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name.find(kAppMark) == std::string::npos;
}

GuestSource::GuestSource(GuestRequest wanted, Key key)
    : wanted_(std::move(wanted)),
      key_(key),
      quota_(wanted_.quota),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      news_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  machine_.name = wanted_.name;
  machine_.kind = "guest";
}

GuestSource::~GuestSource() {
  if (!thread_.joinable()) return;
  ask_to_end();
  thread_.join();
}

void GuestSource::call(const std::string& folder, const record::HostClock& clock) {
  host_clock_ = &clock;
  files_.emplace(folder, wanted_.name, quota_);
  pages_.emplace(quota_);
  clock_.emplace(clock.kernel_name());
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
  thread_id_.wait(0);
}

std::vector<pid_t> GuestSource::threads() const { return {thread_id_, pages_->thread()}; }

Status GuestSource::start() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return phase_ != Phase::Calling; });
  if (phase_ != Phase::Ended || problems_.empty()) return {};
  Error why = std::move(problems_.back());
  problems_.pop_back();
  return why;
}

void GuestSource::ask_to_end() {
  asked_to_end_ = true;
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

Status GuestSource::stop() {
  ask_to_end();
  if (thread_.joinable()) thread_.join();
  return {};
}

// What came of its files, as parts of the recording.
void GuestSource::take_files() {
  if (const std::optional<recording::Description> own = files_->take_description()) {
    if (!files_->has_head()) {
      if (Status written = files_->write_head(started_.cpus, started_.page_size); !written)
        note(written.error().text());
    }
    const std::lock_guard lock(mutex_);
    own_clocks_.clear();
    for (const recording::NamedClock& clock : own->clocks) {
      if (!clock.name.starts_with(kHostsClock) || !is_text(clock.name) || !is_text(clock.note))
        continue;
      recording::NamedClock& added = own_clocks_.emplace_back();
      added.name = clock_name(clock.name);
      added.machine = wanted_.name;
      added.frequency = clock.frequency;
      added.note = clock.note;
    }
    part_clocks_.clear();
    for (const recording::Part& part : own->parts) {
      if (is_text(part.clock)) part_clocks_[part.what] = clock_name(part.clock);
    }
  }
  const std::lock_guard lock(mutex_);
  // Told before it is there, so that whatever ends us, what comes is not without it.
  std::vector<recording::Part> parts(1);
  parts.front().file = files_->trace_name();
  parts.front().kind = "tracedat";
  parts.front().what = "kernel";
  parts.insert(parts.end(), files_->parts().begin(), files_->parts().end());
  for (recording::Part& part : parts) {
    part.machine = wanted_.name;
    part.clock = part_clocks_[part.what];
  }
  if (parts_ == parts) return;
  parts_ = std::move(parts);
  tell_news();
}

// Pages that nothing explains.
void GuestSource::forget_trace() {
  files_->remove_head();
  const std::lock_guard lock(mutex_);
  for (const uint32_t cpu : started_.cpus)
    unlink(tracedat::TraceDat::page_file_name(files_->trace_path(), cpu).c_str());
  std::erase_if(parts_, [](const recording::Part& part) { return part.what == "kernel"; });
}

std::string GuestSource::clock_name(const std::string& own) const {
  return own.starts_with(kHostsClock)
             ? "guest-" + wanted_.name + "." + own.substr(kHostsClock.size())
             : own;
}

void GuestSource::tell_news() const {
  const uint64_t one = 1;
  (void)!write(news_.get(), &one, sizeof one);
}

void GuestSource::note(std::string problem) {
  const std::lock_guard lock(mutex_);
  problems_.push_back({"guest " + wanted_.name, std::nullopt, std::move(problem)});
  tell_news();
}

record::SourceStatus GuestSource::status() {
  const std::lock_guard lock(mutex_);
  record::SourceStatus status = status_;
  if (pages_) status.bytes = pages_->bytes();
  return status;
}

std::vector<recording::Part> GuestSource::parts() const {
  const std::lock_guard lock(mutex_);
  std::vector<recording::Part> parts = parts_;
  for (recording::Part& part : parts) {
    if (part.what == "kernel") part.lost = status_.lost;
  }
  return parts;
}

recording::Machine GuestSource::machine() const {
  const std::lock_guard lock(mutex_);
  return machine_;
}

std::vector<recording::NamedClock> GuestSource::clocks() const {
  const std::lock_guard lock(mutex_);
  return own_clocks_;
}

std::vector<trace::ClockMap> GuestSource::maps() const {
  const uint64_t hertz = host_clock_->descriptions("").front().frequency;
  if (hertz == 0) return {};
  std::optional<trace::ClockMap> map = clock_->map(1e9 / static_cast<double>(hertz));
  if (!map) return {};
  const std::lock_guard lock(mutex_);
  const auto own = part_clocks_.find("kernel");
  if (own == part_clocks_.end()) return {};
  map->from = own->second;
  map->to = host_clock_->name();
  return {*std::move(map)};
}

std::vector<Error> GuestSource::problems() {
  uint64_t count = 0;
  (void)!read(news_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(problems_, {});
}

}  // namespace strata::guest
