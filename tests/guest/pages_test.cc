// SPDX-License-Identifier: Apache-2.0
#include "guest/pages.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zstd.h>

#include <csignal>
#include <functional>
#include <random>
#include <thread>

#include "guest/sockets.h"
#include "guest/tls.h"
#include "listening.h"
#include "support/temporary_folder.h"

namespace strata::guest {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Ends {
  std::unique_ptr<Channel> host;
  std::unique_ptr<Channel> guest;
};

Ends unix_ends() {
  auto pair = *channel_pair();
  return {std::move(pair.first), std::move(pair.second)};
}

Ends pipe_ends() {
  Pipe to_host = *Pipe::create();
  Pipe to_guest = *Pipe::create();
  return {std::make_unique<PlainChannel>(std::move(to_host.out), std::move(to_guest.in), "", ""),
          std::make_unique<PlainChannel>(std::move(to_guest.out), std::move(to_host.in), "", "")};
}

Ends tls_ends() {
  signal(SIGPIPE, SIG_IGN);  // an end says goodbye to another that is gone
  int sockets[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets), 0);
  return {*TlsContext::create(Role::Host, kKey)->wrap(FileDescriptor(sockets[0]), "guest"),
          *TlsContext::create(Role::Guest, kKey)->wrap(FileDescriptor(sockets[1]), "host")};
}

Ends tcp_ends() {
  const Address any{.transport = Transport::Tcp, .host = "127.0.0.1", .port = 0};
  const FileDescriptor listener = *listen_at(any);
  FileDescriptor host = *connect_to(listened_at(listener.get(), any), within(20s));
  pollfd file{listener.get(), POLLIN, 0};
  EXPECT_TRUE(wait_for({&file, 1}, within(20s)));
  FileDescriptor guest(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return {std::make_unique<PlainChannel>(std::move(host), "", ""),
          std::make_unique<PlainChannel>(std::move(guest), "", "")};
}

// Pages that compress, though not to nothing, and of which no two are alike.
std::string pages_of(size_t count) {
  std::mt19937 random(7);
  std::string pages;
  for (size_t i = 0; i < count; ++i) {
    std::string page(4096, static_cast<char>('a' + i % 23));
    for (int j = 0; j < 500; ++j) page[random() % 4096] = static_cast<char>(random());
    pages += page;
  }
  return pages;
}

// A ring as far as splice() is concerned: what is written to it can be taken without waiting.
struct Source {
  Pipe pipe = *Pipe::create();
  std::jthread writer;

  explicit Source(std::string pages) {
    signal(SIGPIPE, SIG_IGN);
    fcntl(pipe.in.get(), F_SETFL, 0);
    writer = std::jthread([this, pages = std::move(pages)] {
      for (size_t at = 0; at < pages.size();) {
        const ssize_t size = write(pipe.in.get(), pages.data() + at, pages.size() - at);
        if (size <= 0) return;
        at += static_cast<size_t>(size);
      }
    });
  }
  ~Source() { pipe.out.reset(); }  // the writer has nobody to write to then
};

// All of it, the guest's end and the host's in turns. What the host had written.
std::string move_all(Ends ends, LinkCompression compression, const std::string& pages,
                     std::function<void(PageSender&)> at_end = {}) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("pages");
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  Source source(pages);
  PageSender sender = *PageSender::create(*ends.guest, compression);
  PageReceiver receiver = *PageReceiver::create(*ends.host, compression);
  const Deadline deadline = within(60s);
  bool has_ended = false;
  uint64_t received = 0;
  while (std::chrono::steady_clock::now() < deadline) {
    Result<Pause> sent = Pause::Source;
    if (sender.taken() < pages.size())
      sent = sender.move(source.pipe.out.get(), SIZE_MAX / 2);
    else if (at_end && !std::exchange(has_ended, true))
      at_end(sender);
    else
      sent = sender.send_rest();
    EXPECT_TRUE(sent) << sent.error().text();
    const Result<Pause> got = receiver.move(file.get(), path, SIZE_MAX / 2);
    EXPECT_TRUE(got) << got.error().text();
    if (!sent || !got) break;
    EXPECT_EQ(*got, Pause::Source);
    received = receiver.received();
    if ((has_ended || !at_end) && sender.taken() >= pages.size() && received == sender.taken())
      break;
  }
  EXPECT_EQ(received, sender.taken());
  return test::read_whole_file(path);
}

