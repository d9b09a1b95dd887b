// SPDX-License-Identifier: Apache-2.0
#include "guest/agent.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "clock/tsc.h"
#include "kernel/cpu_list.h"
#include "kernel/kernel_files.h"
#include "record/registry.h"

namespace strata::guest {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLongestWait = std::chrono::seconds(1);
// For the rest of what was recorded, when the agent is asked to end.
constexpr auto kEndPatience = std::chrono::seconds(5);

// "strata-agent-PID-NUMBER" of an agent that is gone.
void remove_leftovers(const std::string& folder) {
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename();
    pid_t process = 0;
    const char* const begin = name.data() + std::min(name.size(), name.find('-') + 1);
    std::from_chars(begin, name.data() + name.size(), process);
    if (process <= 0 || kill(process, 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

Description describe() {
  Description description;
  utsname machine{};
  uname(&machine);
  description.program = "strata " STRATA_VERSION;
  description.machine = machine.nodename;
  description.kernel = machine.release;
  description.architecture = machine.machine;
  description.boot_id = kernel::boot_id();
  const clock::TscCheck check = clock::check_tsc();
  description.clock = check.trusted() ? "x86-tsc" : "mono_raw";
  description.clock_note = check.trusted() ? "" : check.reason;
  description.page_size = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  if (const Result<std::vector<uint32_t>> cpus = kernel::online_cpus()) description.cpus = *cpus;
  return description;
}

}  // namespace

// One at the other end of a control connection.
struct Agent::Host {
  explicit Host(Connection from) : connection(std::move(from)) {}

  Connection connection;
  std::list<std::unique_ptr<AgentRecording>> recordings;
  Clock::time_point heard = Clock::now();
  bool gone = false;
};

Result<std::unique_ptr<Agent>> Agent::create(const Key& key, Options options) {
  std::unique_ptr<Agent> agent(new Agent(std::move(options)));
  const Result<std::string> registry = record::registry_folder();
  if (!registry) return registry.error();
  agent->folder_ = *registry + "-agent";
  if (mkdir(agent->folder_.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error(agent->folder_, "cannot create", errno);
  remove_leftovers(agent->folder_);
  agent->description_ = describe();
  Listener::Options listening;
  listening.awaits = [self = agent.get()](const Attach& attach) { return self->awaits(attach); };
  listening.log = agent->options_.log;
  Result<std::unique_ptr<Listener>> listener = Listener::create(key, std::move(listening));
  if (!listener) return std::move(listener).error();
  agent->listener_ = *std::move(listener);
  for (const Address& address : agent->options_.addresses) {
    if (Status status = agent->listener_->listen(address); !status)
      return std::move(status).error();
  }
  return agent;
}

Agent::Agent(Options options) : options_(std::move(options)) {}
Agent::~Agent() = default;

bool Agent::awaits(const Attach& attach) const {
  return std::ranges::any_of(hosts_, [&](const Host& host) {
    return std::ranges::any_of(host.recordings,
                               [&](const auto& recording) { return recording->awaits(attach); });
  });
}

size_t Agent::recordings() const {
  size_t count = 0;
  for (const Host& host : hosts_) count += host.recordings.size();
  return count;
}

void Agent::run(int file, const std::function<bool()>& is_over) {
  while (!is_over()) {
    for (Arrival& arrival : listener_->serve())
      arrival.attach ? attach(std::move(arrival)) : greet(std::move(arrival));
    for (Host& host : hosts_) serve(host);
    drop_the_dead();
    wait(file);
  }
  end_all();
}

void Agent::greet(Arrival arrival) {
  const std::string peer = arrival.connection.channel().peer();
  if (hosts_.size() >= options_.most_hosts) {
    (void)static_cast<bool>(arrival.connection.send(Refused{Reason::Busy, "too many hosts"}));
    return log(peer + ": refused, since there are " + std::to_string(hosts_.size()) + " hosts");
  }
  if (Status sent = arrival.connection.send(description_); !sent) return log(sent.error().text());
  hosts_.emplace_back(std::move(arrival.connection));
  log(peer + ": may record");
}

void Agent::attach(Arrival arrival) {
  for (Host& host : hosts_) {
    for (const auto& recording : host.recordings) {
      if (recording->awaits(*arrival.attach))
        return recording->attach(arrival.attach->stream, std::move(arrival.connection));
    }
  }
}

void Agent::serve(Host& host) {
  Status status = host.gone ? Status() : listen_to(host);
  for (const auto& recording : host.recordings) {
    Status worked = recording->work(host.connection);
    if (!worked && status) status = std::move(worked);
  }
  if (!host.gone && status) status = host.connection.flush();
  if (!host.gone && status && Clock::now() - host.heard > options_.patience)
    status = Error{host.connection.channel().peer(), std::nullopt, "has not been heard of"};
  std::erase_if(host.recordings, [](const auto& recording) { return recording->is_over(); });
  if (status || host.gone) return;
  log(status.error().text());
  host.gone = true;
  for (const auto& recording : host.recordings) recording->abandon();
}

Status Agent::listen_to(Host& host) {
  while (true) {
    const Result<std::optional<Message>> message = host.connection.receive();
    if (!message) return message.error();
    if (!*message) return {};
    host.heard = Clock::now();
    if (Status status = answer(host, **message); !status) return status;
  }
}

Status Agent::answer(Host& host, const Message& message) {
  if (message.kind == Kind::Record) return start(host, message);
  if (message.kind == Kind::KeepAlive) {
    Result<KeepAlive> alive = decode<KeepAlive>(message);
    if (!alive) return std::move(alive).error();
    if (alive->answers) return {};
    alive->answers = true;
    return host.connection.send(*alive, message.recording);
  }
  if (message.kind != Kind::Stop)
    return host.connection.send(Refused{Reason::Request, "this agent does not do that"},
                                message.recording);
  for (const auto& recording : host.recordings) {
    if (recording->number() == message.recording) recording->ask_to_end();
  }
  return {};
}

Status Agent::start(Host& host, const Message& message) {
  const uint32_t number = message.recording;
  const auto refuse = [&](Reason reason, const std::string& why) {
    log(host.connection.channel().peer() + ": refused to record: " + why);
    return host.connection.send(Refused{reason, why}, number);
  };
  const Result<Record> record = decode<Record>(message);
  if (!record) return record.error();
  Result<Request> request = parse_request(as_text(record->json));
  if (!request) return refuse(Reason::Request, request.error().text());
  if (recordings() >= options_.most_recordings)
    return refuse(Reason::Busy, "too much is being recorded already");
  for (const auto& other : host.recordings) {
    if (other->number() == number)
      return refuse(Reason::Request, "there is a recording of this number");
  }
  const std::string session =
      "agent-" + std::to_string(getpid()) + "-" + std::to_string(next_session_++);
  Result<std::unique_ptr<AgentRecording>> recording =
      AgentRecording::start(number, session, folder_ + "/" + session, *std::move(request));
  if (!recording) return refuse(Reason::Other, recording.error().text());
  host.recordings.push_back(*std::move(recording));
  log(host.connection.channel().peer() + ": records session " + session);
  return {};
}

void Agent::wait(int file) {
  std::vector<pollfd> files = {{file, POLLIN, 0}, {listener_->file(), POLLIN, 0}};
  bool at_once = false;
  for (const Host& host : hosts_) {
    for (const auto& recording : host.recordings) {
      recording->add_files(files);
      at_once = at_once || recording->has_more();
    }
    if (host.gone) continue;
    files.push_back(host.connection.channel().to_receive());
    if (host.connection.unsent() > 0) files.push_back(host.connection.channel().to_send());
  }
  if (at_once) return;
  wait_for(files, std::min(listener_->next_due(), within(kLongestWait)));
}

void Agent::drop_the_dead() {
  std::erase_if(hosts_, [](const Host& host) { return host.gone && host.recordings.empty(); });
}

void Agent::end_all() {
  for (Host& host : hosts_) {
    for (const auto& recording : host.recordings) recording->ask_to_end("the agent was ended");
  }
  const Deadline deadline = within(kEndPatience);
  while (recordings() > 0 && Clock::now() < deadline) {
    for (Arrival& arrival : listener_->serve()) {
      if (arrival.attach) attach(std::move(arrival));
    }
    for (Host& host : hosts_) serve(host);
    drop_the_dead();
    if (recordings() > 0) wait(-1);
  }
  for (Host& host : hosts_) {
    if (!host.gone) (void)static_cast<bool>(host.connection.flush(within(std::chrono::seconds(1))));
  }
}

}  // namespace strata::guest
