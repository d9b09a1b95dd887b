// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file_descriptor.h"
#include "base/number_text.h"
#include "base/output.h"
#include "base/small_file.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "kernel/proc_text.h"
#include "record/control.h"
#include "record/registry.h"
#include "record/session_change.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;

// A user sees their own; root sees all, those of others by their machine-wide names.
std::vector<record::SessionEntry> visible_sessions() {
  std::vector<record::SessionEntry> sessions = record::list_sessions();
  std::erase_if(sessions, [](const record::SessionEntry& session) {
    return !session.is_alive || (getuid() != 0 && session.user != getuid());
  });
  for (record::SessionEntry& session : sessions) {
    if (session.user != getuid())
      session.name = record::machine_wide_name(session.name, session.user);
  }
  return sessions;
}

// To the process that a session names, if it is one of that user's: what a session says of itself
// is the user's word, and must not turn root's signal against another process.
Status interrupt(const record::SessionEntry& session) {
  const std::string name = std::to_string(session.process);
  const FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, session.process, 0)));
  if (!process) return system_error(session.name, "cannot be stopped: process " + name, errno);
  const Result<std::string> status = read_small_file("/proc/" + name + "/status");
  if (!status || kernel::parse_status(*status).uid != static_cast<int32_t>(session.user))
    return Error{session.name, std::nullopt,
                 "cannot be stopped: process " + name + " is not of its user"};
  if (syscall(SYS_pidfd_send_signal, process.get(), SIGINT, nullptr, 0) != 0)
    return system_error(session.name, "cannot be stopped", errno);
  return {};
}

int list(bool json) {
  const std::vector<record::SessionEntry> sessions = visible_sessions();
  Output out(STDOUT_FILENO);
  const Nanoseconds now = now_since_epoch();
  if (json) {
    Json array = Json::array();
    for (const record::SessionEntry& session : sessions)
      array.push_back({{"name", session.name},
                       {"process", session.process},
                       {"user", session.user_name},
                       {"folder", session.folder},
                       {"begin_ns", session.begin_ns},
                       {"flight", session.is_flight}});
    out.text().put(array.dump(2, ' ', false, Json::error_handler_t::replace));
    out.text().put('\n');
  } else if (sessions.empty()) {
    out.text().put("no session is recording\n");
  } else {
    Table table({"session", "for", "user", "process", "kind", "folder"});
    for (const record::SessionEntry& session : sessions)
      table.add({session.name, duration_text(Nanoseconds{now.count - session.begin_ns}),
                 session.user_name, std::to_string(session.process),
                 session.is_flight ? "flight" : "recording", session.folder});
    table.put(Style(STDOUT_FILENO), 0, out.text());
  }
  return out.finish() ? kExitFine : kExitInput;
}

std::optional<record::SessionEntry> find_session(const std::string& name) {
  std::vector<record::SessionEntry> sessions = visible_sessions();
  const auto session = std::ranges::find(sessions, name, &record::SessionEntry::name);
  if (session != sessions.end()) return std::move(*session);
  complain("no session named '" + name + "' is recording ('strata session list' shows them)");
  return std::nullopt;
}

// Until the recording is finished, which the recorder's end tells.
int stop(const std::string& name, bool json) {
  const std::optional<record::SessionEntry> session = find_session(name);
  if (!session) return kExitInput;
  if (const Status status = interrupt(*session); !status) {
    complain(status.error());
    return kExitInput;
  }
  const auto lives = [&] {
    const auto now = visible_sessions();
    return std::ranges::find(now, name, &record::SessionEntry::name) != now.end();
  };
  while (lives()) usleep(50'000);
  if (!json) return kExitFine;
  Output out(STDOUT_FILENO);
  out.text().put(Json{{"name", name}, {"folder", session->folder}}.dump(
      2, ' ', false, Json::error_handler_t::replace));
  out.text().put('\n');
  return out.finish() ? kExitFine : kExitInput;
}

// Asks a session; what goes wrong is complained about.
std::optional<Json> ask(const std::string& name, const Json& question) {
  const std::optional<record::SessionEntry> session = find_session(name);
  if (!session) return std::nullopt;
  Result<record::ControlConnection> connection = record::ControlConnection::open(session->control);
  Result<Json> answer = connection ? connection->ask(question) : Result<Json>(connection.error());
  if (answer) return *std::move(answer);
  complain(answer.error());
  return std::nullopt;
}

// What was said; an error that is the user's.
Result<record::SessionChange> change_of(const SessionArguments& arguments) {
  record::SessionChange change;
  for (const EventOrFilter& each : arguments.enable) {
    if (!each.is_filter)
      change.enable.push_back({each.text, {}});
    else if (change.enable.empty())
      return Error{"", std::nullopt, "-F belongs behind the --enable that it is for"};
    else
      change.enable.back().filters.push_back(each.text);
  }
  change.disable = arguments.disable;
  if (arguments.all_pids || !arguments.pids.empty())
    change.processes.emplace(arguments.pids.begin(), arguments.pids.end());
  if (change == record::SessionChange{})
    return Error{"", std::nullopt,
                 "what is to be changed: --enable, --disable, --pid, --all-pids?"};
  return change;
}

int change(const SessionArguments& arguments) {
  const Result<record::SessionChange> wanted = change_of(arguments);
  if (!wanted) {
    complain(wanted.error());
    return kExitUsage;
  }
  const std::optional<Json> answer = ask(arguments.name, to_json(*wanted));
  if (!answer) return kExitInput;
  const std::string done = answer->value("changed", "");
  Output out(STDOUT_FILENO);
  const Json object = {{"name", arguments.name}, {"changed", done}};
  out.text().put(arguments.json ? object.dump(2, ' ', false, Json::error_handler_t::replace)
                                : arguments.name + ": " + done);
  out.text().put('\n');
  return out.finish() ? kExitFine : kExitInput;
}

int snapshot(const SessionArguments& arguments) {
  Json question = {{"do", "snapshot"}};
  if (!arguments.output.empty())
    question["folder"] = std::filesystem::absolute(arguments.output).lexically_normal().string();
  const std::optional<Json> answer = ask(arguments.name, question);
  if (!answer) return kExitInput;
  Output out(STDOUT_FILENO);
  if (arguments.json) {
    out.text().put(answer->dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    const int64_t window =
        answer->value("end_ns", int64_t{0}) - answer->value("begin_ns", int64_t{0});
    out.text().put("saved " + grouped(answer->value("events", uint64_t{0})) +
                   " events of the last " + duration_text(Nanoseconds{window}) + " into " +
                   answer->value("folder", std::string()));
  }
  out.text().put('\n');
  return out.finish() ? kExitFine : kExitInput;
}

}  // namespace

int run(const SessionArguments& arguments) {
  using Action = SessionArguments::Action;
  switch (arguments.action) {
    case Action::List:
      return list(arguments.json);
    case Action::Stop:
      return stop(arguments.name, arguments.json);
    case Action::Change:
      return change(arguments);
    case Action::Snapshot:
      return snapshot(arguments);
  }
  return kExitUsage;
}

}  // namespace strata::cli
