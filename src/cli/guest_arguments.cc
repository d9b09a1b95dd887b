// SPDX-License-Identifier: Apache-2.0
#include "cli/guest_arguments.h"

#include <algorithm>
#include <string_view>

#include "cli/record_arguments.h"

namespace strata::cli {
namespace {

constexpr std::string_view kGuest = "--guest";

}  // namespace

GuestWords split_guests(int argc, const char* const* argv) {
  GuestWords words;
  std::vector<std::string>* to = &words.host;
  const bool records = argc > 1 && argv[1] == std::string_view("record");
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (records && word == "--") {
      words.host.insert(words.host.end(), argv + i, argv + argc);
      break;
    }
    const bool has_value = word.starts_with(std::string(kGuest) + "=");
    if (!records || (word != kGuest && !has_value)) {
      to->emplace_back(word);
      continue;
    }
    to = &words.guests.emplace_back();
    if (has_value) to->emplace_back(word.substr(kGuest.size() + 1));
  }
  return words;
}

GuestArguments parse_guest(const std::vector<std::string>& words) {
  GuestArguments arguments;
  if (words.empty() || words.front().starts_with('-'))
    throw CLI::RequiredError("--guest is followed by NAME=ADDRESS: that");
  arguments.guest = words.front();
  CLI::App command;
  Conditions conditions;
  command.set_help_flag();
  add_wishes(command, arguments, conditions);
  const CLI::Option* quota = command.add_option("--quota", arguments.quota);
  const CLI::Option* key = command.add_option("--key", arguments.key);
  std::vector<std::string> rest(words.rbegin(), words.rend() - 1);  // CLI11 takes them from behind
  try {
    command.parse(std::move(rest));
  } catch (const CLI::ParseError& error) {
    throw CLI::ValidationError("--guest " + arguments.guest,
                               std::string(error.what()) +
                                   " (this machine's own options, and "
                                   "those of the recording, come before the "
                                   "first --guest)");
  }
  arguments.conditions = conditions.in_order();
  arguments.wishes = std::ranges::any_of(command.get_options(), [&](const CLI::Option* option) {
    return option != quota && option != key && option->count() > 0;
  });
  return arguments;
}

void record_as(const RecordArguments& host, GuestArguments& guest) {
  guest.wish.profiles = host.wish.profiles;
  guest.profiles_file = host.profiles_file;
  guest.conditions = host.conditions;
  guest.wish.counters = host.wish.counters;
  guest.wish.read_at = host.wish.read_at;
  guest.no_state = host.no_state;
  guest.buffer_size = host.buffer_size;
  guest.sync = host.sync;
}

}  // namespace strata::cli
