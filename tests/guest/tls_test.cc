// SPDX-License-Identifier: Apache-2.0
//
// TLS between our own ends, and against OpenSSL's own programs.
#include "guest/tls.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>

#include "guest/dial.h"
#include "listening.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace strata::guest {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct Ends {
  std::unique_ptr<Channel> host;
  std::unique_ptr<Channel> guest;
};

Ends tls_ends(const Key& host_key, const Key& guest_key) {
  signal(SIGPIPE, SIG_IGN);
  int sockets[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets), 0);
  return {*TlsContext::create(Role::Host, host_key)->wrap(FileDescriptor(sockets[0]), "guest"),
          *TlsContext::create(Role::Guest, guest_key)->wrap(FileDescriptor(sockets[1]), "host")};
}

// Sends at one end what the other receives, both without waiting.
Result<std::string> pass(Channel& from, Channel& to, std::string_view text) {
  std::string got;
  Bytes left = as_bytes(text);
  for (int i = 0; i < 100'000 && got.size() < text.size(); ++i) {
    if (!left.empty()) {
      const Result<Transfer> sent = from.send(left);
      if (!sent) return sent.error();
      left = left.subspan(sent->size);
    }
    std::array<std::byte, 4096> room;
    const Result<Transfer> received = to.receive(room);
    if (!received) return received.error();
    got += as_text(Bytes(room).first(received->size));
  }
  return got;
}

TEST(Tls, BytesArriveBothWays) {
  const Ends ends = tls_ends(kKey, kKey);
  const std::string large(300'000, 'x');
  EXPECT_EQ(*pass(*ends.host, *ends.guest, "hello"), "hello");
  EXPECT_EQ(*pass(*ends.guest, *ends.host, "hello yourself"), "hello yourself");
  EXPECT_EQ(*pass(*ends.guest, *ends.host, large), large);
}

TEST(Tls, BothEndsHaveTheSameBindingAndNoOtherConnectionHasIt) {
  const Ends ends = tls_ends(kKey, kKey);
  ASSERT_TRUE(pass(*ends.host, *ends.guest, "x") && pass(*ends.guest, *ends.host, "y"));
  EXPECT_EQ(ends.host->binding(), ends.guest->binding());
  EXPECT_EQ(ends.host->binding().size(), 4u + 32u);
  const Ends others = tls_ends(kKey, kKey);
  ASSERT_TRUE(pass(*others.host, *others.guest, "x"));
  EXPECT_NE(others.guest->binding(), ends.guest->binding());
}

TEST(Tls, WhoHasAnotherKeyDoesNotGetThrough) {
  const Ends ends = tls_ends(kOtherKey, kKey);
  const Result<std::string> passed = pass(*ends.host, *ends.guest, "secret");
  ASSERT_FALSE(passed);
  EXPECT_THAT(passed.error().text(), HasSubstr("TLS"));
}

TEST(Tls, AnEndThatIsCutOffIsNotTakenForAnEnd) {
  Ends ends = tls_ends(kKey, kKey);
  ASSERT_TRUE(pass(*ends.host, *ends.guest, "x"));
  ASSERT_TRUE(pass(*ends.guest, *ends.host, "x"));
  std::array<std::byte, 16> room;
  ends.host->end_sending();
  const Result<Transfer> end = ends.guest->receive(room);
  ASSERT_TRUE(end) << end.error().text();
  EXPECT_TRUE(end->ended);

  Ends cut = tls_ends(kKey, kKey);
  ASSERT_TRUE(pass(*cut.host, *cut.guest, "x"));
  ASSERT_TRUE(pass(*cut.guest, *cut.host, "x"));
  cut.host.reset();
  EXPECT_THAT(cut.guest->receive(room).error().text(), HasSubstr("cut off"));
}

std::string hex_of(Bytes bytes) {
  std::string hex;
  for (const std::byte byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<size_t>(byte) >> 4];
    hex += kDigits[static_cast<size_t>(byte) & 15];
  }
  return hex;
}

// What `openssl s_client` says of our listener, whose first words it is given.
std::string s_client(const Listening& guest, const std::string& arguments) {
  return test::run({"sh", "-c",
                    "echo strata-guest | timeout 20 openssl s_client -connect 127.0.0.1:" +
                        std::to_string(guest.address().port) + " " + arguments + " 2>&1"})
      .output;
}

TEST(Tls, OpensslItselfGetsInWithTheKeyByVersion13Alone) {
  if (!test::has_program("openssl")) GTEST_SKIP() << "no openssl here";
  Listening guest("tcp://127.0.0.1:0");
  const std::string psk =
      "-psk_identity strata -psk " + hex_of(kKey.derive("strata guest tls psk"));
  EXPECT_THAT(s_client(guest, psk + " -tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256"),
              ::testing::AllOf(HasSubstr("Reused, TLSv1.3"), HasSubstr("TLS_AES_128_GCM_SHA256"),
                               HasSubstr("no peer certificate available")));
  // What it said then is no greeting.
  EXPECT_TRUE(guest.logs("something else than this protocol is spoken")) << guest.lines().back();
  EXPECT_THAT(s_client(guest, psk + " -tls1_2"), HasSubstr("alert"));
}

TEST(Tls, OpensslItselfIsRefusedWithoutTheKey) {
  if (!test::has_program("openssl")) GTEST_SKIP() << "no openssl here";
  Listening guest("tcp://127.0.0.1:0");
  EXPECT_THAT(s_client(guest, ""), ::testing::AllOf(HasSubstr("alert"), Not(HasSubstr("Reused"))));
  EXPECT_THAT(s_client(guest, "-psk_identity strata -psk " + std::string(64, '5')),
              ::testing::AllOf(HasSubstr("alert"), Not(HasSubstr("Reused"))));
  EXPECT_THAT(s_client(guest, "-psk_identity other -psk " + std::string(64, '5')),
              HasSubstr("alert"));
  EXPECT_TRUE(guest.logs("turned away: TLS:", 3)) << guest.lines().size();
}

// A server that has a certificate, which counts for nothing, and does not know the key.
TEST(Tls, AServerWithACertificateButWithoutTheKeyIsNotBelieved) {
  if (!test::has_program("openssl")) GTEST_SKIP() << "no openssl here";
  const test::TemporaryFolder folder;
  ASSERT_EQ(test::run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                       "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x", "-keyout",
                       folder.file("key.pem"), "-out", folder.file("cert.pem")})
                .status,
            0);
  // It says where it listens, and ends with its first caller or its standard input.
  const std::string input = folder.file("input");
  ASSERT_EQ(mkfifo(input.c_str(), 0600), 0);
  const std::unique_ptr<FILE, int (*)(FILE*)> server(
      popen(("exec timeout 20 openssl s_server -naccept 1 -accept 127.0.0.1:0 -key " +
             folder.file("key.pem") + " -cert " + folder.file("cert.pem") + " 0<>" + input +
             " 2>/dev/null")
                .c_str(),
            "r"),
      pclose);
  ASSERT_TRUE(server);
  uint32_t port = 0;
  char line[256];
  while (port == 0 && fgets(line, sizeof line, server.get()) != nullptr)
    sscanf(line, "ACCEPT 127.0.0.1:%u", &port);
  ASSERT_NE(port, 0u);
  const Result<Dialed> dialed =
      dial({.transport = Transport::Tcp, .host = "127.0.0.1", .port = port}, kKey, within(10s));
  ASSERT_FALSE(dialed);
  EXPECT_THAT(dialed.error().text(), HasSubstr("TLS: certificate verify failed"));
}

}  // namespace
}  // namespace strata::guest
