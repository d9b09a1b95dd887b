// SPDX-License-Identifier: Apache-2.0
#include "collect/rendezvous.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "collect/descriptor_message.h"
#include "collect/left_rings.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

// More rings than that nobody needs; a program that goes on asking is up to something.
constexpr size_t kMostMemories = 16384;
constexpr size_t kMostOfAProcess = 16;
// While the socket changes hands.
constexpr int kPauseMs = 10;
constexpr std::chrono::seconds kPatience(5);
constexpr std::chrono::milliseconds kOthersFollow(100);
constexpr size_t kMostWaiting = 128;
// For the next memory of those that an owner has.
constexpr int kNextMemoryMs = 2000;

FileDescriptor open_process(pid_t pid) {
  return FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

ino_t file_of(const RingMemory& memory) {
  struct stat status {};
  fstat(memory.descriptor(), &status);
  return status.st_ino;
}

bool is_readable(int descriptor, int milliseconds) {
  pollfd readable{descriptor, POLLIN, 0};
  return poll(&readable, 1, milliseconds) == 1;
}

}  // namespace

Result<std::unique_ptr<Rendezvous>> Rendezvous::open(Options options, Arrive arrive) {
  std::unique_ptr<Rendezvous> meeting(new Rendezvous(std::move(options), std::move(arrive)));
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    const Result<bool> settled = meeting->settle();
    if (!settled) return settled.error();
    if (*settled) return meeting;
    poll(nullptr, 0, kPauseMs);
  }
  return Error{meeting->options_.socket, {}, why(Refusal::None)};
}

Result<bool> Rendezvous::settle() {
  Result<bool> owns = own();
  if (!owns || *owns) return owns;
  return follow_owner();
}

Result<bool> Rendezvous::own() {
  const std::string path = options_.socket + ".lock";
  FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return system_error(path, "cannot open", errno);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return false;
  Result<Listener> listener = open_listener();
  if (!listener) {
    // Whoever has followed the last owner has its socket, and is to be the next.
    if (is_listened_at(options_.socket)) return false;
    return std::move(listener).error();
  }
  lock_ = std::move(lock);
  listener_.emplace(std::move(*listener));
  take_over();
  return true;
}

Result<Listener> Rendezvous::open_listener() {
  if (owner_ && access(options_.socket.c_str(), F_OK) == 0) {
    programs_from_ = std::chrono::steady_clock::now() + kOthersFollow;
    return Listener::take(options_.socket, std::move(owner_->socket));
  }
  // Root's is for the programs of all users; who asks is known.
  return Listener::open(options_.socket, geteuid() == 0);
}

void Rendezvous::take_over() {
  for (LeftRings& left : find_left_rings()) {
    FileDescriptor lives = open_process(left.process.pid);
    Result<RingMemory> opened = open_memory(std::move(left.memory), "left rings");
    if (!lives || !opened || opened->clock_word().said().is_closed() ||
        !has_room_for(left.process.pid))
      continue;
    // Of another kind: its program asks for others.
    if (!opened->layout().is_like(options_.layout)) {
      if (!is_read_by_others(opened->descriptor())) opened->clock_word().close();
      continue;
    }
    auto memory = std::make_shared<RingMemory>(std::move(*opened));
    {
      const std::lock_guard lock(mutex_);
      if (known_.contains(file_of(*memory))) continue;
    }
    const Begin begin = begin_of_heir(*memory);
    std::optional<ReaderSlot> slot = join(*memory, begin);
    if (!slot) continue;
    slot->free_dead();
    if (options_.clock == abi::Clock::TscOrdered) memory->clock_word().order_clock();
    arrive(std::move(left.process), std::move(lives), std::move(memory), *slot, begin);
  }
}

Result<bool> Rendezvous::follow_owner() {
  const SessionHello hello{kSessionMagic, abi::kVersion, options_.layout.policy, options_.clock,
                           options_.layout.wait_us};
  Refusal refusal;
  std::optional<FollowedOwner> owner = follow(options_.socket, hello, refusal);
  if (refusal != Refusal::None) return Error{options_.socket, {}, why(refusal)};
  if (!owner) return false;
  owner_ = std::move(owner);
  for (bool is_last = false; !is_last;) {
    if (is_readable(owner_->connection.get(), kNextMemoryMs) && receive_memory(is_last)) continue;
    owner_->connection.reset();
    return false;
  }
  return true;
}

