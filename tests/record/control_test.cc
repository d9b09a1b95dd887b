// SPDX-License-Identifier: Apache-2.0
#include "record/control.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <thread>

#include "support/temporary_folder.h"

namespace strata::record {
namespace {

using Json = ControlSocket::Json;

Json echo(const Json& question) {
  if (question.contains("fail")) return {{"error", question["fail"]}};
  return {{"heard", question}};
}

// A session that is heard from another thread.
class Listening {
 public:
  Listening() : socket_(*ControlSocket::listen(path())) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) socket_.serve(echo);
    });
  }
  std::string path() const { return folder_.path() + "/s.control"; }

 private:
  test::TemporaryFolder folder_;
  ControlSocket socket_;
  std::jthread thread_;
};

TEST(Control, AnswersOneQuestionAfterTheOther) {
  const Listening session;
  Result<ControlConnection> connection = ControlConnection::open(session.path());
  ASSERT_TRUE(connection) << connection.error().text();
  for (int i = 0; i < 3; ++i) {
    const Result<Json> answer = connection->ask({{"do", "count"}, {"i", i}});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ((*answer)["heard"]["i"], i);
  }
}

TEST(Control, ARefusalIsAnError) {
  const Listening session;
  Result<ControlConnection> connection = ControlConnection::open(session.path());
  ASSERT_TRUE(connection);
  const Result<Json> answer = connection->ask({{"fail", "not today"}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause, "not today");
}

TEST(Control, GarbageIsRefusedAndHarmsNobody) {
  const Listening session;
  for (const std::string& garbage : {std::string("{"), std::string("[1]"), std::string(1000, '['),
                                     std::string(300 << 10, 'x')}) {
    const FileDescriptor raw(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    session.path().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(connect(raw.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    (void)!send(raw.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
  }
  Result<ControlConnection> connection = ControlConnection::open(session.path());
  ASSERT_TRUE(connection);
  EXPECT_TRUE(connection->ask({{"do", "x"}}));
}

TEST(Control, TheSocketIsForItsOwnerAloneAndGoesWithTheSession) {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/s.control";
  struct stat found {};
  {
    const Result<ControlSocket> socket = ControlSocket::listen(path);
    ASSERT_TRUE(socket);
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
  }
  EXPECT_NE(stat(path.c_str(), &found), 0);
}

TEST(Control, ASessionThatEndsMeanwhileIsAnErrorForWhoAsks) {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/s.control";
  std::optional<ControlSocket> socket(*ControlSocket::listen(path));
  Result<ControlConnection> connection = ControlConnection::open(path);
  ASSERT_TRUE(connection);
  socket.reset();
  EXPECT_FALSE(connection->ask({{"do", "x"}}));
}

}  // namespace
}  // namespace strata::record
