// SPDX-License-Identifier: Apache-2.0
#include "guest/listener.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/vm_sockets.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/dial.h"
#include "guest/sockets.h"
#include "listening.h"
#include "support/temporary_folder.h"
#include "wire_bytes.h"

namespace strata::guest {
namespace {

using namespace std::chrono_literals;
using test::WireBytes;
using ::testing::HasSubstr;

const Token kToken{std::byte{5}, std::byte{6}};

Listener::Options awaiting() {
  return {.awaits = [](const Attach& attach) {
    return equal_secrets(attach.token, kToken) && attach.stream < 2;
  }};
}

// Both ways, after the proof.
void expect_conversation(Dialed& host, Arrival& guest) {
  EXPECT_EQ(host.version, guest.version);
  ASSERT_TRUE(guest.connection.send(Problem{"from the guest"}));
  const Result<Message> to_host = host.connection.receive(within(20s));
  ASSERT_TRUE(to_host) << to_host.error().text();
  EXPECT_EQ(decode<Problem>(*to_host)->what, "from the guest");
  ASSERT_TRUE(host.connection.send(Stop{}, 77));
  const Result<Message> to_guest = guest.connection.receive(within(20s));
  ASSERT_TRUE(to_guest) << to_guest.error().text();
  EXPECT_EQ(to_guest->kind, Kind::Stop);
  EXPECT_EQ(to_guest->recording, 77u);
}

// A socket to it, as somebody has who does not play by the rules.
FileDescriptor connected(const Listening& guest) {
  Result<FileDescriptor> socket = connect_to(guest.address(), within(20s));
  EXPECT_TRUE(socket) << socket.error().text();
  return *std::move(socket);
}
void say(const FileDescriptor& socket, const WireBytes& bytes) {
  (void)!write(socket.get(), bytes.bytes().data(), bytes.bytes().size());
}

TEST(Listener, WhoHasTheKeyArrivesOverATcpSocketAndAUnixSocket) {
  const test::TemporaryFolder folder;
  for (const std::string& address :
       {std::string("tcp://127.0.0.1:0"), "unix://" + folder.file("socket")}) {
    Listening guest(address);
    Result<Dialed> host = dial(guest.address(), kKey, within(20s));
    ASSERT_TRUE(host) << host.error().text();
    std::optional<Arrival> arrival = guest.arrival();
    ASSERT_TRUE(arrival);
    EXPECT_FALSE(arrival->attach);
    expect_conversation(*host, *arrival);
  }
}

TEST(Listener, SeveralHostsAreServedAtOnce) {
  Listening guest("tcp://127.0.0.1:0");
  Result<Dialed> first = dial(guest.address(), kKey, within(20s));
  Result<Dialed> second = dial(guest.address(), kKey, within(20s));
  ASSERT_TRUE(first && second);
  std::optional<Arrival> one = guest.arrival();
  std::optional<Arrival> two = guest.arrival();
  ASSERT_TRUE(one && two);
  expect_conversation(*second, *two);
  expect_conversation(*first, *one);
}

TEST(Listener, APeerOfANewerVersionIsSpokenWithInTheOlderOne) {
  Listening guest("tcp://127.0.0.1:0", {.versions = {1, 2}});
  const Result<Dialed> older = dial(guest.address(), kKey, within(20s), {1, 1});
  ASSERT_TRUE(older) << older.error().text();
  EXPECT_EQ(older->version, 1);
  const Result<Dialed> newer = dial(guest.address(), kKey, within(20s), {1, 3});
  ASSERT_TRUE(newer) << newer.error().text();
  EXPECT_EQ(newer->version, 2);
  const Result<Dialed> foreign = dial(guest.address(), kKey, within(20s), {7, 9});
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().text(),
              HasSubstr("the host speaks versions 7 to 9 of the protocol, the guest 1 to 2"));
}

TEST(Listener, AWrongKeyIsTurnedAwayAndLogged) {
  const test::TemporaryFolder folder;
  Listening plain("unix://" + folder.file("socket"));
  const Result<Dialed> refused = dial(plain.address(), kOtherKey, within(20s));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              HasSubstr("the guest refuses: the host's proof of the key is wrong"));
  EXPECT_TRUE(plain.logs("turned away: the host's proof of the key is wrong"));

