// SPDX-License-Identifier: Apache-2.0
#include "cli/record_wish.h"

#include <algorithm>

#include "base/small_file.h"
#include "base/time_text.h"
#include "cli/size.h"

namespace strata::cli {
namespace {

constexpr size_t kLargestProfiles = size_t{1} << 20;

Error usage(const std::string& cause) { return {"", std::nullopt, cause}; }

// "discard", "block", "block=10ms".
Status plan_full_rings(const WishArguments& arguments, record::Wish& wish) {
  using probe::abi::Policy;
  constexpr auto kDefaultWait = std::chrono::seconds(1);
  constexpr auto kLongestWait = std::chrono::hours(1);
  const std::string& text = arguments.when_full;
  if (text.empty()) return {};
  if (wish.apps.empty()) return usage("--when-full is for the probes of --app");
  if (text == "discard") return {};
  constexpr std::string_view kBlock = "block";
  const bool has_time = text.starts_with(std::string(kBlock) + "=");
  if (text != kBlock && !has_time)
    return usage("--when-full is discard, block or block=TIME, not '" + text + "'");
  wish.policy = Policy::Block;
  wish.wait = kDefaultWait;
  if (!has_time) return {};
  const Result<Nanoseconds> wait = parse_duration(text.substr(kBlock.size() + 1));
  if (!wait) return wait.error();
  wish.wait = std::chrono::microseconds(wait->count / 1000);
  if (wish.wait <= wish.wait.zero() || wish.wait > kLongestWait)
    return usage("--when-full: a program waits for a time between 1us and 1h");
  return {};
}

}  // namespace

Result<record::Wish> wish_of(const WishArguments& arguments) {
  record::Wish wish = arguments.wish;
  for (const EventOrFilter& condition : arguments.conditions) {
    if (!condition.is_filter)
      wish.events.push_back({condition.text, {}});
    else
      (wish.events.empty() ? wish.filters : wish.events.back().filters).push_back(condition.text);
  }
  if (!wish.read_at.empty() && wish.counters.empty())
    return usage("--read-at says when to read counters, but --counters names none");
  if (wish.apps.empty() && !wish.contexts.empty())
    return usage("--context is what the events of --app tell besides, and none is given");
  wish.state = !arguments.no_state;
  if (!arguments.buffer_size.empty()) {
    const Result<uint64_t> size = parse_size(arguments.buffer_size);
    if (!size) return size.error();
    wish.buffer_bytes = *size;
  }
  if (!arguments.sync.empty()) {
    const Result<Nanoseconds> sync = parse_duration(arguments.sync);
    if (!sync) return sync.error();
    wish.sync = std::max(std::chrono::milliseconds(sync->count / 1'000'000),
                         std::chrono::milliseconds(100));
  }
  if (Status status = plan_full_rings(arguments, wish); !status) return std::move(status).error();
  return wish;
}

Status read_profiles(const WishArguments& arguments, record::Wish& wish) {
  if (arguments.profiles_file.empty()) return {};
  Result<std::string> text = read_small_file(arguments.profiles_file, kLargestProfiles);
  if (!text) return std::move(text).error();
  wish.profiles_file = arguments.profiles_file;
  wish.profiles_text = *std::move(text);
  return {};
}

}  // namespace strata::cli
