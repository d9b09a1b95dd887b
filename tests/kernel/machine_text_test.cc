// SPDX-License-Identifier: Apache-2.0
//
// Texts that tell of the machine: its sockets, interrupts, processors, virtual machines.

#include <gmock/gmock.h>

#include "kernel/device_state.h"
#include "kernel/device_text.h"
#include "kernel/socket_text.h"
#include "kernel/vm_state.h"

namespace strata::kernel {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kTcp =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 17 1 0 100\n"
    "   1: 0200000A:0016 0300000A:D431 01 00000000:00000000 00:00000000 00000000  0 0 18 1 0 100\n"
    "   2: 0200000A:0016 0400000A:D432 06 00000000:00000000 00:00000000 00000000  0 0 0 1 0 100\n";

TEST(Sockets, OfTcpThatAProcessHolds) {
  if (std::endian::native != std::endian::little) GTEST_SKIP() << "the text is a small-endian's";
  std::vector<Socket> sockets;
  parse_internet_sockets(kTcp, "tcp", sockets);
  EXPECT_THAT(sockets,
              ElementsAre(Socket{17, "tcp", "127.0.0.1:2024", "", "LISTEN"},
                          Socket{18, "tcp", "10.0.0.2:22", "10.0.0.3:54321", "ESTABLISHED"}));
}

TEST(Sockets, OfTheSixthVersion) {
  if (std::endian::native != std::endian::little) GTEST_SKIP() << "the text is a small-endian's";
  std::vector<Socket> sockets;
  parse_internet_sockets(
      "heads\n 0: 00000000000000000000000001000000:0035 B80D0120000000000000000001000000:0001 07 "
      "0:0 0:0 0 0 0 99 2\n",
      "udp6", sockets);
  EXPECT_THAT(sockets, ElementsAre(Socket{99, "udp6", "[::1]:53", "[2001:db8::1]:1", "CLOSE"}));
}

TEST(Sockets, OfOneMachineWithPaths) {
  std::vector<Socket> sockets;
  parse_unix_sockets(
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "00000000d85ac7e9: 00000003 00000000 00000000 0001 03  1676\n"
      "00000000657ac35d: 00000002 00000000 00010000 0001 01  1677 /run/a b.sock\n"
      "00000000657ac35e: 00000002 00000000 00000000 0002 01  1678 @abstract\n",
      sockets);
  EXPECT_THAT(sockets, ElementsAre(Socket{1676, "unix", "", "", "ESTABLISHED"},
                                   Socket{1677, "unix", "/run/a b.sock", "", "LISTEN"},
                                   Socket{1678, "unix", "@abstract", "", "UNCONNECTED"}));
}

TEST(Sockets, OddTextGivesNone) {
  std::vector<Socket> sockets;
  for (const char* text : {"", "heads", "heads\n", "heads\n\n\n", "heads\n1 2 3\n",
                           "heads\n 0: 1:1 2:2 ZZ 0 0 0 0 0 17\n", "heads\n 0: : : 01 0 0 0 0 0"}) {
    parse_internet_sockets(text, "tcp", sockets);
    parse_unix_sockets(text, sockets);
  }
  EXPECT_THAT(sockets, IsEmpty());
  parse_internet_sockets("h\n 0: 1:1 0100007F:FFFFF 01 0 0 0 0 0 17\n", "tcp", sockets);
  EXPECT_THAT(sockets, ElementsAre(Socket{17, "tcp", "", "", "ESTABLISHED"})) << "no addresses";
}

TEST(Interrupts, HaveNumberChipAndAction) {
  EXPECT_THAT(
      parse_interrupts("           CPU0       CPU1       \n"
                       " 24:          1          0  IO-APIC   5-edge      ACPI:Ged\n"
                       " 36:          0     129662 PCI-MSIX-0000:00:02.0   1-edge      a, b c\n"
                       " 40:          0          0  IO-APIC   9-fasteoi\n"
                       "NMI:          0          0   Non-maskable interrupts\n"
                       "ERR:          0\n"),
      ElementsAre(Interrupt{24, "IO-APIC", "ACPI:Ged"},
                  Interrupt{36, "PCI-MSIX-0000:00:02.0", "a, b c"}, Interrupt{40, "IO-APIC", ""}));
  EXPECT_THAT(parse_interrupts("  CPU0\n 11: 5 GICv3 27 Level     arch_timer\n"),
              ElementsAre(Interrupt{11, "GICv3", "arch_timer"}));
  EXPECT_THAT(parse_interrupts(""), IsEmpty());
  EXPECT_THAT(parse_interrupts("CPU0 CPU1\n7:"), ElementsAre(Interrupt{7, "", ""}));
}

TEST(CpuModel, IsTheFirstProcessors) {
  const CpuModel model = parse_cpu_model(
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
      "model name\t: AMD EPYC\ncpu cores\t: 2\n\nprocessor\t: 1\nvendor_id\t: Other\n");
  EXPECT_EQ(model.vendor, "AuthenticAMD");
  EXPECT_EQ(model.family, 25u);
  EXPECT_EQ(model.model, 17u);
  EXPECT_EQ(model.name, "AMD EPYC");
  EXPECT_EQ(model.cores, 2u);
}

TEST(BlockDevice, HasTwoNumbers) {
  EXPECT_EQ(parse_device_numbers("259:13"), (BlockDevice{259, 13, ""}));
  for (const char* text : {"", ":", "8", "8:", ":1", "8:x", "8:1:2"})
    EXPECT_FALSE(parse_device_numbers(text)) << text;
}

TEST(QemuArguments, GiveNameAndUuid) {
  const auto name = [](std::string_view value) {
    VirtualMachine machine;
    const std::string text =
        "qemu-system-x86_64\0-m\0"
        "512M\0-name\0"s +
        std::string(value) + "\0-uuid\0c7a5\0"s;
    read_qemu_arguments(text, machine);
    EXPECT_EQ(machine.uuid, "c7a5");
    return machine.name;
  };
  EXPECT_EQ(name("web"), "web");
  EXPECT_EQ(name("guest=web,debug-threads=on"), "web");
  EXPECT_EQ(name("debug-threads=on,guest=a,,b"), "a,b");
  EXPECT_EQ(name("web,process=x"), "web");
  EXPECT_EQ(name("debug-threads=on"), "");
  VirtualMachine machine;
  for (const std::string_view text :
       {std::string_view(), std::string_view("q"), std::string_view("q\0-name", 7),
        std::string_view("q\0-uuid\0", 8)})
    read_qemu_arguments(text, machine);
  EXPECT_EQ(machine.name, "");
}

Process process_named(int32_t pid, const std::string& name) {
  Process process;
  process.pid = pid;
  process.threads.push_back({.tid = pid, .name = name, .pids = {pid}});
  return process;
}

TEST(VirtualMachines, AreWhoHoldsAMachineOfKvm) {
  // No process has such numbers, so nothing of this machine comes in.
  Process kvm = process_named(2'000'000'001, "anything");
  kvm.descriptors.push_back({.number = 9, .path = "/dev/kvm"});
  kvm.descriptors.push_back({.number = 10, .path = "anon_inode:kvm-vm"});
  kvm.descriptors.push_back({.number = 11, .path = "anon_inode:kvm-vcpu:0"});
  kvm.descriptors.push_back({.number = 12, .path = "anon_inode:kvm-vcpu:1"});
  kvm.threads.push_back({.tid = 2'000'000'003, .name = "CPU 1/KVM", .pids = {}});
  kvm.threads.push_back({.tid = 2'000'000'002, .name = "CPU 0/KVM", .pids = {}});
  kvm.threads.push_back({.tid = 2'000'000'004, .name = "CPU x/KVM", .pids = {}});
  Process asks = process_named(2'000'000'005, "virt-what");
  asks.descriptors.push_back({.number = 3, .path = "/dev/kvm"});
  Process emulates = process_named(2'000'000'006, "qemu-system-x86");
  emulates.threads.push_back({.tid = 2'000'000'007, .name = "CPU 0/TCG", .pids = {}});

  const std::vector<VirtualMachine> found =
      find_machines({kvm, asks, emulates}, StateClock::MonotonicRaw);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].kvm);
  EXPECT_EQ(found[0].vcpu_count, 2u);
  EXPECT_THAT(found[0].vcpus, ElementsAre(Vcpu{0, 2'000'000'002}, Vcpu{1, 2'000'000'003}));
  EXPECT_FALSE(found[1].kvm);
  EXPECT_THAT(found[1].vcpus, ElementsAre(Vcpu{0, 2'000'000'007}));
}

}  // namespace
}  // namespace strata::kernel
