// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "collect/listener.h"
#include "collect/process_drain.h"

namespace strata::collect {

// Where programs and the sessions that record them meet: a socket, which one session owns, and
// where the others follow it (session_link.h). The owner is who holds the lock file beside the
// socket. When it ends, or is killed, the kernel gives the lock to one of the others, which then
// listens, at the same socket: all have it open, so that programs which ask meanwhile wait there.
// What the new owner finds of rings that nobody told it of, in the programs that run, it takes
// over.
//
// Every session reads every program's rings by itself. So nobody depends on another for more than
// hearing of a program.
class Rendezvous {
 public:
  struct Options {
    std::string socket;
    RingLayout layout;  // of rings that are made here
    probe::abi::Clock clock = probe::abi::Clock::Tsc;
    uint32_t contexts = 0;  // that records are to tell: a mask
  };
  // Is called for each memory, by open() and by serve().
  using Arrive = std::function<void(SharedRings)>;

  // The memories that there are have arrived when it returns.
  static Result<std::unique_ptr<Rendezvous>> open(Options options, Arrive arrive);

  // Until `stop` can be read. The socket is somebody else's then.
  void serve(int stop);
  // From any thread: this session does not read it any more.
  void forget(const RingMemory& memory);

 private:
  struct Known {
    TracedProcess process;
    std::shared_ptr<RingMemory> memory;
  };
  struct Follower {
    FileDescriptor connection;
    SessionHello wants;
  };

  Rendezvous(Options options, Arrive arrive)
      : options_(std::move(options)), arrive_(std::move(arrive)) {}
  // True: this session owns the socket, or follows its owner. False: it changes hands, now.
  Result<bool> settle();
  Result<bool> own();
  Result<Listener> open_listener();
  Result<bool> follow_owner();
  void take_over();

  // Until it is stopped, or the owner has ended: false.
  bool serve_as_owner(int stop);
  void serve_next();
  void admit_waiting();
  bool serve_as_follower(int stop);
  void admit(const Asking& program);
  void admit_session(Asking session);
  Refusal refusal_for(const Asking& session) const;
  // With what all sessions want.
  Result<RingMemory> make_memory() const;
  // One that somebody else has made, for the rings of our policy; and a slot of it.
  Result<RingMemory> open_memory(FileDescriptor file, const std::string& name) const;
  std::optional<ReaderSlot> join(RingMemory& memory, Begin begin) const;
  // False: the owner has ended, or speaks in another way than we do.
  bool receive_memory(bool& is_last);
  bool has_room_for(pid_t process);
  void arrive(TracedProcess process, FileDescriptor lives, std::shared_ptr<RingMemory> memory,
              ReaderSlot slot, Begin begin);

  Options options_;
  Arrive arrive_;
  FileDescriptor lock_;               // held: by the owner
  std::optional<Listener> listener_;  // the owner's
  std::vector<Follower> followers_;
  // Programs that asked before this time wait for it: other sessions that followed the last owner
  // are about to follow this one.
  std::chrono::steady_clock::time_point programs_from_;
  std::vector<Asking> waiting_;
  std::optional<FollowedOwner> owner_;

  std::mutex mutex_;              // for the next
  std::map<ino_t, Known> known_;  // by the memory's file
};

}  // namespace strata::collect
