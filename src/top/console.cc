// SPDX-License-Identifier: Apache-2.0
#include "top/console.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/time_text.h"

namespace strata::top {
namespace {

constexpr double kFastest = 1024;
constexpr double kSlowest = 1.0 / 1024;
// The first table of a running machine comes sooner than the others: nobody wants to wait.
constexpr int64_t kFirst = 250'000'000;

int64_t monotonic_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Console::Console(Timeline& timeline, Board& board, Recordings& recordings, Terminal terminal,
                 const Pace& pace)
    : timeline_(timeline),
      board_(board),
      recordings_(recordings),
      terminal_(std::move(terminal)),
      pace_(pace),
      wanted_(board.wants()),
      counters_(board.counters()) {}

Result<int> Console::run() {
  const bool is_live = timeline_.feed().is_live();
  if (!is_live && timeline_.take()) {
    first_begin_ = timeline_.begin();
    show();
  }
  deadline_ = monotonic_now() + (is_live ? std::min(kFirst, pace_.delay.count) : interval());
  if (Status drawn = draw(); !drawn) return std::move(drawn).error();
  while (!is_done_) {
    Result<Woken> woken = terminal_.wait(deadline_);
    if (!woken) return std::move(woken).error();
    ending_ = ending_ != 0 ? ending_ : woken->ending;
    if (ending_ != 0) break;
    if (!woken->keys.empty()) message_.clear();
    for (const Key& key : woken->keys) {
      obey(board_.press(key));
      if (is_done_) break;
    }
    ask_feed();
    if (woken->is_time) at_time();
    if (is_done_ || ending_ != 0) break;
    if (Status drawn = draw(); !drawn) return std::move(drawn).error();
  }
  return ending_;
}

int64_t Console::interval() const {
  if (timeline_.feed().is_live()) return pace_.delay.count;
  const auto length = static_cast<double>(std::max<int64_t>(board_.table().length(), 1));
  // A long time without events passes as fast as any other period.
  const double delay = std::min(length, 10 * static_cast<double>(pace_.delay.count)) / pace_.speed;
  return std::max<int64_t>(static_cast<int64_t>(delay), 1'000'000);
}

void Console::at_time() {
  see_recordings();
  if (timeline_.feed().is_live()) {
    take_live();
  } else if (!pace_.is_paused) {
    if (timeline_.forward()) {
      show();
    } else {
      pace_.is_paused = true;
      if (const auto& problem = timeline_.problem()) say(problem->text(), true);
    }
  }
  ++refreshes_;
  if (pace_.refreshes && refreshes_ >= *pace_.refreshes) is_done_ = true;
  // What was missed, by a program that was stopped or has been slow, is not made up for.
  deadline_ = std::max(deadline_ + interval(), monotonic_now());
}

void Console::take_live() {
  if (!timeline_.take()) {
    if (const auto& problem = timeline_.problem()) say(problem->text(), true);
    pace_.is_paused = true;
    return;
  }
  if (is_awaited_ && sought_) {
    const size_t position = timeline_.position();
    timeline_.to_newest();
    if (board_.holds(*sought_, timeline_.table())) {
      is_awaited_ = false;
      pace_.is_paused = true;
      say(sought_->text() + ": now");
      show();
    } else {
      timeline_.to(position);
    }
  }
  // Who begins with a pause sees the first period.
  if (pace_.is_paused && timeline_.history().size() > 1) return;
  timeline_.to_newest();
  show();
}

void Console::show() {
  if (!timeline_.empty()) board_.show(timeline_.table());
}

void Console::say(std::string message, bool is_alarm) {
  message_ = std::move(message);
  is_alarm_ = is_alarm;
}

Going Console::going() const {
  const bool is_live = timeline_.feed().is_live();
  if (!is_live && timeline_.has_ended() && timeline_.is_newest()) return Going::Ended;
  return pace_.is_paused ? Going::Paused : is_live ? Going::Live : Going::Played;
}

Status Console::draw() {
  if (grid_.width() != terminal_.width() || grid_.height() != terminal_.height())
    grid_.resize(terminal_.width(), terminal_.height());
  const bool has_table = !timeline_.empty();
  Moment moment{.going = going(),
                .behind = has_table ? timeline_.history().size() - 1 - timeline_.position() : 0,
                .speed = pace_.speed,
                .shortfalls = timeline_.feed().shortfalls(),
                .message = message_,
                .beside = beside_,
                .is_alarm = is_alarm_,
                .history = has_table ? &timeline_.history() : nullptr,
                .position = timeline_.position()};
  board_.draw(moment, grid_);
  return terminal_.show(grid_);
}

void Console::ask_feed() {
  Status status;
  if (board_.wants() != wanted_) {
    wanted_ = board_.wants();
    status = timeline_.feed().want(wanted_);
  }
  if (board_.counters() != counters_) {
    counters_ = board_.counters();
    status = timeline_.feed().choose_counters(counters_);
  }
  if (!status) say(status.error().text(), true);
}

bool Console::is_given_up() {
  Result<Woken> woken = terminal_.wait(0);
  if (!woken) return true;
  if (woken->ending != 0) ending_ = woken->ending;
  return !woken->keys.empty() || ending_ != 0;
}

void Console::obey(const Order& order) {
  switch (order.wish) {
    case Wish::Nothing:
      break;
    case Wish::Pause:
      play_or_pause();
      break;
    case Wish::Back:
      step(-1);
      break;
    case Wish::Forward:
      step(1);
      break;
    case Wish::First:
      pace_.is_paused = true;
      timeline_.to_first();
      show();
      break;
    case Wish::Last:
      timeline_.to_last([&] { return is_given_up(); });
      pace_.is_paused = !timeline_.feed().is_live();
      show();
      break;
    case Wish::Faster:
      change_speed(2);
      break;
    case Wish::Slower:
      change_speed(0.5);
      break;
    case Wish::Jump:
      jump(order.text);
      break;
    case Wish::NextMoment:
      jump_to_moment(1);
      break;
    case Wish::PreviousMoment:
      jump_to_moment(-1);
      break;
    case Wish::Save:
      save(order.text);
      break;
    case Wish::Record:
      record();
      break;
    case Wish::Stop:
      terminal_.stop();
      break;
    case Wish::Redraw:
      terminal_.forget();
      break;
    case Wish::Quit:
      is_done_ = true;
      break;
  }
}

void Console::step(int step) {
  pace_.is_paused = true;
  if (step > 0 ? timeline_.forward() : timeline_.back()) {
    show();
    return;
  }
  if (const auto& problem = timeline_.problem(); problem && step > 0)
    say(problem->text(), true);
  else
    say(step > 0 ? "there is no later period" : "there is no earlier period");
}

void Console::play_or_pause() {
  pace_.is_paused = !pace_.is_paused;
  if (pace_.is_paused) return;
  if (timeline_.feed().is_live()) {
    is_awaited_ = false;
    timeline_.to_newest();
    show();
  } else {
    deadline_ = monotonic_now() + interval();
  }
}

void Console::change_speed(double factor) {
  if (timeline_.feed().is_live()) {
    say("a running machine goes at its own speed");
    return;
  }
  pace_.speed = std::clamp(pace_.speed * factor, kSlowest, kFastest);
  deadline_ = std::min(deadline_, monotonic_now() + interval());
  say(fmt::format("speed x{:g}", pace_.speed));
}

void Console::jump(const std::string& text) {
  if (timeline_.empty()) return;
  const auto gives_up = [&] { return is_given_up(); };
  if (text.starts_with('-')) timeline_.to_last(gives_up);  // counted from there
  const period::History& history = timeline_.history();
  const TimeFrame frame{
      .begin = timeline_.feed().is_live() ? history.begin_of(0) : Nanoseconds{first_begin_},
      .end = history.end_of(history.size() - 1),
      .since_epoch = board_.table().clock == "epoch",
      .now = now_since_epoch()};
  if (const Result<Nanoseconds> time = resolve_time(text, frame, Side::Begin)) {
    if (!timeline_.to_time(time->count, gives_up)) return say("no period has that time", true);
    pace_.is_paused = true;
    return show();
  }
  Result<LineFilter> condition = board_.condition(text);
  if (!condition) return say(condition.error().text(), true);
  sought_ = *std::move(condition);
  jump_to_moment(1);
}

void Console::jump_to_moment(int step) {
  if (!sought_) return say("':' says what to look for");
  pace_.is_paused = true;
  is_awaited_ = false;
  const auto holds = [&](const period::Table& table) { return board_.holds(*sought_, table); };
  const bool is_found = timeline_.to_next(holds, step, [&] { return is_given_up(); });
  show();
  if (is_found) return;
  is_awaited_ = step > 0 && timeline_.feed().is_live();
  if (is_awaited_)
    say("waiting until " + sought_->text());
  else
    say((step > 0 ? "not found after this period: " : "not found before this period: ") +
        sought_->text());
}

void Console::save(const std::string& path) {
  if (timeline_.empty()) return;
  if (Status saved = timeline_.save(path); !saved) return say(saved.error().text(), true);
  const size_t count = timeline_.history().size();
  std::string saved = fmt::format("{} period{} saved in {}", count, count == 1 ? "" : "s", path);
  if (recordings_.is_flying()) {
    const Result<std::string> events = recordings_.save_flight(path + ".events");
    if (!events) return say(events.error().text(), true);
    saved += ", " + *events;
  }
  say(std::move(saved));
}

void Console::record() {
  if (!timeline_.feed().is_live()) return say("this is a recording already");
  const Result<std::string> done = recordings_.toggle();
  say(done ? *done : done.error().text(), /*is_alarm=*/!done);
  see_recordings();
}

// What became of them, and what they cost: their own CPU time, in percent of one CPU.
void Console::see_recordings() {
  if (const auto news = recordings_.news())
    say(*news ? **news : news->error().text(), /*is_alarm=*/!*news);
  beside_.clear();
  const int64_t now = monotonic_now();
  const auto passed = static_cast<double>(std::max<int64_t>(now - beside_at_, 1));
  beside_at_ = now;
  if (!recordings_.is_recording() && !recordings_.is_flying()) return;
  beside_ = fmt::format("{}{}{:.1f}%", recordings_.is_recording() ? "REC " : "",
                        recordings_.is_flying() ? "FLIGHT " : "",
                        100 * static_cast<double>(recordings_.take_cost_ns()) / passed);
}

}  // namespace strata::top
