// SPDX-License-Identifier: Apache-2.0
#include "cli/prompt.h"

#include <histedit.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <filesystem>

namespace strata::cli {
namespace {

constexpr int kRemembered = 1000;  // statements

// Where the state of programs is kept; empty where nobody tells.
std::string state_folder() {
  if (const char* folder = std::getenv("XDG_STATE_HOME"); folder != nullptr && *folder == '/')
    return folder;
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.local/state" : "";
}

// The library's own reading goes on after a signal; this one ends the line.
int read_character(EditLine*, wchar_t* out) {
  std::mbstate_t state{};
  for (;;) {
    char byte = 0;
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count <= 0) return static_cast<int>(count);
    // Ctrl-D that was typed before the library took over the terminal: it was the end of the input
    // then, and the terminal makes this of it.
    if (byte == 0) return 0;
    const size_t length = std::mbrtowc(out, &byte, 1, &state);
    if (length == static_cast<size_t>(-2)) continue;  // there is more of this character
    if (length != static_cast<size_t>(-1)) return 1;
    state = {};  // no character of this terminal's
  }
}

}  // namespace

Prompt::Prompt(std::string name) : name_(std::move(name)) {
  std::setlocale(LC_CTYPE, "");
  history_ = history_init();
  HistEvent event;
  history(history_, &event, H_SETSIZE, kRemembered);
  history(history_, &event, H_SETUNIQUE, 1);
  if (const std::string folder = state_folder(); !folder.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(folder + "/strata", failed);
    if (!failed) history_file_ = folder + "/strata/" + name_ + "_history";
    history(history_, &event, H_LOAD, history_file_.c_str());
  }

  editor_ = el_init("strata", stdin, stdout, stderr);
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(
      editor_, EL_PROMPT, +[](EditLine* editor) {
        Prompt* self = nullptr;
        el_get(editor, EL_CLIENTDATA, &self);
        return self->shown_.data();
      });
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_HIST, history, history_);
  el_set(editor_, EL_GETCFN, read_character);
  el_source(editor_, nullptr);
}

Prompt::~Prompt() {
  el_end(editor_);
  history_end(history_);
}

Prompt::Got Prompt::read(bool goes_on, std::string& line) {
  shown_ = goes_on ? std::string(name_.size(), ' ') + "> " : name_ + "> ";
  el_resize(editor_);
  errno = 0;
  int count = 0;
  const char* text = el_gets(editor_, &count);
  if (text == nullptr || count <= 0) {
    const bool was_interrupted = errno == EINTR;
    std::fputc('\n', stdout);
    std::fflush(stdout);
    return was_interrupted ? Got::Cancelled : Got::End;
  }
  line.assign(text, static_cast<size_t>(count));
  if (line.ends_with('\n')) line.pop_back();
  return Got::Line;
}

void Prompt::remember(const std::string& text) {
  HistEvent event;
  history(history_, &event, H_ENTER, text.c_str());
  if (!history_file_.empty()) history(history_, &event, H_SAVE, history_file_.c_str());
}

}  // namespace strata::cli
