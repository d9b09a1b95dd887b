// SPDX-License-Identifier: Apache-2.0
//
// Records what happens while a command runs, through the kernel's own tracer, into a trace.dat:
//
//     capture -e 'sched:*' -e 'syscalls:*' -o OUT -- load 2 300000
//
// It makes an instance of the tracer for itself and removes it, also when it is interrupted.

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <deque>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "base/byte_writer.h"
#include "drain.h"
#include "format/tracedat/writer.h"
#include "ftrace/ring_page.h"
#include "tracefs.h"

namespace strata::bench {
namespace {

struct Request {
  std::string output;
  std::vector<std::string> events;
  std::string clock = "mono";
  std::string uname;
  bool only_command = false;
  bool kallsyms = false;
  bool zstd = false;
  uint32_t kilobytes_a_cpu = 32 << 10;
  std::vector<std::string> command;
};

// One CPU's pages, as they were drained.
struct Recorded {
  uint32_t cpu;
  Bytes pages;
};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  return set;
}

// Until the command ends. False: something asked us to stop first, and the command was ended.
bool run_command(const std::vector<std::string>& command) {
  const sigset_t watched = watched_signals();
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    sigprocmask(SIG_UNBLOCK, &watched, nullptr);
    setpgid(0, 0);
    execvp(words[0], words.data());
    _exit(127);
  }
  for (;;) {
    const int number = sigwaitinfo(&watched, nullptr);
    int status = 0;
    if (number > 0 && number != SIGCHLD) {
      kill(-child, SIGTERM);
      waitpid(child, &status, 0);
      return false;
    }
    if (waitpid(child, &status, WNOHANG) != child) continue;
    if (status != 0) throw std::runtime_error(command[0] + " failed");
    return true;
  }
}

Bytes map(int file) {
  struct stat info {};
  if (fstat(file, &info) != 0) throw std::runtime_error("cannot map what was recorded");
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return {};
  void* at = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) throw std::runtime_error("cannot map what was recorded");
  return {static_cast<const std::byte*>(at), size};
}

// The tasks that have events: the kernel's list of names has all that ever ran.
std::set<int32_t> tasks_in(const std::vector<Recorded>& recorded, uint32_t page_size) {
  constexpr size_t kCommonPid = 4;  // in every ftrace record
  std::set<int32_t> tasks;
  for (const Recorded& one : recorded) {
    for (size_t at = 0; at < one.pages.size(); at += page_size) {
      ftrace::RingPage page(one.pages.subspan(at, page_size), {});
      while (page.next() == ftrace::RingPage::Step::Record)
        if (page.record().size() >= kCommonPid + sizeof(int32_t))
          tasks.insert(load_once<int32_t>(page.record().data() + kCommonPid));
    }
  }
  return tasks;
}

std::string names_of(const std::set<int32_t>& tasks, const std::string& saved_cmdlines) {
  std::istringstream lines(saved_cmdlines);
  std::string names;
  for (std::string line; std::getline(lines, line);)
    if (tasks.contains(std::atoi(line.c_str()))) names += line + "\n";
  return names;
}

std::string this_machine() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.nodename + " " + name.release + " " + name.machine;
}

std::vector<tracedat::NewOption> options_of(const Request& request, const Instance& instance) {
  using tracedat::OptionId;
  ByteWriter trace_id(kNativeOrder);
  trace_id.u64(static_cast<uint64_t>(time(nullptr)) << 32 | static_cast<uint32_t>(getpid()));
  ByteWriter cpu_count(kNativeOrder);
  cpu_count.u32(static_cast<uint32_t>(instance.cpus().size()));
  std::vector<tracedat::NewOption> options;
  for (uint32_t cpu : instance.cpus())
    options.push_back(text_option(
        OptionId::CpuStat,
        "CPU: " + std::to_string(cpu) + "\n" + read_text(instance.cpu_path(cpu) / "stats")));
  options.push_back(text_option(OptionId::TraceClock, read_text(instance.path() / "trace_clock")));
  options.push_back(
      text_option(OptionId::Uname, request.uname.empty() ? this_machine() : request.uname));
  options.push_back({OptionId::CpuCount, std::move(cpu_count).bytes()});
  options.push_back(text_option(OptionId::Version, "strata bench"));
  options.push_back({OptionId::TraceId, std::move(trace_id).bytes()});
  return options;
}

