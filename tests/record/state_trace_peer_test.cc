// SPDX-License-Identifier: Apache-2.0
//
// The starting state as a trace, as Babeltrace sees it.

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include "clock/anchor.h"
#include "clock/calibrate.h"
#include "clock/tsc.h"
#include "record/state_trace.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace strata::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A machine with one of everything.
kernel::MachineState handmade() {
  kernel::MachineState state;
  state.begin = 100;
  state.devices.read_at = 200;
  state.devices.architecture = "x86_64";
  state.devices.model = {"AuthenticAMD", 25, 17, "EPYC", 2};
  state.devices.cpus = {
      {.number = 1, .socket = 2, .core = 3, .node = 4, .min_khz = 5, .max_khz = 6}};
  state.devices.block_devices = {{8, 1, "sda1"}};
  state.devices.interrupts = {{24, "IO-APIC", "disk"}};
  state.devices.interfaces = {{2, "eth0", "192.0.2.1", 0xc0000201}, {3, "dummy", "", 0}};

  kernel::Process parent;
  parent.read_at = 300;
  parent.pid = 10;
  parent.parent = 1;
  parent.uid = parent.gid = parent.effective_uid = 0;
  parent.cgroup = "/";
  parent.namespaces.pid = 70;
  parent.threads = {{.tid = 10, .name = "parent", .state = 'S', .pids = {10, 1}}};
  parent.descriptors_at = 310;
  parent.descriptors_known = true;
  kernel::Process process;
  process.read_at = 400;
  process.pid = 20;
  process.parent = 10;
  process.uid = 1000;
  process.gid = 100;
  process.effective_uid = 1001;
  process.rss_kb = 4096;
  process.cgroup = "/lxc/web";
  process.container = kernel::Container{"lxc", "web"};
  process.namespaces = {1, 2, 3, 4, 71, 6, 7, 8};
  process.threads = {
      {.tid = 20, .name = "server", .state = 'R', .cpu = 1, .start_ns = 50, .pids = {20, 5}},
      {.tid = 21, .name = "CPU 0/KVM", .state = 'S', .cpu = 0, .start_ns = 60, .pids = {21, 6}}};
  process.descriptors_at = 410;
  process.descriptors_known = true;
  process.descriptors = {{3, true, false, "/etc/passwd"}, {4, true, true, "socket:[17]"}};
  state.processes.processes = {parent, process};
  state.processes.sockets = {{500, 4, {{17, "tcp", "127.0.0.1:1", "127.0.0.1:2", "ESTABLISHED"}}}};
  state.machines = {{600, 20, true, "vm", "c7", 1, {{0, 21}}}};
  state.end = 700;
  return state;
}

// Its lines in Babeltrace's words, from the event's name on.
std::vector<std::string> show(const std::string& folder) {
  const test::CommandResult result = test::run(
      {"babeltrace2", "--clock-seconds", "--no-delta", "--color=never", "--names=payload", folder});
  EXPECT_EQ(result.status, 0);
  return test::lines_of(result.output);
}

TEST(StateTrace, SaysEverythingOnce) {
  if (!test::has_program("babeltrace2")) GTEST_SKIP() << "no babeltrace2";
  const test::TemporaryFolder folder;
  uint64_t events = 0;
  const Status status =
      write_state(folder.file("state"), handmade(), ctf::NewClock{.name = "mono_raw"}, &events);
  ASSERT_TRUE(status) << status.error().text();
  std::vector<std::string> lines;
  for (const std::string& line : show(folder.file("state"))) {
    const size_t name = std::min(line.find("lttng_"), line.find("strata_"));
    ASSERT_NE(name, std::string::npos) << line;
    std::string text = line.substr(1, line.find(']') - 1) + " " + line.substr(name);
    // The packet's context, the same in each.
    const size_t context = text.find("{ 0 }, ");
    if (context != std::string::npos) text.erase(context, 7);
    lines.push_back(text);
  }
  EXPECT_EQ(lines.size(), events);
  const auto has = [&](const std::string& text) {
    EXPECT_THAT(lines, testing::Contains(HasSubstr(text)));
  };
  EXPECT_THAT(lines.front(), HasSubstr("0.000000100 lttng_statedump_start"));
  EXPECT_THAT(lines.back(), HasSubstr("0.000000700 lttng_statedump_end"));
  has("0.000000200 lttng_statedump_cpu_topology: { architecture = \"x86_64\", cpu_id = 1, vendor = "
      "\"AuthenticAMD\", family = 25, model = 17, model_name = \"EPYC\", physical_id = 2, core_id "
      "= "
      "3, cores = 2 }");
  has("strata_statedump_cpu: { cpu_id = 1, socket = 2, core = 3, node = 4, min_khz = 5, max_khz = "
      "6 }");
  has("lttng_statedump_block_device: { dev = 8388609, diskname = \"sda1\" }");
  has("lttng_statedump_interrupt: { irq = 24, name = \"IO-APIC\", action = \"disk\", tid = 0 }");
  has("lttng_statedump_network_interface: { name = \"eth0\", address_ipv4 = 0xC0000201 }");
  has("strata_statedump_address: { index = 3, name = \"dummy\", address = \"\" }");
  has("0.000000400 lttng_statedump_process_state: { tid = 20, vtid = 5, pid = 20, vpid = 5, ppid = "
      "10, vppid = 1, name = \"server\", type = 0, mode = 5, submode = 0, status = 2, ns_level = "
      "1, "
      "ns_inum = 71, cpu = 1 }");
  has("lttng_statedump_process_state: { tid = 21, vtid = 6, pid = 20, vpid = 5, ppid = 10");
  has("strata_statedump_thread: { tid = 21, pid = 20, start_ns = 60, _pids_length = 2, pids = [ "
      "[0] "
      "= 21, [1] = 6 ] }");
  has("strata_statedump_process: { pid = 20, ppid = 10, uid = 1000, gid = 100, euid = 1001, rss_kb "
      "= 4096, threads = 2, descriptors_known = 1 }");
  has("strata_statedump_cgroup: { pid = 20, path = \"/lxc/web\", container_kind = \"lxc\", "
      "container_name = \"web\" }");
  has("strata_statedump_namespaces: { pid = 20, cgroup = 1, ipc = 2, mnt = 3, net = 4, pid_ns = "
      "71, time = 6, user = 7, uts = 8 }");
  has("0.000000410 lttng_statedump_file_descriptor: { pid = 20, fd = 3, flags = 00, fmode = 0x1, "
      "filename = \"/etc/passwd\" }");
  has("lttng_statedump_file_descriptor: { pid = 20, fd = 4, flags = 02, fmode = 0x3, filename = "
      "\"socket:[17]\" }");
  has("0.000000500 strata_statedump_socket: { inode = 17, net_ns = 4, protocol = \"tcp\", local = "
      "\"127.0.0.1:1\", peer = \"127.0.0.1:2\", state = \"ESTABLISHED\" }");
  has("strata_statedump_vm: { pid = 20, kvm = 1, name = \"vm\", uuid = \"c7\", vcpus = 1 }");
  has("0.000000600 strata_statedump_vcpu: { pid = 20, tid = 21, vcpu = 0 }");
}