void Rendezvous::serve(int stop) {
  while (listener_ ? serve_as_owner(stop) : serve_as_follower(stop)) {
  }
  // In this order: who gets the lock finds the path free, or has the socket; and who sees that we
  // have ended finds the lock free.
  if (listener_ && !followers_.empty()) listener_->leave_to_others();
  listener_.reset();
  // Now, though a child that is about to execute a program has the file too.
  if (lock_) flock(lock_.get(), LOCK_UN);
  lock_.reset();
  followers_.clear();
  owner_.reset();
}

bool Rendezvous::serve_as_owner(int stop) {
  std::vector<pollfd> waiting = {{stop, POLLIN, 0}, {listener_->descriptor(), POLLIN, 0}};
  for (const Follower& follower : followers_)
    waiting.push_back({follower.connection.get(), POLLIN, 0});
  if (poll(waiting.data(), waiting.size(), waiting_.empty() ? -1 : kPauseMs) < 0) return true;
  admit_waiting();
  if (waiting[0].revents != 0) return false;
  // They say nothing any more: they have ended.
  for (size_t i = waiting.size(); i-- > 2;)
    if (waiting[i].revents != 0) followers_.erase(followers_.begin() + static_cast<long>(i - 2));
  if (waiting[1].revents != 0) serve_next();
  return true;
}

void Rendezvous::serve_next() {
  std::optional<Asking> asking = listener_->next();
  if (!asking) return;
  if (asking->session)
    admit_session(std::move(*asking));
  else if (std::chrono::steady_clock::now() < programs_from_ && waiting_.size() < kMostWaiting)
    waiting_.push_back(std::move(*asking));
  else
    admit(*asking);
}

void Rendezvous::admit_waiting() {
  if (waiting_.empty() || std::chrono::steady_clock::now() < programs_from_) return;
  for (const Asking& program : waiting_) admit(program);
  waiting_.clear();
}

bool Rendezvous::serve_as_follower(int stop) {
  const bool follows = owner_ && owner_->connection;
  pollfd waiting[2] = {{stop, POLLIN, 0}, {follows ? owner_->connection.get() : -1, POLLIN, 0}};
  if (poll(waiting, 2, follows ? -1 : kPauseMs) < 0) return true;
  bool is_last = false;
  if (waiting[0].revents != 0) {
    // Programs that the owner has told us of may have written already.
    while (follows && is_readable(owner_->connection.get(), 0) && receive_memory(is_last)) {
    }
    return false;
  }
  if (follows && receive_memory(is_last)) return true;
  // Its socket is kept: where we are the next, programs wait there.
  if (owner_) owner_->connection.reset();
  // An error here may be one of the moment: another session's, say, that is about to end.
  (void)static_cast<bool>(settle());
  return true;
}

void Rendezvous::admit(const Asking& program) {
  const bool may_be_traced = geteuid() == 0 || program.user == geteuid();
  if (!may_be_traced || !has_room_for(program.pid)) return refuse(program);
  FileDescriptor lives = open_process(program.pid);
  Result<RingMemory> made = make_memory();
  if (!lives || !made) return refuse(program);
  auto memory = std::make_shared<RingMemory>(std::move(*made));
  memory->add_contexts(options_.contexts);
  const std::optional<ReaderSlot> slot = ReaderSlot::claim(*memory, Begin::Start);
  if (!slot) return refuse(program);
  // The others first: all have their slots before the first record is written.
  const TracedProcess process = TracedProcess::look_at(program.pid);
  std::erase_if(followers_, [&](const Follower& follower) {
    const Result<FileDescriptor> file = memory->reopen();
    const std::optional<uint32_t> claimed =
        file ? ReaderSlot::claim_for(file->get(), *memory, follower.wants.policy, Begin::Start)
             : std::nullopt;
    if (!claimed) return true;
    const int descriptors[] = {file->get(), lives.get()};
    return !send_memory(follower.connection.get(), {process, claimed}, descriptors);
  });
  // It may be gone, with all it drained, as soon as the other thread knows of it: answer first.
  give_rings(program, *memory);
  arrive(process, std::move(lives), std::move(memory), *slot, Begin::Start);
}

Result<RingMemory> Rendezvous::make_memory() const {
  RingLayout layout = options_.layout;
  for (const Follower& follower : followers_)
    if (follower.wants.policy == abi::Policy::Block)
      layout.wait_us = std::max(layout.wait_us, follower.wants.wait_us);
  return RingMemory::create(layout, options_.clock);
}

