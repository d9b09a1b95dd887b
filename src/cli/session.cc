// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/output.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "record/control.h"
#include "record/registry.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;

// A user sees their own; root sees all.
std::vector<record::SessionEntry> visible_sessions() {
  std::vector<record::SessionEntry> sessions = record::list_sessions();
  std::erase_if(sessions, [](const record::SessionEntry& session) {
    return !session.is_alive || (getuid() != 0 && session.user != getuid());
  });
  return sessions;
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

// One by its name; none is complained about.
std::optional<record::SessionEntry> find_session(const std::string& name) {
  const std::vector<record::SessionEntry> sessions = visible_sessions();
  const auto session = std::ranges::find(sessions, name, &record::SessionEntry::name);
  if (session != sessions.end()) return *session;
  complain("no session named '" + name + "' is recording ('strata session list' shows them)");
  return std::nullopt;
}

// Until the recording is finished, which the recorder's end tells.
int stop(const std::string& name, bool json) {
  const std::optional<record::SessionEntry> session = find_session(name);
  if (!session) return kExitInput;
  if (kill(session->process, SIGINT) != 0) {
    complain(name + ": cannot be stopped: " + std::strerror(errno));
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

int snapshot(const SessionArguments& arguments) {
  const std::optional<record::SessionEntry> session = find_session(arguments.name);
  if (!session) return kExitInput;
  Json question = {{"do", "snapshot"}};
  if (!arguments.output.empty())
    question["folder"] = std::filesystem::absolute(arguments.output).lexically_normal().string();
  Result<record::ControlConnection> connection = record::ControlConnection::open(session->control);
  Result<Json> answer = connection ? connection->ask(question) : connection.error();
  if (!answer) {
    complain(answer.error());
    return kExitInput;
  }
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
  switch (arguments.action) {
    case SessionArguments::Action::List:
      return list(arguments.json);
    case SessionArguments::Action::Stop:
      return stop(arguments.name, arguments.json);
    case SessionArguments::Action::Snapshot:
      return snapshot(arguments);
  }
  return kExitUsage;
}

}  // namespace strata::cli
