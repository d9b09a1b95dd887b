// SPDX-License-Identifier: Apache-2.0
//
// Moves pages from a file, over and over, through a channel between two processes.
//
//     move CHANNEL WAY BYTES FILE [NAMESPACE ADDRESS]
//
// CHANNEL is fifo, unix or tls. WAY is ours, compressed, memory (ours, of pages that are in
// memory), or bare: the least that could do it, which is a loop of splice, or SSL_write of pages in
// memory. NAMESPACE is a network namespace for the receiver, who connects to ADDRESS. Says how many
// seconds it took, and how much CPU time of the sender and of the receiver.

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "guest/pages.h"
#include "guest/sockets.h"
#include "guest/tls.h"

namespace strata::bench {
namespace {

using namespace guest;
using std::chrono::steady_clock;

constexpr size_t kBatch = 256 << 10;
constexpr int kPipeSize = 1 << 20;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

const Key& key() {
  static const Key key({std::byte{7}});
  return key;
}

// The two ends, each of which its process keeps.
struct Ends {
  FileDescriptor sender;
  FileDescriptor receiver;  // none: by connecting
  FileDescriptor listener;
  Address address;
};

Ends make_ends(const std::string& kind, const std::string& address) {
  Ends ends;
  int files[2];
  if (kind == "fifo") {
    if (pipe2(files, O_CLOEXEC) != 0) fail("pipe");
    fcntl(files[1], F_SETPIPE_SZ, kPipeSize);
    ends.receiver = FileDescriptor(files[0]);
    ends.sender = FileDescriptor(files[1]);
  } else if (kind == "unix") {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, files) != 0) fail("socketpair");
    ends.receiver = FileDescriptor(files[0]);
    ends.sender = FileDescriptor(files[1]);
  } else {
    ends.address = {.transport = Transport::Tcp, .host = address, .port = 0};
    ends.listener = must(listen_at(ends.address));
    ends.address = listened_at(ends.listener.get(), ends.address);
  }
  return ends;
}

void set_blocking(int file) { fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK); }

// A bare connection by TLS 1.3, with the same suite and the same kind of key.

int psk(SSL* ssl, SSL_SESSION** session) {
  static constexpr unsigned char kSuite[] = {0x13, 0x01};
  static constexpr unsigned char kSecret[32] = {1, 2, 3};
  *session = SSL_SESSION_new();
  return SSL_SESSION_set1_master_key(*session, kSecret, sizeof kSecret) == 1 &&
         SSL_SESSION_set_cipher(*session, SSL_CIPHER_find(ssl, kSuite)) == 1 &&
         SSL_SESSION_set_protocol_version(*session, TLS1_3_VERSION) == 1;
}
int use_psk(SSL* ssl, const EVP_MD*, const unsigned char** id, size_t* size,
            SSL_SESSION** session) {
  *id = reinterpret_cast<const unsigned char*>("x");
  *size = 1;
  return psk(ssl, session);
}
int find_psk(SSL* ssl, const unsigned char*, size_t, SSL_SESSION** session) {
  return psk(ssl, session);
}

SSL* bare_tls(int socket, bool is_server) {
  set_blocking(socket);
  SSL_CTX* context = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_psk_use_session_callback(context, use_psk);
  SSL_CTX_set_psk_find_session_callback(context, find_psk);
  SSL* ssl = SSL_new(context);
  SSL_set_fd(ssl, socket);
  if ((is_server ? SSL_accept(ssl) : SSL_connect(ssl)) != 1)
    throw std::runtime_error("no bare TLS");
  return ssl;
}

// The file's bytes in memory, over and over.
template <typename Give>
void give_from_memory(const std::string& path, uint64_t bytes, Give give) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto size = static_cast<size_t>(lseek(file.get(), 0, SEEK_END));
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
  if (memory == MAP_FAILED) fail("mmap");
  for (size_t at = 0; bytes > 0;) {
    const size_t some = std::min<uint64_t>({kBatch, size - at, bytes});
    give(Bytes(static_cast<const std::byte*>(memory) + at, some));
    bytes -= some;
    at = at + some == size ? 0 : at + some;
  }
}

void send_bare_tls(SSL* ssl, const std::string& path, uint64_t bytes) {
  give_from_memory(path, bytes, [&](Bytes some) {
    if (SSL_write(ssl, some.data(), static_cast<int>(some.size())) <= 0)
      throw std::runtime_error("SSL_write");
  });
}

void receive_bare_tls(SSL* ssl, uint64_t bytes) {
  static char room[kBatch];
  while (bytes > 0) {
    const int size = SSL_read(ssl, room, sizeof room);
    if (size <= 0) throw std::runtime_error("SSL_read");
    bytes -= static_cast<uint64_t>(size);
  }
}

