// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "base/result.h"
#include "trace/event.h"

namespace strata::trace {

// What a step along a stream met.
enum class Step : uint8_t {
  Event,  // an event: event()
  Quiet,  // a live stream has nothing before quiet_until(); ask again later
  End,    // no more, ever; problems() says whether that is the whole truth
};

// quiet_until() of a live stream that has had nothing for so long that the others are not to wait
// for it any more. Should it have something after all, that comes late.
constexpr Nanoseconds kNoTime{std::numeric_limits<int64_t>::max()};

// Events of one source (a CPU's ring, a thread's ring) in the order in which they were written.
//
// Errors do not stop the world: a stream gives what can be read, remembers what could not, and
// marks the place in the next event's loss.
class Stream {
 public:
  virtual ~Stream() = default;

  virtual Step next() = 0;

  // Goes forward, cheaply, to about `time`: no event at or after it is passed over; some before it
  // may still come.
  virtual void skip_to(Nanoseconds time) { (void)time; }

  // From here on what was its end is only the end so far: it says Quiet there and goes on when
  // there is more. For streams of files that somebody still writes; others end all the same.
  virtual void follow() {}

  // How far it is along its bytes, for a progress bar.
  virtual uint64_t bytes_done() const { return 0; }
  virtual uint64_t bytes_total() const { return 0; }

  const trace::Event& event() const { return event_; }
  Nanoseconds quiet_until() const { return event_.time; }

  CpuId cpu() const { return event_.cpu; }
  // The buffer it belongs to ("" is the main one): one trace may hold several that ran side by
  // side.
  const std::string& buffer() const { return buffer_; }

  // The first thing that could not be read, and how many such there were.
  const std::optional<Error>& problem() const { return problem_; }
  uint64_t problem_count() const { return problem_count_; }

  // Events that were lost where no event has come since. At the end of a stream: after its last
  // one.
  struct Loss {
    uint64_t count = 0;
    bool unknown = false;  // there were more, uncounted
  };
  const Loss& unplaced_loss() const { return unplaced_; }

 protected:
  void add_problem(Error error) {
    if (problem_count_++ == 0) problem_ = std::move(error);
  }

  // Losses are noted where they are met and placed with the next event.
  void note_loss(uint64_t count) {
    unplaced_.count += count;
    loss_open_ = true;
  }
  void note_unknown_loss() {
    unplaced_.unknown = true;
    loss_open_ = true;
  }
  // To be called for every event.
  void place_loss() {
    if (loss_open_) [[unlikely]]
      move_loss();
  }

  trace::Event event_;
  std::string buffer_;

 private:
  void move_loss() {
    event_.lost = unplaced_.count;
    event_.lost_unknown = unplaced_.unknown;
    // Open once more, so that the event after this one is marked as having lost nothing.
    loss_open_ = event_.lost != 0 || event_.lost_unknown;
    unplaced_ = {};
  }

  Loss unplaced_;
  bool loss_open_ = false;
  std::optional<Error> problem_;
  uint64_t problem_count_ = 0;
};

}  // namespace strata::trace