Result<RingMemory> Rendezvous::open_memory(FileDescriptor file, const std::string& name) const {
  return RingMemory::open(std::move(file), options_.layout.policy, name);
}

std::optional<ReaderSlot> Rendezvous::join(RingMemory& memory, Begin begin) const {
  if (options_.layout.policy == abi::Policy::Block) memory.wait_at_least(options_.layout.wait_us);
  return ReaderSlot::claim(memory, begin);
}

Refusal Rendezvous::refusal_for(const Asking& session) const {
  const bool is_on_tsc = options_.clock != abi::Clock::MonotonicRaw;
  if (session.user != 0 && session.user != geteuid()) return Refusal::Rights;
  if (session.session->policy > abi::Policy::Block) return Refusal::Policy;
  if ((session.session->clock != abi::Clock::MonotonicRaw) != is_on_tsc) return Refusal::Clock;
  if (followers_.size() + 1 >= abi::kMaxReaders) return Refusal::Number;
  return Refusal::None;
}

void Rendezvous::admit_session(Asking session) {
  const SessionWelcome welcome{kSessionMagic, abi::kVersion, refusal_for(session)};
  const int follower = session.connection.get();
  const int socket = listener_->socket();
  const bool is_refused = welcome.refusal != Refusal::None;
  if (!send_message(follower, std::as_bytes(std::span(&welcome, 1)),
                    std::span(&socket, is_refused ? 0 : 1)) ||
      is_refused)
    return;
  std::vector<Known> known;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [file, memory] : known_) known.push_back(memory);
  }
  const bool orders_clock = session.session->clock == abi::Clock::TscOrdered;
  if (orders_clock) options_.clock = abi::Clock::TscOrdered;
  for (const Known& one : known) {
    if (orders_clock) one.memory->clock_word().order_clock();
    const FileDescriptor lives = open_process(one.process.pid);
    const Result<FileDescriptor> file = one.memory->reopen();
    if (!lives || !file) continue;  // it has ended
    const int descriptors[] = {file->get(), lives.get()};
    if (!send_memory(follower, {one.process, std::nullopt}, descriptors)) return;
  }
  if (send_memory(follower, {}, {}))
    followers_.push_back({std::move(session.connection), *session.session});
}

bool Rendezvous::receive_memory(bool& is_last) {
  std::optional<ReceivedMessage> message = receive_message(owner_->connection.get(), 0);
  if (!message) return false;
  std::optional<SharedMemory> shared = read_memory_message(message->bytes);
  if (!shared) return false;
  is_last = shared->process.pid == 0;
  if (is_last) return true;
  if (message->descriptors.size() != 2) return false;
  Result<RingMemory> opened = open_memory(std::move(message->descriptors[0]), "shared rings");
  if (!opened || !opened->layout().is_like(options_.layout) || !has_room_for(shared->process.pid))
    return true;
  auto memory = std::make_shared<RingMemory>(std::move(*opened));
  {
    // After a change of owners they come again.
    const std::lock_guard lock(mutex_);
    if (known_.contains(file_of(*memory))) return true;
  }
  const Begin begin = shared->slot ? Begin::Start : Begin::Head;
  const std::optional<ReaderSlot> slot =
      shared->slot ? ReaderSlot::given(*memory, *shared->slot) : join(*memory, Begin::Head);
  if (!slot) return true;
  arrive(std::move(shared->process), std::move(message->descriptors[1]), std::move(memory), *slot,
         begin);
  return true;
}

bool Rendezvous::has_room_for(pid_t process) {
  const std::lock_guard lock(mutex_);
  const auto is_its = [&](const auto& known) { return known.second.process.pid == process; };
  return known_.size() < kMostMemories &&
         std::ranges::count_if(known_, is_its) < static_cast<long>(kMostOfAProcess);
}

void Rendezvous::arrive(TracedProcess process, FileDescriptor lives,
                        std::shared_ptr<RingMemory> memory, ReaderSlot slot, Begin begin) {
  memory->add_contexts(options_.contexts);
  {
    const std::lock_guard lock(mutex_);
    known_.emplace(file_of(*memory), Known{process, memory});
  }
  arrive_({std::move(process), std::move(lives), std::move(memory), slot, begin});
}

void Rendezvous::forget(const RingMemory& memory) {
  const std::lock_guard lock(mutex_);
  known_.erase(file_of(memory));
}

}  // namespace strata::collect
