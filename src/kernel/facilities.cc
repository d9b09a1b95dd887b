// SPDX-License-Identifier: Apache-2.0
#include "kernel/facilities.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/kvm.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/small_file.h"
#include "clock/tsc.h"
#include "kernel/event_catalog.h"
#include "kernel/group_program.h"
#include "kernel/instance.h"
#include "kernel/perf_event.h"
#include "kernel/privilege.h"
#include "kernel/tracefs.h"

namespace strata::kernel {
namespace {

// What a try gave.
struct Outcome {
  bool available = false;
  std::string found;
};

Outcome yes(std::string found) { return {true, std::move(found)}; }
Outcome no(std::string found) { return {false, std::move(found)}; }
Outcome no(int error_number) { return no(std::strerror(error_number)); }
template <typename T>
Outcome by(const Result<T>& result, const std::string& found) {
  return result ? yes(found) : no(result.error().text());
}

Outcome try_rights() {
  if (geteuid() == 0) return yes("root");
  if (has_lent_privileges()) return yes("member of a group that may record");
  return no(how_to_get_rights());
}

// The place that the file system is at; one that only we see has none.
std::string place_of(const Tracefs& tracefs) {
  return tracefs.descriptor() >= 0 ? "mounted for this program alone" : tracefs.path();
}

// Files of the tracer that take commands: opened as they are for a command, and nothing written.
Outcome try_command_file(const Tracefs& tracefs, const char* name) {
  const Privilege privilege{Capability::DacOverride};
  const FileDescriptor file(open(tracefs.file(name).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  return file ? yes(name)
              : no(errno == ENOENT ? "this kernel has no " + std::string(name)
                                   : std::strerror(errno));
}

Outcome try_mapping(const Instance& instance) {
  const FileDescriptor ring =
      instance.open_cpu_file(instance.cpus().front(), "trace_pipe_raw", O_RDONLY | O_NONBLOCK);
  if (!ring) return no(errno);
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ, MAP_SHARED, ring.get(), 0);
  if (page == MAP_FAILED) return no("this kernel does not map its rings (since Linux 6.10)");
  munmap(page, size);
  return yes("rings can be read where they are");
}

Outcome try_snapshot(const Instance& instance) {
  const Privilege privilege{Capability::DacOverride};
  const Status taken = write_small_file(instance.file("snapshot"), "1");
  return taken ? yes("a ring can be swapped for an empty one")
               : no("this kernel has none (CONFIG_TRACER_SNAPSHOT)");
}

Outcome try_events(const Tracefs& tracefs, const char* system) {
  const Result<EventCatalog> catalog = EventCatalog::read(tracefs);
  if (!catalog) return no(catalog.error().text());
  size_t count = 0;
  for (const EventCatalog::Event& event : catalog->events())
    count += system == nullptr || event.system == system ? 1 : 0;
  return {count > 0, std::to_string(count) + " events"};
}

Outcome try_tsc() {
  const clock::TscCheck check = clock::check_tsc();
  // The first one is what the others were compared with.
  return check.trusted() ? yes("the TSC, CPUs compared: " + std::to_string(check.compared + 1))
                         : no("the TSC is not trusted: " + check.reason);
}

// On a whole CPU, as recording counts.
Outcome try_counter(uint32_t type, uint64_t config, const char* name) {
  perf_event_attr attributes = perf_attributes(type, config);
  attributes.disabled = 1;
  const FileDescriptor event(open_perf_event(attributes, -1, 0, -1));
  if (event) return yes(name);
  if (errno == ENOENT || errno == EOPNOTSUPP)
    return no("this machine does not count " + std::string(name));
  return no(errno);
}

// The shortest program there is: it returns 0.
Outcome try_ebpf() {
  bpf_insn program[2]{};
  program[0].code = BPF_ALU64 | BPF_MOV | BPF_K;  // of 0 to register 0
  program[1].code = BPF_JMP | BPF_EXIT;
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_TRACEPOINT;
  attributes.insns = reinterpret_cast<uint64_t>(program);
  attributes.insn_cnt = std::size(program);
  attributes.license = reinterpret_cast<uint64_t>("GPL");
  const FileDescriptor loaded(
      static_cast<int>(syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes)));
  return loaded ? yes("programs can be loaded") : no(errno);
}

Outcome try_kvm() {
  const FileDescriptor kvm(open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (!kvm) return no(std::string("/dev/kvm: ") + std::strerror(errno));
  const int version = ioctl(kvm.get(), KVM_GET_API_VERSION, 0);
  return version > 0 ? yes("/dev/kvm, version " + std::to_string(version)) : no(errno);
}

Outcome try_symbols() {
  const Privilege privilege{Capability::Syslog};
  const FileDescriptor file(open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
  if (!file) return no("this kernel has no /proc/kallsyms");
  char text[65536];
  const ssize_t size = read(file.get(), text, sizeof text);
  if (size <= 0) return no(errno);
  // Who may not know them sees zeros; per-CPU symbols, the first, may have small addresses.
  for (const char* at = text; at < text + size && *at != ' '; ++at)
    if (*at != '0') return yes("addresses are told");
  const std::string_view all(text, static_cast<size_t>(size));
  return all.find("\nffff") != std::string_view::npos ? yes("addresses are told")
                                                      : no("the kernel hides its addresses");
}

// Each link that a process's folder has is guarded alike: the one to where it works will do.
Outcome try_processes() {
  const Privilege privilege{Capability::DacOverride, Capability::SysPtrace};
  size_t others = 0;
  size_t seen = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    struct stat owner {};
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (stat(entry.path().c_str(), &owner) != 0 || owner.st_uid == getuid()) continue;
    char link[16];
    const bool shown = readlink((entry.path() / "cwd").c_str(), link, sizeof link) > 0;
    if (!shown && errno != EACCES && errno != EPERM) continue;  // it has ended, or has none
    ++others;
    seen += shown ? 1 : 0;
  }
  return {others == 0 || seen > 0,
          std::to_string(seen) + " of " + std::to_string(others) + " of other users can be seen"};
}

Outcome try_priority() {
  int refused = 0;
  std::thread([&] {
    const Privilege privilege{Capability::SysNice};
    const sched_param priority{.sched_priority = 1};
    refused = pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
  }).join();
  return refused == 0 ? yes("SCHED_FIFO") : no(refused);
}

Outcome try_cgroups() {
  for (const char* place : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    struct statfs system {};
    if (statfs(place, &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC) return yes(place);
  }
  return no("not mounted at /sys/fs/cgroup");
}

Outcome try_log() {
  const FileDescriptor log(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{AF_UNIX, "/dev/log"};
  const bool heard =
      connect(log.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return heard ? yes("/dev/log") : no(std::string("/dev/log: ") + std::strerror(errno));
}

std::string kernel_release() {
  utsname names{};
  uname(&names);
  return std::string(names.sysname) + " " + names.release + ", " + names.machine;
}

// In which things are tried: a name that no session of a user can have.
Result<Instance> make_trial(const Result<Tracefs>& tracefs) {
  if (!tracefs) return tracefs.error();
  return Instance::create(*tracefs, "@check-" + std::to_string(getpid()));
}

std::vector<Facility> try_each() {
  std::vector<Facility> all;
  const auto add = [&](const char* name, Outcome outcome, const char* cost, bool vital = false) {
    all.push_back({name, outcome.available, std::move(outcome.found), cost, vital});
  };
  const Result<Tracefs> tracefs = Tracefs::find();
  const Result<Instance> instance = make_trial(tracefs);
  const Outcome without = no("not known without the tracer");
  const auto in_tracefs = [&](auto attempt) { return tracefs ? attempt(*tracefs) : without; };
  const auto in_instance = [&](auto attempt) { return instance ? attempt(*instance) : without; };

  add("kernel", yes(kernel_release()), "");
  add("rights", try_rights(), "this user cannot record");
  add("tracer", by(tracefs, tracefs ? place_of(*tracefs) : ""), "nothing can be recorded", true);
  add("instances", by(instance, "of the session's own"), "nothing can be recorded", true);
  add("events", in_tracefs([](const Tracefs& at) { return try_events(at, nullptr); }),
      "nothing can be recorded", true);
  add("system calls", in_tracefs([](const Tracefs& at) { return try_events(at, "syscalls"); }),
      "system calls are not recorded");
  add("clock", try_tsc(), "events are on mono_raw, not on the counter that applications can read");
  add("ring mapping", in_instance(try_mapping),
      "a flight recorder's snapshot takes its ring away, or leaves a gap");
  add("snapshot", in_instance(try_snapshot),
      "where rings cannot be mapped either, a flight recorder's snapshot leaves a gap");
  add("uprobes",
      in_tracefs([](const Tracefs& at) { return try_command_file(at, "uprobe_events"); }),
      "no --uprobe, --usdt and --preset");
  add("kprobes",
      in_tracefs([](const Tracefs& at) { return try_command_file(at, "kprobe_events"); }),
      "no --kprobe");
  add("counters", try_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page faults"),
      "no --counters");
  add("PMU", try_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles"),
      "--counters has software counters only: no cycles, instructions, cache misses");
  add("KVM", try_kvm(), "no virtual machine of KVM runs here, as far as this user can tell");
  add("KVM events", in_tracefs([](const Tracefs& at) { return try_events(at, "kvm"); }),
      "what virtual machines do to this host is not recorded (kvm.ko is not loaded?)");
  add("eBPF", try_ebpf(), "nothing can be counted within the kernel; recording does not need it");
  add("kernel symbols", try_symbols(), "addresses in the kernel are shown as numbers");
  add("processes", try_processes(),
      "the starting state lacks what other users' processes have open");
  add("priority", try_priority(), "an overloaded machine may lose events");
  add("cgroup v2", try_cgroups(), "control groups are those of version 1");
  add("system log", try_log(), "who recorded what is not noted there");
  return all;
}

}  // namespace

std::vector<Facility> try_facilities() {
  // A signal waits until nothing is left of the trial.
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  std::vector<Facility> all = try_each();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return all;
}

}  // namespace strata::kernel
