// SPDX-License-Identifier: Apache-2.0
//
// What the terminal understands, by terminfo and the environment. Its header makes macros of common
// words, so it stays here.
#include <curses.h>
#include <term.h>
#undef columns
#undef lines
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "top/terminal.h"

namespace strata::top {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Without the delays of terminals that were machines: "$<50>".
std::string capability(const char* name) {
  const char* found = tigetstr(name);
  if (found == nullptr || found == reinterpret_cast<const char*>(-1)) return {};
  std::string text = found;
  for (size_t begin; (begin = text.find("$<")) != std::string::npos;) {
    const size_t end = text.find('>', begin);
    text.erase(begin, end == std::string::npos ? end : end - begin + 1);
  }
  return text;
}

bool is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos ||
           value.find("utf8") != std::string_view::npos;
  }
  return false;
}

// Of a kind that is not installed here ("xterm-16color") what it is a kind of does.
bool is_known(const std::string& name) {
  int problem = 0;
  if (name.empty()) return false;
  if (setupterm(name.c_str(), STDOUT_FILENO, &problem) == 0) return true;
  const std::string family = name.substr(0, name.find('-'));
  return family != name && setupterm(family.c_str(), STDOUT_FILENO, &problem) == 0;
}

// xterm's: presses, and places by numbers of any size.
constexpr std::string_view kMouseOn = "\033[?1000h\033[?1006h";
constexpr std::string_view kMouseOff = "\033[?1006l\033[?1000l";

}  // namespace

Result<TerminalCodes> terminal_codes() {
  const std::string name(variable("TERM"));
  if (!is_known(name))
    return Error{{},
                 std::nullopt,
                 "nothing is known of a terminal called '" + name +
                     "' (TERM): set it to what yours is, as in TERM=xterm, or use --batch"};
  TerminalCodes codes;
  codes.clear = capability("clear");
  // Whatever moves its cursor otherwise than ECMA-48 has not been made for decades.
  const std::string move = capability("cup");
  if (codes.clear.empty() || !move.starts_with("\033["))
    return Error{{},
                 std::nullopt,
                 "a terminal called '" + name +
                     "' (TERM) cannot show a screen: --batch prints text instead"};
  codes.enter = capability("smcup") + capability("civis");
  codes.leave = capability("cnorm") + capability("rmcup");
  if (!capability("kmous").empty()) {
    codes.enter += kMouseOn;
    codes.leave = std::string(kMouseOff) + codes.leave;
  }
  const int colours = tigetnum("colors");
  const std::string_view said = variable("COLORTERM");
  if (!variable("NO_COLOR").empty() || colours < 8)
    codes.colours = Colours::None;
  else if (colours >= 256 || name.ends_with("256color") || said == "truecolor" || said == "24bit")
    codes.colours = Colours::Many;
  else
    codes.colours = Colours::Sixteen;
  codes.is_utf8 = is_utf8();
  return codes;
}

}  // namespace strata::top
