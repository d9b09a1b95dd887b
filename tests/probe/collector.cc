// SPDX-License-Identifier: Apache-2.0
#include "collector.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace strata::test {
namespace abi = probe::abi;
namespace {

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "the test's collector: %s\n", why.c_str());
  std::abort();
}

void welcome(int connection, const collect::RingMemory& memory) {
  abi::Hello hello{};
  if (recv(connection, &hello, sizeof hello, 0) != sizeof hello || hello.magic != abi::kMagic)
    fail("no greeting");
  abi::Welcome answer{abi::kMagic, abi::kVersion, 1};
  iovec part{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* item = CMSG_FIRSTHDR(&message);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = memory.descriptor();
  std::memcpy(CMSG_DATA(item), &fd, sizeof fd);
  sendmsg(connection, &message, MSG_NOSIGNAL);  // it may have been killed
}

}  // namespace

uint64_t KeptRings::kept() const {
  uint64_t sum = 0;
  for (const auto& ring : rings) sum += ring.size();
  return sum;
}

std::vector<KeptRecord> KeptRings::all() const {
  std::vector<KeptRecord> records;
  for (const auto& ring : rings) records.insert(records.end(), ring.begin(), ring.end());
  return records;
}

Collector::Collector(const collect::RingLayout& layout, abi::Clock clock)
    : layout_(layout), clock_(clock) {
  const std::string path = folder_.file("socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  socket_ = FileDescriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket_.get(), 64) != 0)
    fail("no socket");
  stop_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  setenv(abi::kSocketVariable, path.c_str(), 1);
  thread_ = std::thread([this] { serve(); });
}

Collector::~Collector() {
  close_all();
  const uint64_t one = 1;
  if (write(stop_.get(), &one, sizeof one) != sizeof one) fail("cannot stop");
  thread_.join();
}

void Collector::serve() {
  while (true) {
    pollfd ready[2] = {{socket_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) continue;
    if (ready[1].revents != 0) return;
    const FileDescriptor connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection) continue;
    Result<collect::RingMemory> memory = collect::RingMemory::create(layout_, clock_);
    if (!memory) fail(memory.error().text());
    const std::lock_guard lock(mutex_);
    memories_.push_back(std::make_unique<collect::RingMemory>(std::move(*memory)));
    welcome(connection.get(), *memories_.back());
  }
}

size_t Collector::attached() {
  const std::lock_guard lock(mutex_);
  return memories_.size();
}

bool Collector::is_used() {
  const std::lock_guard lock(mutex_);
  return !memories_.empty() &&
         load_once<uint32_t>(memories_.front()->bytes().data() + offsetof(abi::Header, pid)) != 0;
}

collect::RingMemory& Collector::memory(size_t number) {
  const std::lock_guard lock(mutex_);
  return *memories_.at(number);
}

void Collector::close_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& memory : memories_) memory->close();
}

KeptRings Collector::read(size_t number) {
  const collect::RingMemory& from = memory(number);
  collect::Dictionary dictionary;
  if (Status status = dictionary.update(from.bytes(), layout_); !status)
    fail(status.error().text());
  KeptRings kept;
  struct Visitor {
    const collect::Dictionary& dictionary;
    std::vector<KeptRecord>& into;
    uint64_t& missing;
    void record(const collect::RingRecord& record) {
      const collect::Site* site = dictionary.find(record.id);
      if (site == nullptr) fail("a record of an unknown site");
      const std::optional<size_t> size = collect::payload_size(*site, record.payload);
      if (!size) fail("a record that is not as its site says");
      into.push_back({record.time,
                      record.clock,
                      site->provider + ":" + site->name,
                      record.truncated,
                      {record.payload.begin(), record.payload.begin() + static_cast<long>(*size)}});
    }
    void lost(uint64_t events) { missing += events; }
  };
  for (uint32_t ring = 0; ring <= layout_.rings; ++ring) {
    collect::RingReader reader(layout_, ring);
    reader.read_all(from.bytes(), Visitor{dictionary, kept.rings.emplace_back(), kept.lost});
    if (reader.broken()) fail("a head that cannot be");
    kept.damaged += reader.damaged();
  }
  kept.lost += from.lost_outside();
  return kept;
}

collect::RingLayout small_layout(abi::Policy policy, bool per_cpu) {
  collect::RingLayout layout;
  layout.rings = per_cpu ? static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF)) : 0;
  layout.policy = policy;
  layout.capacity_log2 = 18;
  layout.block_log2 = 14;
  return layout;
}

int in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      body();
    } catch (...) {
      _exit(99);
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace strata::test
