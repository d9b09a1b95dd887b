// SPDX-License-Identifier: Apache-2.0
#include "top/batch.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <optional>

#include "base/output.h"
#include "period/json.h"
#include "top/utf8.h"

namespace strata::top {
namespace {

void put_text(const Grid& grid, TextBuffer& out) {
  for (unsigned row = 0; row + 1 < grid.height(); ++row) {  // the last are keys
    std::string line;
    for (unsigned column = 0; column < grid.width(); ++column)
      append_utf8(grid.at(row, column).glyph, line);
    line.erase(line.find_last_not_of(' ') + 1);
    out.put(line);
    out.put('\n');
  }
  out.put('\n');
}

// Whether somebody asked us to end. What a feed has made on this machine is then removed.
volatile sig_atomic_t asked_to_end = 0;

class EndSignals {
 public:
  EndSignals() {
    struct sigaction action {};
    action.sa_handler = [](int) { asked_to_end = 1; };
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

void sleep_until(const timespec& time) {
  while (asked_to_end == 0 &&
         clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

}  // namespace

Status run_batch(Timeline& timeline, Board& board, const std::vector<Screen>& screens,
                 BatchStyle style, const Pace& pace, unsigned width) {
  Output out(STDOUT_FILENO);
  const bool is_live = timeline.feed().is_live();
  std::optional<EndSignals> signals;
  if (is_live) signals.emplace();
  timespec next{};
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (uint64_t done = 0; !pace.refreshes || done < *pace.refreshes; ++done) {
    if (is_live) {
      const int64_t nanoseconds = next.tv_nsec + pace.delay.count;
      next.tv_sec += nanoseconds / 1'000'000'000;
      next.tv_nsec = nanoseconds % 1'000'000'000;
      sleep_until(next);
      if (asked_to_end != 0) break;
    }
    if (!timeline.take()) break;
    timeline.to_newest();
    if (style == BatchStyle::Json) {
      period::put_json(timeline.raw_table(), out.text());
    } else {
      board.show(timeline.table());
      for (const Screen screen : screens) {
        if (screens.size() > 1) board.open(screen);
        Grid grid(width, board.height_of_all(width));
        Moment moment{.shortfalls = timeline.feed().shortfalls()};
        board.draw(moment, grid);
        put_text(grid, out.text());
      }
    }
    if (is_live ? !out.flush() : !out.drain()) break;
  }
  if (Status status = out.finish(); !status) return status;
  return timeline.problem() ? Status(*timeline.problem()) : Status();
}

}  // namespace strata::top