TEST(StateTrace, OfThisMachineHasAllEventsAtTheirWallClockTimes) {
  if (!test::has_program("babeltrace2")) GTEST_SKIP() << "no babeltrace2";
  const bool tsc = clock::check_tsc().trusted();
  const clock::Anchor before = clock::take_anchor();
  const Result<kernel::MachineState> state =
      kernel::gather_state(tsc ? kernel::StateClock::Tsc : kernel::StateClock::MonotonicRaw);
  ASSERT_TRUE(state) << state.error().text();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::vector<clock::Anchor> anchors = {before, clock::take_anchor()};
  const Result<trace::ClockPiece> line = clock::fit_line(
      anchors, tsc ? clock::Reading::Tsc : clock::Reading::MonotonicRaw, clock::Reading::Wall);
  ASSERT_TRUE(line) << line.error().text();
  const clock::WholeHertz hertz = clock::whole_hertz(*line, line->t0);
  const test::TemporaryFolder folder;
  uint64_t events = 0;
  const Status status = write_state(folder.file("state"), *state,
                                    {.name = tsc ? "tsc" : "mono_raw",
                                     .description = "",
                                     .frequency = hertz.frequency,
                                     .offset_seconds = hertz.offset_seconds,
                                     .offset_cycles = hertz.offset_cycles},
                                    &events);
  ASSERT_TRUE(status) << status.error().text();

  const std::vector<std::string> lines = show(folder.file("state"));
  EXPECT_EQ(lines.size(), events);
  std::map<std::string, uint64_t> counts;
  bool self = false;
  for (const std::string& text : lines) {
    const double seconds = std::strtod(text.c_str() + 1, nullptr);
    EXPECT_GE(seconds, static_cast<double>(before.wall_ns) / 1e9 - 1e-3);
    EXPECT_LE(seconds, static_cast<double>(anchors[1].wall_ns) / 1e9 + 1e-3);
    const size_t name = std::min(text.find("lttng_"), text.find("strata_"));
    ++counts[text.substr(name, text.find(':', name) - name)];
    self |= text.find("lttng_statedump_process_state: { 0 }, { tid = " + std::to_string(getpid()) +
                      ",") != std::string::npos;
  }
  EXPECT_TRUE(self);
  for (const auto& [name, count] : counts)
    std::printf("%6lu %s\n", static_cast<unsigned long>(count), name.c_str());
  size_t threads = 0, descriptors = 0, sockets = 0;
  for (const kernel::Process& process : state->processes.processes) {
    threads += process.threads.size();
    descriptors += process.descriptors.size();
  }
  for (const kernel::SocketTable& table : state->processes.sockets) sockets += table.sockets.size();
  EXPECT_EQ(counts["lttng_statedump_process_state"], threads);
  EXPECT_EQ(counts["lttng_statedump_file_descriptor"], descriptors);
  EXPECT_EQ(counts["strata_statedump_socket"], sockets);
  EXPECT_EQ(counts["strata_statedump_process"], state->processes.processes.size());
}

}  // namespace
}  // namespace strata::record
