// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "guest/codec.h"
#include "guest/protocol.h"

namespace strata::guest {

// The bodies of all messages, in the order of their numbers. A later version adds fields at the
// end, and messages.

using Nonce = std::array<std::byte, 32>;
using Mac = std::array<std::byte, 32>;
// Whoever knows it may attach to a recording's streams; it is made anew for each.
using Token = std::array<std::byte, 32>;

struct Hello {
  static constexpr Kind kKind = Kind::Hello;
  Versions versions;
  Role role = Role::Host;
  Nonce nonce{};
  Nonce answers{};  // the guest's: which Hello it answers

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.number(self.versions.oldest);
    codec.number(self.versions.newest);
    codec.choice(self.role, Role::Host, Role::Guest);
    codec.array(self.nonce);
    codec.array(self.answers);
  }
};

struct Proof {
  static constexpr Kind kKind = Kind::Proof;
  Mac mac{};

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.array(self.mac);
  }
};

struct Attach {
  static constexpr Kind kKind = Kind::Attach;
  Token token{};
  uint32_t stream = 0;  // a CPU's, or kClockStream

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.array(self.token);
    codec.number(self.stream);
  }
};

// The token once more: on a channel without beginning or end, what came before it is of another
// recording.
struct Attached {
  static constexpr Kind kKind = Kind::Attached;
  Token token{};

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.array(self.token);
  }
};

enum class Reason : uint16_t {  // a later version may have others
  Other = 0,
  Version = 1,   // none is common
  Key = 2,       // its proof is wrong
  Busy = 3,      // too much is going on already
  Request = 4,   // cannot be understood, or asks for what there is not
  Rights = 5,    // the agent may not do that
  NotFound = 6,  // no such guest, or it cannot be reached
};

struct Refused {
  static constexpr Kind kKind = Kind::Refused;
  Reason reason = Reason::Other;
  std::string why;

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.open_choice(self.reason);
    codec.text(self.why, kMaxText);
  }
};

// The first message of a guest when the key is proved.
struct Description {
  static constexpr Kind kKind = Kind::Description;
  std::string program;  // the agent's version
  std::string machine;  // its name
  std::string kernel;   // uname's release
  std::string architecture;
  std::string boot_id;
  std::string clock;           // the best there is for a recording: "x86-tsc"
  uint64_t clock_hertz = 0;    // 0: not known
  std::string clock_note;      // why it is trusted, or why not a better one
  uint32_t page_size = 0;      // of the tracer's rings
  std::vector<uint32_t> cpus;  // that are online

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    for (auto* text : {&self.program, &self.machine, &self.kernel, &self.architecture,
                       &self.boot_id, &self.clock})
      codec.text(*text, 256);
    codec.number(self.clock_hertz);
    codec.text(self.clock_note, kMaxText);
    codec.number(self.page_size);
    codec.list(self.cpus, kMaxCpus, 4, [&](auto& cpu) { codec.number(cpu); });
  }
};

// What to record, as JSON: request.h.
struct Record {
  static constexpr Kind kKind = Kind::Record;
  Bytes json;

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.rest(self.json, info_of(kKind)->most);
  }
};

struct Started {
  static constexpr Kind kKind = Kind::Started;
  Token token{};       // for its streams
  std::string clock;   // of its events
  uint64_t begin = 0;  // a reading of it, before the first event
  uint32_t page_size = 0;
  std::vector<uint32_t> cpus;  // each with a stream

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.array(self.token);
    codec.text(self.clock, 64);
    codec.number(self.begin);
    codec.number(self.page_size);
    codec.list(self.cpus, kMaxCpus, 4, [&](auto& cpu) { codec.number(cpu); });
  }
};

// Parts of a recording (docs/recording.md) other than pages.
enum class FileKind : uint8_t {
  Head = 0,  // of a trace.dat: all that comes before its pages
  State = 1,
  Counters = 2,
  Cgroups = 3,
  App = 4,
  Description = 5,  // the guest's own recording.json
  Last = Description,
};

