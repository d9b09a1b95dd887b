// SPDX-License-Identifier: Apache-2.0
#include "top/ring_feed.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "record/follow_session.h"
#include "state/pass.h"
#include "top/recorder.h"
#include "trace/trace.h"

namespace strata::top {
namespace {

using namespace std::chrono_literals;
using period::Group;
using period::Groups;
using period::Table;

// Tables are cut this often, so that what is told ends a moment ago.
constexpr Nanoseconds kPiece{100'000'000};
constexpr auto kBetweenLooks = 20ms;
constexpr auto kMostForStart = 20s;
constexpr auto kMostForTable = 5s;
// What an event costs who causes it: about what tracing switches, wake-ups and system calls took on
// machines where that was measured.
constexpr uint64_t kEventCost = 300;
constexpr std::string_view kEnding = ".rings";

std::vector<std::string> options_for(Groups groups) {
  std::vector<std::string> events = {
      "sched_switch",       "sched_waking",       "sched_wakeup_new",   "sched_process_fork",
      "sched_process_exec", "sched_process_exit", "sched_migrate_task", "task_newtask",
      "task_rename",        "irq_handler_*",      "softirq_entry",      "softirq_exit"};
  const auto add = [&](std::initializer_list<const char*> more) {
    events.insert(events.end(), more.begin(), more.end());
  };
  if (groups.has(Group::Calls) || groups.has(Group::Io) || groups.has(Group::Latencies))
    add({"raw_syscalls:*"});
  if (groups.has(Group::Io) || groups.has(Group::Latencies)) add({"block_rq_*"});
  if (groups.has(Group::Io)) add({"net_dev_queue", "netif_receive_skb"});
  if (groups.has(Group::Vms)) add({"kvm:*"});
  std::vector<std::string> options = {"--keep", "10s", "--max-size",    "64M",
                                      "--sync", "1h",  "--compression", "none"};
  for (std::string& event : events) {
    options.emplace_back("-e");
    options.push_back(std::move(event));
  }
  return options;
}

// The folder of this process, in memory. What others left there who were killed is removed.
Result<std::string> own_folder() {
  Result<std::string> folder = record::registry_folder();
  if (!folder) return folder;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(*folder, ignored)) {
    const std::string name = entry.path().filename();
    pid_t owner = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), owner);
    if (error == std::errc() && end == &*name.end() - kEnding.size() && name.ends_with(kEnding) &&
        kill(owner, 0) != 0 && errno == ESRCH)
      std::filesystem::remove_all(entry.path(), ignored);
  }
  return *folder + "/" + std::to_string(getpid()) + std::string(kEnding);
}

std::chrono::nanoseconds own_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// A recorder, and a thread that follows what it records.
class Following {
 public:
  static Result<std::unique_ptr<Following>> start(Groups groups) {
    Result<std::string> folder = own_folder();
    if (!folder) return std::move(folder).error();
    Result<Recorder> recorder =
        Recorder::start("top-" + std::to_string(getpid()), *folder, options_for(groups));
    if (!recorder) return std::move(recorder).error();
    std::unique_ptr<Following> following(new Following(*std::move(recorder)));
    if (Status done = following->await(); !done) return std::move(done).error();
    following->thread_ = std::thread([&following = *following] { following.follow(); });
    return following;
  }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;
  ~Following() {
    {
      const std::lock_guard lock(mutex_);
      is_enough_ = true;
    }
    if (thread_.joinable()) thread_.join();
    (void)recorder_.stop();
    std::error_code ignored;
    std::filesystem::remove_all(recorder_.folder(), ignored);
  }

  // All that was cut since the last call, as one.
  Result<Table> take() {
    std::unique_lock lock(mutex_);
    if (!more_.wait_for(lock, kMostForTable, [&] { return has_ended_ || !tables_.empty(); }))
      return Error{recorder_.folder(), std::nullopt, "no event came for five seconds"};
    if (tables_.empty()) {
      if (Status alive = recorder_.alive(); !alive) return alive.error();
      return problem_.value_or(Error{recorder_.folder(), std::nullopt, "the recording has ended"});
    }
    std::vector<Table> pieces = std::exchange(tables_, {});
    lock.unlock();
    Table sum = std::move(pieces.front());
    for (size_t i = 1; i < pieces.size(); ++i)
      if (!sum.append(pieces[i])) return Error{recorder_.folder(), std::nullopt, "skips a time"};
    return sum;
  }

