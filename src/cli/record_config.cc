// SPDX-License-Identifier: Apache-2.0
#include "cli/record_config.h"

#include <sstream>

#include "base/small_file.h"

namespace strata::cli {
namespace {

constexpr size_t kLongestFile = size_t{1} << 20;

[[noreturn]] void fail(const std::string& path, size_t line, const std::string& cause) {
  const std::string place = line > 0 ? path + ":" + std::to_string(line) : path;
  throw CLI::ConfigError(place + ": " + cause, CLI::ExitCodes::ConfigError);
}

// Without comments, since CLI11 does not know them behind the end of a list that has several lines;
// and it takes what is not closed for closed by whatever comes.
std::string without_comments(const std::string& path, const std::string& text) {
  std::string kept;
  size_t number = 0;
  size_t list_begin = 0;  // its line; 0: not in a list
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    char quote = 0;  // what ends the string we are in; 0: in none
    size_t end = 0;
    for (; end < line.size() && (quote != 0 || line[end] != '#'); ++end) {
      const char c = line[end];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[') {
        list_begin = number;
      } else if (c == ']') {
        list_begin = 0;
      }
    }
    if (quote != 0) fail(path, number, "a string is not closed");
    kept.append(line, 0, end) += '\n';
  }
  if (list_begin != 0) fail(path, list_begin, "a list is not closed");
  return kept;
}

// The number of the line that sets this key; 0: none does.
size_t line_of(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const size_t begin = line.find_first_not_of(" \t\"'");
    if (begin == std::string::npos || line.compare(begin, key.size(), key) != 0) continue;
    const size_t behind = line.find_first_not_of(" \t\"'\r", begin + key.size());
    if (behind == std::string::npos || line[behind] == '=') return number;
  }
  return 0;
}

CLI::Option* option_of(CLI::App& command, const std::string& key) {
  if (key == "config" || key == "help" || key == "guest") return nullptr;
  return command.get_option_no_throw((key.size() == 1 ? "-" : "--") + key);
}

void take(CLI::Option& option, const CLI::ConfigItem& item, std::vector<std::string>& words) {
  const bool is_flag = option.get_expected_max() == 0;
  if (is_flag && item.inputs == std::vector<std::string>{"false"}) return;
  if (is_flag && item.inputs != std::vector<std::string>{"true"})
    throw CLI::ConversionError("it is true or false");
  option.add_result(item.inputs);
  option.run_callback();
  for (const std::string& input : item.inputs) {
    words.push_back(option.get_name());
    if (!is_flag) words.push_back(input);
  }
}

}  // namespace

std::vector<std::string> read_config(CLI::App& command, const std::string& path) {
  const Result<std::string> text = read_small_file(path, kLongestFile);
  if (!text) throw CLI::FileError(text.error().text(), CLI::ExitCodes::FileError);
  std::vector<std::string> words;
  std::istringstream stream(without_comments(path, *text));
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(stream)) {
    const auto refuse = [&](const std::string& key, const std::string& cause) {
      fail(path, line_of(*text, key), "'" + key + "' " + cause);
    };
    if (!item.parents.empty())
      refuse("[" + item.parents.front() + "]", "is a section: here are none");
    CLI::Option* option = option_of(command, item.name);
    if (option == nullptr) refuse(item.name, "is no option of strata " + command.get_name());
    if (option->count() > 0) continue;  // the command line says otherwise
    try {
      take(*option, item, words);
    } catch (const CLI::ParseError& error) {
      refuse(item.name, std::string("cannot be that: ") + error.what());
    }
  }
  return words;
}

}  // namespace strata::cli
