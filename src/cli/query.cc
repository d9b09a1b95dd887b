// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <iostream>

#include "base/progress.h"
#include "cli/commands.h"
#include "cli/prompt.h"
#include "cli/query_shell.h"
#include "cli/terminal.h"
#include "cli/traces.h"

namespace strata::cli {
namespace {

// Statements have blanks in them, and commands a dot before them; paths that have them too exist.
bool is_question(const std::string& word) {
  std::error_code ignored;
  return (word.find_first_of(" \t\n") != std::string::npos || QueryShell::is_command(word)) &&
         !std::filesystem::exists(word, ignored);
}

// Statement by statement, as lines come. A command is a line.
class Lines {
 public:
  explicit Lines(QueryShell& shell) : shell_(shell) {}

  // What the line completes is run, and is in `done` then.
  int add(const std::string& line) {
    done_.clear();
    if (!pending_.empty()) pending_ += '\n';
    pending_ += line;
    const bool is_blank = pending_.find_first_not_of(" \t\r\n") == std::string::npos;
    if (!is_blank && !QueryShell::is_command(pending_) && !query::Database::is_whole(pending_))
      return kExitFine;
    return is_blank ? forget() : run();
  }
  // What is left, though no semicolon ends it.
  int finish() { return pending_.empty() ? kExitFine : run(); }
  int forget() {
    pending_.clear();
    return kExitFine;
  }

  bool goes_on() const { return !pending_.empty(); }
  const std::string& done() const { return done_; }

 private:
  int run() {
    done_ = std::exchange(pending_, {});
    return shell_.run(done_);
  }

  QueryShell& shell_;
  std::string pending_;
  std::string done_;
};

std::atomic<query::Database*> interrupted_database;

// While one sits at the prompt, Ctrl-C ends what runs and not the program.
void take_interrupts(query::Database& database) {
  interrupted_database = &database;
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted_database.load()->interrupt(); };
  sigemptyset(&action.sa_mask);  // without SA_RESTART: a line that is being read ends
  sigaction(SIGINT, &action, nullptr);
}

int converse(query::Database& database, QueryShell& shell) {
  take_interrupts(database);
  Prompt prompt("query");
  Lines lines(shell);
  std::cout << "SQL, up to a semicolon; .help tells more, .quit or Ctrl-D ends\n" << std::flush;
  std::string line;
  while (!shell.was_told_to_quit()) {
    switch (prompt.read(lines.goes_on(), line)) {
      case Prompt::Got::End:
        return kExitFine;
      case Prompt::Got::Cancelled:
        lines.forget();
        break;
      case Prompt::Got::Line:
        lines.add(line);
        if (!lines.done().empty()) prompt.remember(lines.done());
        break;
    }
  }
  return kExitFine;
}

int run_script(QueryShell& shell) {
  Lines lines(shell);
  std::string line;
  while (!shell.was_told_to_quit() && std::getline(std::cin, line))
    if (const int status = lines.add(line); status != kExitFine) return status;
  return lines.finish();
}

}  // namespace

int run(const QueryArguments& arguments) {
  std::vector<std::string> paths = arguments.words;
  std::optional<std::string> question;
  if (is_question(paths.back())) {
    question = std::move(paths.back());
    paths.pop_back();
  }
  if (paths.empty()) {
    complain("of which trace? strata query --help tells more");
    return kExitUsage;
  }

  const Traces traces = open_traces(paths);
  int status = traces.problems.empty() ? kExitFine : kExitInput;
  if (traces.opened.empty()) return status;
  if (trace::time_base(traces.opened) == "mixed")
    warn("the traces are on different clocks: their order on one timeline means nothing");
  Result<std::unique_ptr<query::Database>> database =
      query::Database::open(traces.opened, [&] { return traces.time_frame(); });
  if (!database) {
    complain(database.error());
    return kExitInput;
  }

  Progress progress("reading", false);
  if (progress.enabled())
    (*database)->set_progress([&](uint64_t done, uint64_t total) { progress.update(done, total); });

  QueryShell shell(**database, arguments.csv    ? query::RowStyle::Csv
                               : arguments.json ? query::RowStyle::Json
                                                : query::RowStyle::Table);
  const bool on_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  status = std::max(status, question      ? shell.run(*question)
                            : on_terminal ? converse(**database, shell)
                                          : run_script(shell));
  for (const auto& trace : traces.opened)
    status = std::max(status, tell_problems(trace->problems()));
  return status;
}

}  // namespace strata::cli
