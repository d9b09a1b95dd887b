// SPDX-License-Identifier: Apache-2.0
#include "kernel/process_state.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "kernel/open_folder.h"
#include "kernel/text_parts.h"

namespace strata::kernel {
namespace {

constexpr int64_t kTick = 10'000'000;  // USER_HZ is 100 everywhere

class Gathering {
 public:
  Gathering(const OpenFolder& proc, StateClock clock) : proc_(proc), clock_(clock) {}

  void read_process(const char* number);
  void read_sockets();
  ProcessState take() { return std::move(state_); }

 private:
  static Thread thread_of(const StatText& stat, std::vector<int32_t> pids) {
    const auto ticks =
        static_cast<int64_t>(std::min<uint64_t>(stat.start_ticks, INT64_MAX / kTick));
    return {stat.tid, std::string(stat.name), stat.state, stat.cpu, ticks * kTick, std::move(pids)};
  }
  void read_threads(const OpenFolder& folder, Process& process);
  Namespaces read_namespaces(const OpenFolder& folder);
  void read_descriptors(const OpenFolder& folder, Process& process);

  const OpenFolder& proc_;
  StateClock clock_;
  ProcessState state_;
  std::string buffer_;
  std::optional<Namespaces> kernel_namespaces_;  // those of the kernel's threads: all have the same
  std::map<uint32_t, std::vector<int32_t>> socket_owners_;  // by network namespace
};

void Gathering::read_process(const char* number) {
  if (!whole_number<int32_t>(number)) return;
  const OpenFolder folder(proc_, number);
  Process process;
  process.read_at = now(clock_);
  const auto stat_text = folder.read("stat", buffer_);
  const std::optional<StatText> stat = stat_text ? parse_stat(*stat_text) : std::nullopt;
  if (!stat) return;
  process.pid = stat->tid;
  process.parent = stat->parent;
  process.kernel_thread = stat->kernel_thread;
  const uint64_t threads = stat->threads;
  process.threads.push_back(thread_of(*stat, {}));

  if (const auto text = folder.read("status", buffer_)) {
    StatusText status = parse_status(*text);
    process.uid = status.uid;
    process.gid = status.gid;
    process.effective_uid = status.effective_uid;
    process.rss_kb = status.rss_kb;
    process.threads.front().pids = std::move(status.pids);
  }
  if (process.threads.front().pids.empty()) process.threads.front().pids = {process.pid};
  const auto cgroup = folder.read("cgroup", buffer_);
  process.cgroup = cgroup ? parse_cgroup(*cgroup) : "/";
  process.container = container_of(process.cgroup);
  if (!process.kernel_thread || !kernel_namespaces_) {
    process.namespaces = read_namespaces(folder);
    if (process.kernel_thread) kernel_namespaces_ = process.namespaces;
  } else {
    process.namespaces = *kernel_namespaces_;
  }
  if (threads > 1) read_threads(folder, process);
  process.descriptors_at = now(clock_);
  if (process.kernel_thread)
    process.descriptors_known = true;  // they have none
  else
    read_descriptors(folder, process);
  state_.processes.push_back(std::move(process));
}

void Gathering::read_threads(const OpenFolder& folder, Process& process) {
  const OpenFolder tasks(folder, "task");
  const bool nested = process.threads.front().pids.size() > 1;
  std::string path;
  tasks.each([&](const char* name) {
    const auto tid = whole_number<int32_t>(name);
    if (!tid || *tid == process.pid) return;
    path.assign(name).append("/stat");
    const auto text = tasks.read(path.c_str(), buffer_);
    const std::optional<StatText> stat = text ? parse_stat(*text) : std::nullopt;
    if (!stat) return;
    Thread thread = thread_of(*stat, {*tid});
    if (nested) {
      path.assign(name).append("/status");
      if (const auto status = tasks.read(path.c_str(), buffer_)) {
        StatusText parsed = parse_status(*status);
        if (!parsed.pids.empty()) thread.pids = std::move(parsed.pids);
      }
    }
    process.threads.push_back(std::move(thread));
  });
}

Namespaces Gathering::read_namespaces(const OpenFolder& folder) {
  const auto number = [&](const char* link, std::string_view kind) {
    const auto target = folder.read_link(link, buffer_);
    const auto found = target ? parse_numbered_link(*target, kind) : std::nullopt;
    return static_cast<uint32_t>(found.value_or(0));
  };
  return {.cgroup = number("ns/cgroup", "cgroup"),
          .ipc = number("ns/ipc", "ipc"),
          .mnt = number("ns/mnt", "mnt"),
          .net = number("ns/net", "net"),
          .pid = number("ns/pid", "pid"),
          .time = number("ns/time", "time"),
          .user = number("ns/user", "user"),
          .uts = number("ns/uts", "uts")};
}

void Gathering::read_descriptors(const OpenFolder& folder, Process& process) {
  const OpenFolder descriptors(folder, "fd");
  process.descriptors_known = static_cast<bool>(descriptors);
  bool has_sockets = false;
  descriptors.each([&](const char* name) {
    const auto number = whole_number<int32_t>(name);
    if (!number) return;
    const auto path = descriptors.read_link(name, buffer_);
    if (!path) return;
    Descriptor descriptor{.number = *number, .path = std::string(*path)};
    // The link's own mode tells how the file was opened.
    struct stat link {};
    if (fstatat(descriptors.fd(), name, &link, AT_SYMLINK_NOFOLLOW) == 0) {
      descriptor.reads = (link.st_mode & S_IRUSR) != 0;
      descriptor.writes = (link.st_mode & S_IWUSR) != 0;
    }
    has_sockets |= path->starts_with("socket:[");
    process.descriptors.push_back(std::move(descriptor));
  });
  if (has_sockets) socket_owners_[process.namespaces.net].push_back(process.pid);
}

void Gathering::read_sockets() {
  for (const auto& [net_namespace, owners] : socket_owners_) {
    // Any of them will do; the first may have ended meanwhile.
    OpenFolder net;
    for (size_t i = 0; i < owners.size() && !net; ++i)
      net = OpenFolder(proc_, (std::to_string(owners[i]) + "/net").c_str());
    SocketTable table{.read_at = now(clock_), .net_namespace = net_namespace, .sockets = {}};
    for (const char* protocol : {"tcp", "tcp6", "udp", "udp6"})
      if (const auto text = net.read(protocol, buffer_))
        parse_internet_sockets(*text, protocol, table.sockets);
    if (const auto text = net.read("unix", buffer_)) parse_unix_sockets(*text, table.sockets);
    state_.sockets.push_back(std::move(table));
  }
}

}  // namespace

Result<ProcessState> gather_processes(StateClock clock) {
  const OpenFolder proc("/proc");
  if (!proc) return system_error("/proc", "cannot open", errno);
  Gathering gathering(proc, clock);
  proc.each([&](const char* name) {
    if (*name >= '0' && *name <= '9') gathering.read_process(name);
  });
  gathering.read_sockets();
  return gathering.take();
}

}  // namespace strata::kernel