void check(const Status& status) {
  if (!status) throw std::runtime_error(status.error().text());
}

void write_trace(const Request& request, const std::filesystem::path& tracefs,
                 const Instance& instance, const std::vector<Recorded>& recorded) {
  const std::vector<FormatFile> formats = instance.formats();
  const std::string header_page = read_text(tracefs / "events/header_page");
  const std::string header_event = read_text(tracefs / "events/header_event");
  const std::string printk_formats = read_text(tracefs / "printk_formats");
  const std::string kallsyms = request.kallsyms ? read_text("/proc/kallsyms") : "";
  const std::string cmdlines =
      names_of(tasks_in(recorded, instance.page_size()), read_text(tracefs / "saved_cmdlines"));

  tracedat::Head head;
  head.page_size = instance.page_size();
  head.header_page = header_page;
  head.header_event = header_event;
  for (const FormatFile& format : formats) head.formats.push_back({format.system, format.text});
  head.kallsyms = kallsyms;
  head.printk_formats = printk_formats;
  head.cmdlines = cmdlines;
  head.options = options_of(request, instance);
  // The main buffer, though it was recorded in an instance: other programs show that one first.
  head.buffers.push_back({"", request.clock, head.page_size, instance.cpus()});

  tracedat::WriteOptions how;
  how.compression = request.zstd ? tracedat::Compression::Zstd : tracedat::Compression::None;
  Result<tracedat::Writer> writer = tracedat::Writer::create(request.output, head, how);
  if (!writer) throw std::runtime_error(writer.error().text());
  for (const Recorded& one : recorded) {
    check(writer->begin_cpu());
    for (size_t at = 0; at < one.pages.size(); at += head.page_size)
      check(writer->add_page(one.pages.subspan(at, head.page_size)));
  }
  check(writer->finish());
}

void capture(const Request& request) {
  // Watched by run_command alone, so that nothing ends the program before the instance is removed.
  const sigset_t watched = watched_signals();
  sigprocmask(SIG_BLOCK, &watched, nullptr);

  const std::filesystem::path tracefs = find_tracefs();
  Instance instance(tracefs, request.clock, request.kilobytes_a_cpu);
  std::deque<Drain> drains;
  const std::filesystem::path folder = std::filesystem::absolute(request.output).parent_path();
  for (uint32_t cpu : instance.cpus()) drains.emplace_back(instance, cpu, folder);
  for (const std::string& event : request.events) instance.enable(event);
  if (request.only_command) instance.follow(getpid());
  instance.start();
  const bool whole = run_command(request.command);
  instance.stop();
  std::vector<Recorded> recorded;
  for (Drain& drain : drains) {
    drain.finish();
    recorded.push_back({drain.cpu(), map(drain.file())});
  }
  if (!whole) throw std::runtime_error("interrupted; nothing was written");
  write_trace(request, tracefs, instance, recorded);
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) {
  strata::bench::Request request;
  CLI::App app("Records what happens while a command runs, into a trace.dat");
  app.add_option("-o", request.output, "the file to write")->required();
  app.add_option("-e", request.events, "SYSTEM:EVENT, with * and ?; may be repeated")
      ->required()
      ->allow_extra_args(false);
  app.add_option("--clock", request.clock, "a name in tracefs' trace_clock (mono)");
  app.add_option("--uname", request.uname, "what to say of the machine instead of what it is");
  app.add_option("--buffer", request.kilobytes_a_cpu, "KB of the kernel's ring for each CPU");
  app.add_flag("--only-command", request.only_command, "of the command's processes alone");
  app.add_flag("--kallsyms", request.kallsyms, "the kernel's symbols too");
  app.add_flag("--zstd", request.zstd, "compressed");
  app.add_option("command", request.command, "what to run")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    strata::bench::capture(request);
  } catch (const std::exception& error) {
    std::cerr << "capture: " << error.what() << '\n';
    return 1;
  }
}