TEST(Pages, ArriveOverEveryKindOfChannel) {
  const std::string pages = pages_of(1000);
  for (const auto& [name, make] : {std::pair("unix", &unix_ends), std::pair("pipe", &pipe_ends),
                                   std::pair("tcp", &tcp_ends), std::pair("tls", &tls_ends)}) {
    EXPECT_TRUE(move_all(make(), LinkCompression::None, pages) == pages) << name;
    EXPECT_TRUE(move_all(make(), LinkCompression::Zstd, pages) == pages) << name << " compressed";
  }
}

TEST(Pages, ThoseThatAreAppendedComeLast) {
  const std::string pages = pages_of(700);
  const std::string last = "the page that was not full";
  for (const LinkCompression compression : {LinkCompression::None, LinkCompression::Zstd}) {
    for (const auto& make : {&unix_ends, &pipe_ends, &tls_ends}) {
      const std::string all = move_all(make(), compression, pages, [&](PageSender& sender) {
        EXPECT_TRUE(sender.append(as_bytes(last)));
      });
      EXPECT_TRUE(all == pages + last);
    }
  }
}

TEST(Pages, WhereTheHostDoesNotReadLittleIsTakenFromTheRing) {
  for (const auto& make : {&unix_ends, &pipe_ends, &tls_ends}) {
    const Ends ends = make();
    Source source(pages_of(8000));
    // TLS is first made by both ends.
    PageSender sender = *PageSender::create(*ends.guest, LinkCompression::None);
    PageReceiver receiver = *PageReceiver::create(*ends.host, LinkCompression::None);
    const FileDescriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
    while (receiver.received() == 0) {
      ASSERT_TRUE(sender.move(source.pipe.out.get(), 4096));
      ASSERT_TRUE(receiver.move(nowhere.get(), "", 4096));
    }
    Result<Pause> pause = Pause::Source;
    for (int i = 0; i < 1000; ++i) {
      pause = sender.move(source.pipe.out.get(), SIZE_MAX / 2);
      ASSERT_TRUE(pause);
      if (*pause == Pause::Source) std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(*pause, Pause::Channel);
    EXPECT_LE(sender.taken() - sender.sent(), 1u << 20);
    EXPECT_LT(sender.taken(), 8000u * 4096);
  }
}

TEST(Pages, NoMoreGoesToAFileThanWasAskedFor) {
  for (const LinkCompression compression : {LinkCompression::None, LinkCompression::Zstd}) {
    for (const auto& make : {&unix_ends, &pipe_ends, &tls_ends}) {
      const Ends ends = make();
      const test::TemporaryFolder folder;
      const std::string path = folder.file("pages");
      const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      PageSender sender = *PageSender::create(*ends.guest, compression);
      PageReceiver receiver = *PageReceiver::create(*ends.host, compression);
      const std::string pages = pages_of(10);
      ASSERT_TRUE(sender.append(as_bytes(pages)));
      Result<Pause> pause = Pause::Source;
      for (int i = 0; i < 1000 && pause && *pause == Pause::Source; ++i) {
        ASSERT_TRUE(sender.send_rest());
        pause = receiver.move(file.get(), path, 5000 - receiver.received());
      }
      ASSERT_TRUE(pause) << pause.error().text();
      EXPECT_EQ(*pause, Pause::Enough);
      EXPECT_EQ(test::read_whole_file(path), pages.substr(0, 5000));
    }
  }
}

TEST(Pages, BytesThatCameWithTheGreetingAreTheFirst) {
  for (const LinkCompression compression : {LinkCompression::None, LinkCompression::Zstd}) {
    const Ends ends = unix_ends();
    const test::TemporaryFolder folder;
    const std::string path = folder.file("pages");
    const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    PageSender sender = *PageSender::create(*ends.guest, compression);
    ASSERT_TRUE(sender.append(as_bytes("first second third")));
    std::array<std::byte, 7> first;
    ASSERT_EQ(ends.host->receive(first)->size, first.size());
    PageReceiver receiver = *PageReceiver::create(*ends.host, compression, first);
    ASSERT_TRUE(receiver.move(file.get(), path, 1000));
    EXPECT_EQ(test::read_whole_file(path), "first second third");
  }
}

// A guest that dies after it has sent something: TLS tells its end apart from an attacker's.
TEST(Pages, WhatCameBeforeAConnectionWasCutOffIsKept) {
  for (const LinkCompression compression : {LinkCompression::None, LinkCompression::Zstd}) {
    Ends ends = tls_ends();
    const test::TemporaryFolder folder;
    const std::string path = folder.file("pages");
    const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const std::string pages = pages_of(5);
    PageSender sender = *PageSender::create(*ends.guest, compression);
    PageReceiver receiver = *PageReceiver::create(*ends.host, compression);
    ASSERT_TRUE(sender.append(as_bytes(pages)));
    while (*sender.send_rest() == Pause::Channel) ASSERT_TRUE(receiver.move(file.get(), path, 1));
    ends.guest.reset();
    Result<Pause> pause = Pause::Source;
    for (int i = 0; i < 100 && pause; ++i) pause = receiver.move(file.get(), path, 1 << 20);
    ASSERT_FALSE(pause);
    EXPECT_THAT(pause.error().text(), HasSubstr("cut off"));
    EXPECT_TRUE(test::read_whole_file(path) == pages);
  }
}

TEST(Pages, AStreamThatIsNoneOfZstdIsAnError) {
  const Ends ends = unix_ends();
  ASSERT_TRUE(ends.guest->send(as_bytes("this is nothing that was compressed")));
  PageReceiver receiver = *PageReceiver::create(*ends.host, LinkCompression::Zstd);
  const Result<Pause> pause = receiver.move(STDERR_FILENO, "", 1000);
  ASSERT_FALSE(pause);
  EXPECT_THAT(pause.error().text(), HasSubstr("cannot decompress pages"));
}

TEST(Pages, AStreamThatWantsMuchMemoryIsAnError) {
  const Ends ends = unix_ends();
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(zstd.get(), ZSTD_c_windowLog, 27);
  const std::string text = "x";
  std::string packed(1000, '\0');
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  ASSERT_FALSE(ZSTD_isError(ZSTD_compressStream2(zstd.get(), &out, &in, ZSTD_e_flush)));
  ASSERT_TRUE(ends.guest->send(as_bytes(packed).first(out.pos)));
  PageReceiver receiver = *PageReceiver::create(*ends.host, LinkCompression::Zstd);
  const Result<Pause> pause = receiver.move(STDERR_FILENO, "", 1000);
  ASSERT_FALSE(pause);
  EXPECT_THAT(pause.error().text(), HasSubstr("memory"));
}

TEST(Pages, AFileThatTakesNothingIsNamed) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const FileDescriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  for (const auto& make : {&unix_ends, &tls_ends}) {
    const Ends ends = make();
    PageSender sender = *PageSender::create(*ends.guest, LinkCompression::None);
    PageReceiver receiver = *PageReceiver::create(*ends.host, LinkCompression::None);
    ASSERT_TRUE(sender.append(as_bytes(pages_of(1))));
    Result<Pause> pause = Pause::Source;
    for (int i = 0; i < 1000 && pause; ++i) {
      ASSERT_TRUE(sender.send_rest());
      pause = receiver.move(full.get(), "guest-web1.dat.cpu0", 4096);
    }
    ASSERT_FALSE(pause);
    EXPECT_THAT(pause.error().text(), HasSubstr("guest-web1.dat.cpu0: cannot write"));
  }
}

}  // namespace
}  // namespace strata::guest