  Listening tls("tcp://127.0.0.1:0");
  EXPECT_FALSE(dial(tls.address(), kOtherKey, within(20s)));
  EXPECT_TRUE(tls.logs("127.0.0.1:"));
  EXPECT_TRUE(tls.logs("turned away: TLS:"));
}

// What a real host said, said again by somebody who listened.
TEST(Listener, AReplayIsTurnedAway) {
  const test::TemporaryFolder folder;
  Listening guest("unix://" + folder.file("socket"));
  Handshake host(Role::Host, kKey);
  const std::vector<std::byte> hello = host.begin();
  std::vector<std::byte> proof;
  const auto hear_hello = [&](Connection& connection) {
    const Result<Message> answer = connection.receive(within(20s));
    EXPECT_TRUE(answer) << answer.error().text();
    return answer ? host.receive(*answer, kUnixBinding) : Error{};
  };
  {
    Connection first(*open_channel(guest.address(), kKey, within(20s)), Role::Host);
    ASSERT_TRUE(first.send_bytes(hello));
    const Result<std::vector<std::byte>> said = hear_hello(first);
    ASSERT_TRUE(said);
    proof = *said;
    ASSERT_TRUE(first.send_bytes(proof));
    ASSERT_TRUE(guest.arrival());
  }
  Connection again(*open_channel(guest.address(), kKey, within(20s)), Role::Host);
  ASSERT_TRUE(again.send_bytes(hello));
  ASSERT_TRUE(again.receive(within(20s)));
  ASSERT_TRUE(again.send_bytes(proof));
  EXPECT_TRUE(guest.logs("turned away: the host's proof of the key is wrong"));
}

