// SPDX-License-Identifier: Apache-2.0
#include "cli/record_config.h"

#include <sstream>

#include "base/small_file.h"

namespace strata::cli {
namespace {

constexpr size_t kLongestFile = size_t{1} << 20;

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
  if (key == "config" || key == "help") return nullptr;
  return command.get_option_no_throw((key.size() == 1 ? "-" : "--") + key);
}

void take(CLI::Option& option, const CLI::ConfigItem& item) {
  const bool is_flag = option.get_expected_max() == 0;
  if (is_flag && item.inputs == std::vector<std::string>{"false"}) return;
  if (is_flag && item.inputs != std::vector<std::string>{"true"})
    throw CLI::ConversionError("is true or false");
  option.add_result(item.inputs);
  option.run_callback();
}

}  // namespace

void read_config(CLI::App& command, const std::string& path) {
  const Result<std::string> text = read_small_file(path, kLongestFile);
  if (!text) throw CLI::FileError(text.error().text(), CLI::ExitCodes::FileError);
  std::istringstream stream(*text);
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(stream)) {
    const auto fail = [&](const std::string& cause) {
      const size_t line = line_of(*text, item.name);
      throw CLI::ConfigError(path + (line > 0 ? ":" + std::to_string(line) : "") + ": " + cause,
                             CLI::ExitCodes::ConfigError);
    };
    if (!item.parents.empty()) fail("there are no sections: '" + item.fullname() + "'");
    CLI::Option* option = option_of(command, item.name);
    if (option == nullptr) fail("'" + item.name + "' is no option of strata " + command.get_name());
    if (option->count() > 0) continue;  // the command line says otherwise
    try {
      take(*option, item);
    } catch (const CLI::ParseError& error) {
      fail("'" + item.name + "': " + error.what());
    }
  }
}

}  // namespace strata::cli
