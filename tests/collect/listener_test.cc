// SPDX-License-Identifier: Apache-2.0
#include "collect/listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "collect/descriptor_message.h"
#include "support/temporary_folder.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;

// A program that has connected, and not said anything yet.
FileDescriptor connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  FileDescriptor program(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(program.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return program;
}

void greet(const FileDescriptor& program, uint32_t version = abi::kVersion) {
  const abi::Hello hello{abi::kMagic, version, 0};
  EXPECT_TRUE(collect::send_message(program.get(), std::as_bytes(std::span(&hello, 1))));
}

TEST(Listener, WhoSpeaksLateIsServedAndKeepsNobodyWaiting) {
  const TemporaryFolder folder;
  Result<collect::Listener> listener = collect::Listener::open(folder.file("socket"));
  ASSERT_TRUE(listener) << listener.error().text();
  const FileDescriptor late = connect_to(folder.file("socket"));
  EXPECT_FALSE(listener->next());
  const FileDescriptor prompt = connect_to(folder.file("socket"));
  greet(prompt);
  const std::optional<collect::Asking> first = listener->next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->pid, getpid());
  EXPECT_FALSE(listener->next());
  greet(late);
  EXPECT_TRUE(listener->next());
}

TEST(Listener, OfManyThatSayNothingTheOldestGo) {
  const TemporaryFolder folder;
  Result<collect::Listener> listener = collect::Listener::open(folder.file("socket"));
  ASSERT_TRUE(listener) << listener.error().text();
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(connect_to(folder.file("socket")));
    EXPECT_FALSE(listener->next());
  }
  greet(silent.back());
  EXPECT_TRUE(listener->next());
  const abi::Hello hello{abi::kMagic, abi::kVersion, 0};
  EXPECT_FALSE(collect::send_message(silent.front().get(), std::as_bytes(std::span(&hello, 1))));
}

TEST(Listener, WhoSpeaksOtherwiseIsNotServed) {
  const TemporaryFolder folder;
  Result<collect::Listener> listener = collect::Listener::open(folder.file("socket"));
  ASSERT_TRUE(listener) << listener.error().text();
  const FileDescriptor old = connect_to(folder.file("socket"));
  greet(old, abi::kVersion - 1);
  EXPECT_FALSE(listener->next());
}

}  // namespace
}  // namespace strata::test