TEST(Listener, GarbageAndWhatIsTooLongIsTurnedAwayAndTheNextIsHeard) {
  const test::TemporaryFolder folder;
  Listening guest("unix://" + folder.file("socket"));
  const FileDescriptor http = connected(guest);
  say(http, WireBytes().raw("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_TRUE(guest.logs("turned away: something else than this protocol is spoken"));
  const FileDescriptor large = connected(guest);
  say(large, WireBytes().preamble().head(UINT32_MAX, 1));
  EXPECT_TRUE(guest.logs("a message Hello (1) of 4294967295 bytes"));
  const FileDescriptor early = connected(guest);
  say(early, WireBytes().preamble().head(2, 7).raw("{}"));
  EXPECT_TRUE(guest.logs("a message Record (7) before the key was proved"));
  const FileDescriptor wrong = connected(guest);
  say(wrong, WireBytes().preamble().head(69, 1).fill(69, '\xff'));
  EXPECT_TRUE(guest.logs("turned away: Hello has"));
  // Whatever it was, they are not spoken with any more.
  for (const FileDescriptor* socket : {&http, &large, &early, &wrong}) {
    pollfd file{socket->get(), POLLIN, 0};
    while (wait_for({&file, 1}, within(20s))) {
      char room[4096];
      if (read(socket->get(), room, sizeof room) <= 0) break;
    }
    EXPECT_NE(file.revents & (POLLHUP | POLLERR), 0);
  }
  Result<Dialed> host = dial(guest.address(), kKey, within(20s));
  ASSERT_TRUE(host) << host.error().text();
  std::optional<Arrival> arrival = guest.arrival();
  ASSERT_TRUE(arrival);
  expect_conversation(*host, *arrival);
}

TEST(Listener, WhoStallsIsDroppedAfterAWhile) {
  const test::TemporaryFolder folder;
  for (const std::string& address :
       {std::string("tcp://127.0.0.1:0"), "unix://" + folder.file("socket")}) {
    Listening guest(address, {.patience = 300ms});
    const FileDescriptor silent = connected(guest);
    const FileDescriptor slow = connected(guest);
    say(slow, WireBytes().raw("stra"));
    EXPECT_TRUE(guest.logs("turned away: has not proved the key in time", 2)) << address;
  }
}

TEST(Listener, AThousandCallersDoNotKeepOneOutWhoHasTheKey) {
  const test::TemporaryFolder folder;
  for (const std::string& address :
       {std::string("tcp://127.0.0.1:0"), "unix://" + folder.file("socket")}) {
    Listening guest(address, {.most_unproved = 32});
    std::vector<FileDescriptor> callers;
    for (int i = 0; i < 1000; ++i) {
      // Where the kernel's own queue is full of them the listener has to come to it first.
      Result<FileDescriptor> socket = connect_to(guest.address(), within(20s));
      for (int again = 0; !socket && again < 2000; ++again) {
        std::this_thread::sleep_for(5ms);
        socket = connect_to(guest.address(), within(20s));
      }
      ASSERT_TRUE(socket) << socket.error().text();
      // The beginning of a greeting, or of what TLS begins with.
      say(*socket,
          WireBytes().raw(guest.address().transport == Transport::Tcp ? "\x16\x03" : "stra"));
      callers.push_back(*std::move(socket));
    }
    EXPECT_TRUE(guest.logs("turned away: others came before it had proved anything", 1000 - 32));
    Result<Dialed> host = dial(guest.address(), kKey, within(20s));
    ASSERT_TRUE(host) << host.error().text();
    std::optional<Arrival> arrival = guest.arrival();
    ASSERT_TRUE(arrival);
    expect_conversation(*host, *arrival);
  }
}

TEST(Listener, WhoKnowsTheTokenGetsTheStreamAndNobodyElse) {
  const test::TemporaryFolder folder;
  for (const std::string& address :
       {std::string("tcp://127.0.0.1:0"), "unix://" + folder.file("socket")}) {
    Listening guest(address, awaiting());
    const Result<DataChannel> data = attach(guest.address(), kKey, {kToken, 1}, within(20s));
    ASSERT_TRUE(data) << data.error().text();
    std::optional<Arrival> arrival = guest.arrival();
    ASSERT_TRUE(arrival && arrival->attach);
    EXPECT_EQ(arrival->attach->stream, 1u);
    EXPECT_TRUE(data->received.empty());

    for (const Attach& wrong : {Attach{kToken, 2}, Attach{Token{}, 1}}) {
      const Result<DataChannel> none = attach(guest.address(), kKey, wrong, within(20s));
      ASSERT_FALSE(none);
      EXPECT_THAT(none.error().text(), HasSubstr("refuses: no recording awaits this stream"));
    }
    EXPECT_TRUE(guest.logs("asks for a stream of a recording that there is not", 2));
  }
}

TEST(Listener, OnVsockOnlyTheHostItselfIsLetIn) {
  const auto from = [](uint32_t cid) {
    sockaddr_vm vm{};
    vm.svm_family = AF_VSOCK;
    vm.svm_cid = cid;
    sockaddr_storage storage{};
    std::memcpy(&storage, &vm, sizeof vm);
    return storage;
  };
  EXPECT_TRUE(is_host(from(VMADDR_CID_HOST)));
  EXPECT_FALSE(is_host(from(VMADDR_CID_LOCAL)));  // the guest's own users
  EXPECT_FALSE(is_host(from(VMADDR_CID_HYPERVISOR)));
  EXPECT_FALSE(is_host(from(3)));  // another guest
  EXPECT_FALSE(is_host(from(VMADDR_CID_ANY)));
  EXPECT_FALSE(is_host(sockaddr_storage{}));
}

// A port of virtio-serial as both ends see it: bytes pass, and there is no beginning and no end.
// Two FIFOs that are always open do the same.
class Port {
 public:
  Port(const test::TemporaryFolder& folder, const std::string& name)
      : host_(folder.file("host-" + name)), guest_(folder.file("guest-" + name)) {
    for (const auto& [own, others] : {std::pair(".in", ".out"), std::pair(".out", ".in")}) {
      EXPECT_EQ(mkfifo((host_ + own).c_str(), 0600), 0);
      EXPECT_EQ(symlink((host_ + own).c_str(), (guest_ + others).c_str()), 0);
      held_.emplace_back(open((host_ + own).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    }
  }
  std::string guest_address() const { return "virtio://" + guest_; }
  Address host_address() const { return *parse_address("virtio://" + host_); }
  // What somebody else has left in it, on the way to the guest or to the host.
  void leave_for_guest(const WireBytes& bytes) const { say(held_[0], bytes); }
  void leave_for_host(const WireBytes& bytes) const { say(held_[1], bytes); }

 private:
  std::string host_;
  std::string guest_;
  std::vector<FileDescriptor> held_;
};

TEST(Listener, OnAPortOneConversationFollowsAnother) {
  const test::TemporaryFolder folder;
  const Port port(folder, "ctl");
  Listening guest(port.guest_address());
  for (int i = 0; i < 3; ++i) {
    Result<Dialed> host = dial(port.host_address(), kKey, within(20s));
    ASSERT_TRUE(host) << host.error().text();
    std::optional<Arrival> arrival = guest.arrival();
    ASSERT_TRUE(arrival);
    expect_conversation(*host, *arrival);
  }
}

TEST(Listener, OnAPortWhatOthersHaveLeftIsPassedOver) {
  const test::TemporaryFolder folder;
  const Port port(folder, "ctl");
  port.leave_for_guest(WireBytes().fill(5000, 'x').preamble().head(69, 1).fill(20, 'y'));
  port.leave_for_host(WireBytes().fill(9000, 'z').preamble().head(33, 2).raw("an older answer"));
  Listening guest(port.guest_address());
  Result<Dialed> host = dial(port.host_address(), kKey, within(20s));
  ASSERT_TRUE(host) << host.error().text();
  std::optional<Arrival> arrival = guest.arrival();
  ASSERT_TRUE(arrival);
  expect_conversation(*host, *arrival);
}

TEST(Listener, OnAPortAGuestThatComesLateFindsSeveralGreetingsOfOneHost) {
  const test::TemporaryFolder folder;
  const Port port(folder, "ctl");
  std::optional<Result<Dialed>> host;
  std::jthread caller([&] { host.emplace(dial(port.host_address(), kKey, within(30s))); });
  std::this_thread::sleep_for(1500ms);  // there are two by now
  Listening guest(port.guest_address());
  caller.join();
  ASSERT_TRUE(host && *host) << (*host).error().text();
  std::optional<Arrival> arrival = guest.arrival();
  ASSERT_TRUE(arrival);
  expect_conversation(**host, *arrival);
  EXPECT_THAT(guest.lines(), ::testing::IsEmpty());
}

TEST(Listener, OnAPortAWrongKeyIsToldAtOnce) {
  const test::TemporaryFolder folder;
  const Port port(folder, "ctl");
  Listening guest(port.guest_address());
  const auto before = std::chrono::steady_clock::now();
  const Result<Dialed> refused = dial(port.host_address(), kOtherKey, within(60s));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("the host's proof of the key is wrong"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, 20s);
  EXPECT_TRUE(dial(port.host_address(), kKey, within(20s)));
}

TEST(Listener, AStreamHasAPortOfItsOwnBesideThatForControl) {
  const test::TemporaryFolder folder;
  const Port ctl(folder, "ctl");
  const Port clock(folder, "clock");
  const Port cpu0(folder, "cpu0");
  const Port cpu1(folder, "cpu1");
  Listening guest(ctl.guest_address(), {.awaits = [](const Attach& attach) {
                    return equal_secrets(attach.token, kToken);
                  }});
  cpu1.leave_for_host(WireBytes().fill(5000, 'p'));  // pages of a recording whose host was killed
  for (const uint32_t stream : {1u, 0u, kClockStream}) {
    const Result<DataChannel> data =
        attach(ctl.host_address(), kKey, {kToken, stream}, within(20s));
    ASSERT_TRUE(data) << data.error().text();
    std::optional<Arrival> arrival = guest.arrival();
    ASSERT_TRUE(arrival && arrival->attach);
    EXPECT_EQ(arrival->attach->stream, stream);
  }
  const Result<DataChannel> none = attach(ctl.host_address(), kKey, {kToken, 7}, within(20s));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("cpu7"));
}

TEST(Listener, AFileThatIsNoSocketIsNotReplacedByOne) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("precious", "data");
  const auto listener = *Listener::create(kKey, {});
  EXPECT_FALSE(listener->listen(*parse_address("unix://" + path)));
  EXPECT_EQ(test::read_whole_file(path), "data");
}

}  // namespace
}  // namespace strata::guest
