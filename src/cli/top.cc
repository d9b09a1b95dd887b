// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/size.h"
#include "cli/terminal.h"
#include "kernel/counter_names.h"
#include "lib/feeds.h"
#include "live/machine_feed.h"
#include "top/batch.h"
#include "top/console.h"
#include "top/ring_feed.h"

namespace strata::cli {
namespace {

constexpr unsigned kBatchWidth = 200;

// "10m", "10m,64M"
Result<period::History::Bounds> parse_history(const std::string& text) {
  period::History::Bounds bounds;
  if (text.empty()) return bounds;
  const size_t comma = text.find(',');
  const Result<Nanoseconds> time = parse_duration(text.substr(0, comma));
  if (!time) return time.error();
  bounds.time = *time;
  if (comma == std::string::npos) return bounds;
  const Result<uint64_t> size = parse_size(text.substr(comma + 1));
  if (!size) return size.error();
  bounds.bytes = *size;
  return bounds;
}

// As wide as the terminal, or as somebody says.
unsigned batch_width() {
  if (const char* columns = std::getenv("COLUMNS")) {
    unsigned width = 0;
    const std::string_view text = columns;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    if (error == std::errc() && width >= 20 && width <= 1000) return width;
  }
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return kBatchWidth;
}

// By their usual names.
Result<std::vector<std::string>> counters_of(const TopArguments& arguments) {
  const Result<std::vector<kernel::Counter>> counters = kernel::known_counters(arguments.counters);
  if (!counters) return counters.error();
  std::vector<std::string> names;
  for (const kernel::Counter& counter : *counters) names.push_back(counter.name);
  return names;
}

std::vector<top::Screen> screens_of(const TopArguments& arguments) {
  std::vector<top::Screen> screens;
  for (const std::string& name : arguments.screens)
    if (const auto screen = top::screen_called(name)) screens.push_back(*screen);
  if (screens.empty()) screens.push_back(top::Screen::Cpu);
  return screens;
}

int usage(const std::string& option, const Error& error) {
  complain(option + ": " + error.text());
  return kExitUsage;
}

// This machine: by eBPF, or where that is refused by the kernel's rings. What cannot be had of
// either is said, and the rest is there.
Result<std::unique_ptr<period::Feed>> open_machine(period::Groups groups,
                                                   const std::vector<std::string>& counters) {
  Result<std::unique_ptr<period::Feed>> feed = live::machine_feed(period::Groups::least());
  if (!feed) {
    Result<std::unique_ptr<period::Feed>> rings =
        top::ring_feed("eBPF may not be used: " + feed.error().text());
    if (!rings) return feed;  // who may use neither hears of the one that tells more
    feed = std::move(rings);
  }
  if (Status status = (*feed)->choose_counters(counters); !status) warn(status.error().text());
  if (Status status = (*feed)->want(groups); !status) warn(status.error().text());
  return feed;
}

int fail(const Error& error) {
  complain(error);
  return kExitInput;
}

// A way to end that is no failure: by the signal that asked for it, as shells see it.
int run_console(top::Timeline& timeline, top::Board& board, const top::Pace& pace, bool flies) {
  top::Recordings recordings;
  if (flies)
    if (Status status = recordings.fly(); !status) return fail(status.error());
  Result<top::Terminal> terminal = top::Terminal::open();
  if (!terminal) return fail(terminal.error());
  Result<int> ended = [&] {
    top::Console console(timeline, board, recordings, *std::move(terminal), pace);
    return console.run();
  }();
  if (!ended) return fail(ended.error());
  if (*ended != 0) return 128 + *ended;
  return timeline.problem() ? fail(*timeline.problem()) : kExitFine;
}

}  // namespace

int run(const TopArguments& arguments) {
  const Result<Nanoseconds> delay = parse_duration(arguments.delay);
  if (!delay) return usage("--delay", delay.error());
  if (delay->count < 1'000'000)
    return usage("--delay", {{}, std::nullopt, "a period takes a millisecond at least"});
  const Result<period::History::Bounds> bounds = parse_history(arguments.history);
  if (!bounds) return usage("--history", bounds.error());
  const bool is_live = arguments.paths.empty();
  if (arguments.flight && (!is_live || arguments.batch || arguments.json))
    return usage("--flight", {{}, std::nullopt, "is for this machine, on a screen"});
  top::UserNames users(is_live);
  top::Board board(users);
  const std::vector<top::Screen> screens = screens_of(arguments);
  for (size_t i = screens.size(); i-- > 0;) board.open(screens[i]);
  const Result<std::vector<std::string>> counters = counters_of(arguments);
  if (!counters) return usage("--counters", counters.error());
  if (!counters->empty()) board.show_counters(*counters);
  board.show_threads(arguments.threads);
  board.show_processes(arguments.pids);
  if (!arguments.sort.empty() && !board.sort_by(arguments.sort))
    return usage("--sort", {{}, std::nullopt, "there is no column '" + arguments.sort + "'"});
  if (Status status = board.filter_by(arguments.filter); !status) {
    complain_at("--filter", arguments.filter, status.error());
    return kExitUsage;
  }

  Result<std::unique_ptr<period::Feed>> feed = is_live
                                                   ? open_machine(board.wants(), board.counters())
                                                   : lib::open_feed(arguments.paths, *delay);
  if (!feed) return fail(feed.error());
  top::Timeline timeline(*std::move(feed), *bounds);
  const top::Pace pace{*delay, arguments.count, arguments.speed, arguments.paused};
  if (!arguments.batch && !arguments.json)
    return run_console(timeline, board, pace, arguments.flight);
  const auto style = arguments.json ? top::BatchStyle::Json : top::BatchStyle::Text;
  const Status done = top::run_batch(timeline, board, screens, style, pace, batch_width());
  return done ? kExitFine : fail(done.error());
}

}  // namespace strata::cli
