// SPDX-License-Identifier: Apache-2.0
//
// What the kernel answers, beside what it prints into /proc/net/dev.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <fstream>
#include <sstream>

#include "live/interface_counters.h"

namespace strata::live {
namespace {

using period::Column;

// Bytes received, by name.
std::map<std::string, uint64_t> printed() {
  std::map<std::string, uint64_t> received;
  std::ifstream file("/proc/net/dev");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.rfind(':');
    if (colon == std::string::npos) continue;
    std::istringstream(line.substr(colon + 1)) >>
        received[line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '))];
  }
  return received;
}

void send_to_myself(size_t datagrams) {
  const FileDescriptor sender(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string text(1000, 'x');
  for (size_t i = 0; i < datagrams; ++i)
    sendto(sender.get(), text.data(), text.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
}

TEST(InterfaceCounters, AreThoseThatTheKernelPrints) {
  InterfaceCounters counters;
  period::Machine nobody, machine;
  const auto before = printed();
  counters.tell(nobody);
  const auto begun = printed();
  send_to_myself(1000);
  const auto ended = printed();
  counters.tell(machine);
  const auto after = printed();

  EXPECT_EQ(machine.interfaces.size(), after.size());
  for (const period::InterfaceRow& row : machine.interfaces) {
    ASSERT_TRUE(before.contains(row.name) && after.contains(row.name)) << row.name;
    const uint64_t bytes = row.values[Column::ReadBytes];
    EXPECT_GE(bytes, ended.at(row.name) - begun.at(row.name)) << row.name;
    EXPECT_LE(bytes, after.at(row.name) - before.at(row.name)) << row.name;
    if (row.name != "lo") continue;
    EXPECT_GE(bytes, 1000u * 1000);
    EXPECT_GE(row.values[Column::PacketsOut], 1000u);
  }
}

}  // namespace
}  // namespace strata::live