  std::chrono::nanoseconds cpu_time() const { return recorder_.cpu_time() + own_cpu_time(); }

 private:
  explicit Following(Recorder recorder) : recorder_(std::move(recorder)) {}

  // Until it records.
  Status await() {
    for (const auto end = std::chrono::steady_clock::now() + kMostForStart;;) {
      if (Status alive = recorder_.alive(); !alive) return alive;
      if (const std::optional<record::SessionEntry> session = recorder_.session()) {
        Result<record::FollowedRecording> followed = record::follow_recording(*session);
        if (followed) {
          followed_ = *std::move(followed);
          return {};
        }
        if (std::chrono::steady_clock::now() > end) return std::move(followed).error();
      } else if (std::chrono::steady_clock::now() > end) {
        return Error{recorder_.folder(), std::nullopt, "the recorder has not begun yet"};
      }
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  void follow() {
    state::Pass pass(followed_.traces);
    pass.growing = {followed_.growing};
    pass.periods = {kPiece, trace::time_base(followed_.traces)};
    pass.at_period = [&](Table&& table) {
      const std::lock_guard lock(mutex_);
      // Nobody asks: then it is one, however long.
      if (tables_.size() > 100 && tables_.back().append(table)) return !is_enough_;
      tables_.push_back(std::move(table));
      more_.notify_one();
      return !is_enough_;
    };
    pass.at_pause = [&] {
      std::this_thread::sleep_for(kBetweenLooks);
      const std::lock_guard lock(mutex_);
      return !is_enough_;
    };
    pass.run();
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    if (!pass.problems().empty()) problem_ = pass.problems().front();
    more_.notify_one();
  }

  Recorder recorder_;
  record::FollowedRecording followed_;
  std::mutex mutex_;  // of all below but the thread
  std::condition_variable more_;
  std::vector<Table> tables_;
  std::optional<Error> problem_;
  bool has_ended_ = false;
  bool is_enough_ = false;
  std::thread thread_;
};

class RingFeed : public period::Feed {
 public:
  explicit RingFeed(std::string why) : why_(std::move(why)) {}

  bool is_live() const override { return true; }

  Result<std::optional<Table>> next() override {
    if (!following_) return Error{{}, std::nullopt, "the recorder could not be started again"};
    Result<Table> table = following_->take();
    if (!table) return std::move(table).error();
    const std::chrono::nanoseconds now = following_->cpu_time();
    for (period::Machine& machine : table->machines) tell_cost(now - cpu_time_, machine);
    cpu_time_ = now;
    return std::optional<Table>(*std::move(table));
  }

  Status restart() override {
    return Error{{}, std::nullopt, "what has happened on a running machine does not come again"};
  }

  Status want(Groups groups) override {
    if (!following_ || options_for(groups) != options_for(groups_)) {
      following_.reset();  // one recorder at a time
      Result<std::unique_ptr<Following>> following = Following::start(groups);
      if (!following) return std::move(following).error();
      following_ = *std::move(following);
      cpu_time_ = following_->cpu_time();
    }
    groups_ = groups;
    if (groups.has(Group::Counters))
      return Error{{}, std::nullopt, "performance counters are not read beside the kernel's rings"};
    return {};
  }
  Groups told() const override { return groups_; }

  std::vector<std::string> shortfalls() const override {
    return {why_, "so each event is moved to memory and read there, which costs more"};
  }

 private:
  static void tell_cost(std::chrono::nanoseconds own, period::Machine& machine) {
    using enum period::Column;
    machine.values.set(Observer, static_cast<uint64_t>(std::max(own.count(), int64_t{0})));
    machine.values.set(Observing, machine.values[Events] * kEventCost);
    machine.marks.set(period::RowKind::Machine, Observer, period::Certainty::Exact);
    machine.marks.set(period::RowKind::Machine, Observing, period::Certainty::Estimated);
  }

  std::string why_;
  Groups groups_;
  std::unique_ptr<Following> following_;
  std::chrono::nanoseconds cpu_time_{};  // that was told
};

}  // namespace

Result<std::unique_ptr<period::Feed>> ring_feed(std::string why) {
  auto feed = std::make_unique<RingFeed>(std::move(why));
  if (Status wanted = feed->want(Groups::least()); !wanted) return std::move(wanted).error();
  return std::unique_ptr<period::Feed>(std::move(feed));
}

}  // namespace strata::top