// Through a pipe, unless `to` or `from` is one.
void splice_bare(int from, int to, bool through_pipe, uint64_t bytes, bool rewinds) {
  int ends[2] = {-1, -1};
  if (through_pipe && pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  if (through_pipe) fcntl(ends[1], F_SETPIPE_SZ, kPipeSize);
  while (bytes > 0) {
    const ssize_t size = splice(from, nullptr, through_pipe ? ends[1] : to, nullptr,
                                std::min<uint64_t>(bytes, kPipeSize), SPLICE_F_MOVE);
    if (size == 0 && rewinds && lseek(from, 0, SEEK_SET) == 0) continue;
    if (size <= 0) fail("splice");
    for (ssize_t left = through_pipe ? size : 0; left > 0;) {
      const ssize_t moved =
          splice(ends[0], nullptr, to, nullptr, static_cast<size_t>(left), SPLICE_F_MOVE);
      if (moved <= 0) fail("splice");
      left -= moved;
    }
    bytes -= static_cast<uint64_t>(size);
  }
}

std::unique_ptr<Channel> channel_of(const std::string& kind, Role role, FileDescriptor file) {
  if (kind == "tls") return must(must(TlsContext::create(role, key())).wrap(std::move(file), ""));
  if (kind == "unix") return std::make_unique<PlainChannel>(std::move(file), "", "");
  FileDescriptor none(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (role == Role::Guest)
    return std::make_unique<PlainChannel>(std::move(none), std::move(file), "", "");
  return std::make_unique<PlainChannel>(std::move(file), std::move(none), "", "");
}

void send_the_rest(PageSender& sender, const Channel& channel) {
  while (must(sender.send_rest()) == Pause::Channel) {
    pollfd ready = channel.to_send();
    wait_for({&ready, 1}, within(std::chrono::seconds(20)));
  }
}

void send_from_memory(Channel& channel, const std::string& path, uint64_t bytes) {
  PageSender sender = must(PageSender::create(channel, LinkCompression::None));
  give_from_memory(path, bytes, [&](Bytes some) {
    if (must(sender.append(some)) == Pause::Channel) send_the_rest(sender, channel);
  });
}

void send_ours(Channel& channel, LinkCompression compression, int file, uint64_t bytes) {
  PageSender sender = must(PageSender::create(channel, compression));
  while (sender.taken() < bytes) {
    const Pause pause = must(sender.move(file, bytes - sender.taken()));
    pollfd ready = channel.to_send();
    if (pause == Pause::Channel) wait_for({&ready, 1}, within(std::chrono::seconds(20)));
    if (pause == Pause::Source) lseek(file, 0, SEEK_SET);
  }
  send_the_rest(sender, channel);
}

void receive_ours(Channel& channel, LinkCompression compression, int file, uint64_t bytes) {
  PageReceiver receiver = must(PageReceiver::create(channel, compression));
  while (receiver.received() < bytes) {
    must(receiver.move(file, "/dev/null", bytes - receiver.received()));
    pollfd ready = channel.to_receive();
    if (receiver.received() < bytes) wait_for({&ready, 1}, within(std::chrono::seconds(20)));
  }
}

struct Job {
  std::string kind;
  std::string way;
  uint64_t bytes = 0;
  std::string path;
  std::string name_space;

  LinkCompression compression() const {
    return way == "compressed" ? LinkCompression::Zstd : LinkCompression::None;
  }
};

void receive(const Job& job, Ends ends) {
  if (!job.name_space.empty()) {
    const FileDescriptor name_space(
        open(("/run/netns/" + job.name_space).c_str(), O_RDONLY | O_CLOEXEC));
    if (setns(name_space.get(), CLONE_NEWNET) != 0) fail("setns");
  }
  FileDescriptor file = std::move(ends.receiver);
  if (!file) file = must(connect_to(ends.address, within(std::chrono::seconds(20))));
  const FileDescriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (job.way != "bare") {
    const std::unique_ptr<Channel> channel = channel_of(job.kind, Role::Host, std::move(file));
    receive_ours(*channel, job.compression(), nowhere.get(), job.bytes);
  } else if (job.kind == "tls") {
    receive_bare_tls(bare_tls(file.get(), false), job.bytes);
  } else {
    splice_bare(file.get(), nowhere.get(), job.kind != "fifo", job.bytes, false);
  }
}

void send(const Job& job, Ends ends) {
  FileDescriptor file = std::move(ends.sender);
  if (!file) {
    pollfd ready{ends.listener.get(), POLLIN, 0};
    wait_for({&ready, 1}, within(std::chrono::seconds(20)));
    file = FileDescriptor(accept4(ends.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!file) fail("accept");
  }
  if (job.kind == "tls" && job.way == "bare")
    return send_bare_tls(bare_tls(file.get(), true), job.path, job.bytes);
  const FileDescriptor source(open(job.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source) fail(job.path);
  if (job.way == "bare")
    return splice_bare(source.get(), file.get(), job.kind != "fifo", job.bytes, true);
  const std::unique_ptr<Channel> channel = channel_of(job.kind, Role::Guest, std::move(file));
  if (job.way == "memory")
    send_from_memory(*channel, job.path, job.bytes);
  else
    send_ours(*channel, job.compression(), source.get(), job.bytes);
}

double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void move(const Job& job, const std::string& address) {
  signal(SIGPIPE, SIG_IGN);
  Ends ends = make_ends(job.kind, address);
  const auto begin = steady_clock::now();
  const pid_t receiver = fork();
  if (receiver == 0) {
    ends.sender.reset();
    try {
      receive(job, std::move(ends));
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "move: receiver: %s\n", error.what());
      _exit(1);
    }
  }
  ends.receiver.reset();
  const double before = cpu_seconds(RUSAGE_SELF);
  send(job, std::move(ends));
  const double cpu = cpu_seconds(RUSAGE_SELF) - before;
  int status = 0;
  if (waitpid(receiver, &status, 0) != receiver || status != 0)
    throw std::runtime_error("the receiver has failed");
  const std::chrono::duration<double> elapsed = steady_clock::now() - begin;
  std::printf("%.6f %.6f %.6f\n", elapsed.count(), cpu, cpu_seconds(RUSAGE_CHILDREN));
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) {
  if (argc != 5 && argc != 7) {
    std::fputs(
        "usage: move fifo|unix|tls ours|compressed|memory|bare BYTES FILE [NAMESPACE ADDRESS]\n",
        stderr);
    return 2;
  }
  try {
    strata::bench::move({argv[1], argv[2], std::stoull(argv[3]), argv[4], argc == 7 ? argv[5] : ""},
                        argc == 7 ? argv[6] : "127.0.0.1");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "move: %s\n", error.what());
    return 1;
  }
}
