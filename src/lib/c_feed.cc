// SPDX-License-Identifier: Apache-2.0
//
// The C interface of feeds: <strata/strata.h>.
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/units.h"
#include "kernel/text_parts.h"
#include "lib/c_table.h"
#include "lib/feeds.h"
#include "live/machine_feed.h"

using namespace strata;

namespace {

using Feed = std::unique_ptr<period::Feed>;

// As much of a text as there is room for.
void put(std::string_view text, std::span<char> room) {
  if (!room.empty()) room[text.copy(room.data(), room.size() - 1)] = '\0';
}

Error error_of(std::string cause) { return {{}, std::nullopt, std::move(cause)}; }

}  // namespace

struct strata_feed {
  Feed feed;
  FileDescriptor due = {};
  std::vector<std::string> shortfalls = {};
  char problem[4 * STRATA_WHY] = "";

  int fail(const Error& error) {
    put(error.text(), problem);
    return -1;
  }
};

namespace {

// No exception passes the edge. What there is throws for want of memory, as a rule.
int guarded(strata_feed* feed, auto&& call) {
  if (feed == nullptr) return -1;
  try {
    return call();
  } catch (const std::exception& exception) {
    put(exception.what(), feed->problem);
    return -1;
  }
}

strata_feed* opened(std::span<char> why, auto&& open) {
  try {
    Result<Feed> feed = open();
    if (feed) return new strata_feed{*std::move(feed)};
    put(feed.error().text(), why);
  } catch (const std::exception& exception) {
    put(exception.what(), why);
  }
  return nullptr;
}

std::span<char> room(char* why, size_t size) { return {why, why != nullptr ? size : 0}; }

Result<period::Groups> groups_from(const char* names) {
  if (names == nullptr) return error_of("it is not said what to tell of");
  return period::groups_from(names);
}

Result<std::vector<std::string>> strings_from(const char* const* texts, size_t count) {
  std::vector<std::string> strings;
  for (size_t i = 0; i < count; ++i) {
    if (texts == nullptr || texts[i] == nullptr) return error_of("a path is missing");
    strings.emplace_back(texts[i]);
  }
  return strings;
}

// Readable at the multiples of the period: programs that watch the machine wake it together.
Status start_timer(int descriptor, int64_t period_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  const auto time_of = [](int64_t ns) { return timespec{ns / kSecond, ns % kSecond}; };
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t now_ns = now.tv_sec * kSecond + now.tv_nsec;
  const Int128 first = (Int128{now_ns} / period_ns + 1) * period_ns;
  const itimerspec every{time_of(period_ns), time_of(saturated(first))};
  if (timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &every, nullptr) != 0)
    return system_error({}, "the timer does not start", errno);
  return {};
}

}  // namespace

extern "C" {

const char* strata_version() { return STRATA_VERSION; }

strata_feed* strata_feed_open_machine(const char* groups, char* why, size_t size) {
  return opened(room(why, size), [&]() -> Result<Feed> {
    const Result<period::Groups> wanted = groups_from(groups);
    if (!wanted) return wanted.error();
    Result<Feed> feed = live::machine_feed(period::Groups::least());
    if (!feed) return feed;
    const Status done = (*feed)->want(*wanted);
    if (!done && *wanted != period::Groups::all()) return done.error();
    return feed;
  });
}

strata_feed* strata_feed_open(const char* const* paths, size_t count, int64_t period_ns, char* why,
                              size_t size) {
  return opened(room(why, size), [&]() -> Result<Feed> {
    const Result<std::vector<std::string>> names = strings_from(paths, count);
    if (!names) return names.error();
    return lib::open_feed(*names, Nanoseconds{period_ns});
  });
}

void strata_feed_close(strata_feed* feed) { delete feed; }

int strata_feed_next(strata_feed* feed, strata_table** table) {
  if (table != nullptr) *table = nullptr;
  return guarded(feed, [&] {
    if (table == nullptr) return feed->fail(error_of("there is no place for a table"));
    if (feed->due && feed->feed->is_live()) {
      uint64_t times;  // that it was due: one table is given for all of them
      [[maybe_unused]] const ssize_t size = read(feed->due.get(), &times, sizeof times);
    }
    Result<std::optional<period::Table>> next = feed->feed->next();
    if (!next) return feed->fail(next.error());
    if (!*next) return 0;
    *table = new strata_table{**std::move(next)};
    return 1;
  });
}

int strata_feed_descriptor(strata_feed* feed, int64_t period_ns) {
  return guarded(feed, [&] {
    if (period_ns <= 0) return feed->fail(error_of("a period takes longer than nothing"));
    const bool is_live = feed->feed->is_live();
    if (!feed->due)
      feed->due =
          FileDescriptor(is_live ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)
                                 : eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!feed->due) return feed->fail(system_error({}, "there is no descriptor", errno));
    if (is_live) {
      if (const Status started = start_timer(feed->due.get(), period_ns); !started)
        return feed->fail(started.error());
    }
    return feed->due.get();
  });
}

int strata_feed_want(strata_feed* feed, const char* groups) {
  return guarded(feed, [&] {
    const Result<period::Groups> wanted = groups_from(groups);
    if (!wanted) return feed->fail(wanted.error());
    const Status done = feed->feed->want(*wanted);
    return done ? 0 : feed->fail(done.error());
  });
}

int strata_feed_counters(strata_feed* feed, const char* names) {
  return guarded(feed, [&] {
    if (names == nullptr) return feed->fail(error_of("it is not said which counters to tell of"));
    std::vector<std::string> counters;
    for (std::string_view rest = names; !rest.empty();)
      counters.emplace_back(kernel::take_until(rest, ','));
    const Status done = feed->feed->choose_counters(counters);
    return done ? 0 : feed->fail(done.error());
  });
}

int strata_feed_restart(strata_feed* feed) {
  return guarded(feed, [&] {
    const Status done = feed->feed->restart();
    return done ? 0 : feed->fail(done.error());
  });
}

const char* strata_feed_problem(const strata_feed* feed) {
  return feed != nullptr ? feed->problem : "there is no feed";
}

const char* strata_feed_shortfall(strata_feed* feed, size_t number) {
  const int done = guarded(feed, [&] {
    if (number == 0) feed->shortfalls = feed->feed->shortfalls();
    return 0;
  });
  if (done != 0 || number >= feed->shortfalls.size()) return nullptr;
  return feed->shortfalls[number].c_str();
}

}  // extern "C"