// A file, by a number that the guest chose, before the first of its pieces.
struct File {
  static constexpr Kind kKind = Kind::File;
  uint32_t file = 0;
  FileKind kind = FileKind::Head;
  std::string part;  // which program's, of FileKind::App
  std::string name;  // within the part; never a path of the host's

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.number(self.file);
    codec.choice(self.kind, FileKind::Head, FileKind::Last);
    codec.text(self.part, 256);
    codec.file_name(self.name, 256);
  }
};

// Bytes of a file, which replace what was there. Pieces of one file come in any order.
struct Piece {
  static constexpr Kind kKind = Kind::Piece;
  uint32_t file = 0;
  uint64_t offset = 0;
  Bytes bytes;

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.number(self.file);
    codec.number(self.offset);
    codec.rest(self.bytes, kMaxPiece);
  }
};

struct CpuStatus {
  uint32_t cpu = 0;
  uint64_t lost = 0;      // events, so far
  uint16_t permille = 0;  // of its ring that is full
};

struct RecordingStatus {
  static constexpr Kind kKind = Kind::Status;
  uint64_t events = 0;
  uint64_t bytes = 0;
  uint64_t lost = 0;
  std::vector<CpuStatus> cpus;

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.number(self.events);
    codec.number(self.bytes);
    codec.number(self.lost);
    codec.list(self.cpus, kMaxCpus, 14, [&](auto& each) {
      codec.number(each.cpu);
      codec.number(each.lost);
      codec.number(each.permille);
    });
  }
};

struct Stop {
  static constexpr Kind kKind = Kind::Stop;

  template <typename Self, typename Codec>
  static void fields(Self&, Codec&) {}
};

// What went over a stream: where it ends is known from this alone, since not all channels have an
// end of their own.
struct StreamTotal {
  uint32_t stream = 0;
  uint64_t bytes = 0;  // of pages, however they were compressed on the way
  uint64_t lost = 0;   // events
};

struct Done {
  static constexpr Kind kKind = Kind::Done;
  uint64_t events = 0;
  std::string why;  // empty: it was stopped; otherwise what ended it
  std::vector<StreamTotal> streams;

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.number(self.events);
    codec.text(self.why, kMaxText);
    codec.list(self.streams, kMaxCpus + 1, 20, [&](auto& each) {
      codec.number(each.stream);
      codec.number(each.bytes);
      codec.number(each.lost);
    });
  }
};

struct Problem {
  static constexpr Kind kKind = Kind::Problem;
  std::string what;

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.text(self.what, kMaxText);
  }
};

struct KeepAlive {
  static constexpr Kind kKind = Kind::KeepAlive;
  uint64_t number = 0;
  bool answers = false;  // false: to be sent back with true

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.number(self.number);
    codec.flag(self.answers);
  }
};

// Tables of periods of this length from now on; 0: no more.
struct Watch {
  static constexpr Kind kKind = Kind::Watch;
  uint64_t period_ns = 0;

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.number(self.period_ns);
  }
};

// Some of a line of JSON as `strata stats --period --json` prints it.
struct Table {
  static constexpr Kind kKind = Kind::Table;
  bool last = true;  // the line ends here
  Bytes text;

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.flag(self.last);
    codec.rest(self.text, kMaxPiece);
  }
};

// The agent connects to a guest of its own machine, with the key that it has for that one, and
// hands bytes on in both directions from then on: the host speaks with that guest's agent.
struct Open {
  static constexpr Kind kKind = Kind::Open;
  Versions versions;  // of the host
  std::string path;   // "l2", or "l2/l3" for a guest of that one

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.number(self.versions.oldest);
    codec.number(self.versions.newest);
    codec.text(self.path, 512);
  }
};

struct Opened {
  static constexpr Kind kKind = Kind::Opened;
  uint16_t version = 0;  // that is spoken from here on

  template <typename Self, typename Codec>
  static void fields(Self& self, Codec& codec) {
    codec.number(self.version);
  }
};

}  // namespace strata::guest
