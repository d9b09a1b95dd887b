// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace strata::guest {

// What a host and an agent in its guest say to each other: docs/protocol.md, of which this is the
// table. Numbers are little-endian. Either direction of a connection begins with the preamble;
// messages follow, each a head and a body.

enum class Role : uint8_t { Host = 1, Guest = 2 };

constexpr Role other(Role role) { return role == Role::Host ? Role::Guest : Role::Host; }
constexpr std::string_view name_of(Role role) { return role == Role::Host ? "host" : "guest"; }

// Which versions of the protocol a program speaks. The highest that both speak is spoken.
struct Versions {
  uint16_t oldest = 1;
  uint16_t newest = 1;
};
inline constexpr Versions kVersions{};

// None: there is no version that both speak.
constexpr std::optional<uint16_t> common_version(Versions a, Versions b) {
  const uint16_t version = std::min(a.newest, b.newest);
  if (version < a.oldest || version < b.oldest) return std::nullopt;
  return version;
}

// In front of the first message. As a head it would be one of a size that no message has, so that
// it cannot be taken for one, nor one for it.
inline constexpr std::string_view kPreamble = "strata-guest 1\r\n";

inline constexpr uint32_t kMaxCpus = 8192;
// The number of a recording's stream that is no CPU's: probes of the clocks (clock/probe_link.h).
inline constexpr uint32_t kClockStream = UINT32_MAX;
inline constexpr size_t kMaxText = 1024;           // for people, see Text in messages.h
inline constexpr size_t kMaxPiece = 256 << 10;     // bytes of a file, or of a table, at once
inline constexpr uint32_t kMaxUnknown = 64 << 10;  // the body of a message of an unknown kind
inline constexpr uint32_t kMaxGreeting = 2048;     // any body before the key is proved

// Who sends a kind of message.
enum class Sender : uint8_t { Host, Guest, Both };

// Number, name, the most bytes that a body has, who sends it. Numbers are never used again.
#define STRATA_GUEST_MESSAGES(X)                                                     \
  X(1, Hello, 1024, Both)             /* versions, a nonce */                        \
  X(2, Proof, 256, Both)              /* of the key */                               \
  X(3, Attach, 256, Host)             /* this connection is for a stream of pages */ \
  X(4, Attached, 256, Guest)          /* pages follow */                             \
  X(5, Refused, kMaxGreeting, Both)   /* why what was asked for is not done */       \
  X(6, Description, 256 << 10, Guest) /* what machine the guest is */                \
  X(7, Record, 1 << 20, Host)         /* record this */                              \
  X(8, Started, 256 << 10, Guest)     /* it is being recorded */                     \
  X(9, File, 1024, Guest)             /* a small file of the recording */            \
  X(10, Piece, kMaxPiece + 64, Guest) /* some of its bytes */                        \
  X(11, Status, 256 << 10, Guest)     /* events, bytes, losses so far */             \
  X(12, Stop, 64, Host)               /* end the recording */                        \
  X(13, Done, 256 << 10, Guest)       /* it has ended: totals */                     \
  X(14, Problem, kMaxGreeting, Both)  /* something to tell the user */               \
  X(15, KeepAlive, 64, Both)          /* are you there; yes */                       \
  X(16, Watch, 64, Host)              /* send tables of periods */                   \
  X(17, Table, kMaxPiece + 64, Guest) /* some of one */                              \
  X(18, Open, 1024, Host)             /* connect me with a guest of yours */         \
  X(19, Opened, 256, Guest)           /* from here on it is that guest's agent */

enum class Kind : uint16_t {
#define STRATA_GUEST_KIND(number, name, most, sender) name = number,
  STRATA_GUEST_MESSAGES(STRATA_GUEST_KIND)
#undef STRATA_GUEST_KIND
};

struct KindInfo {
  Kind kind;
  std::string_view name;
  uint32_t most;  // bytes of a body
  Sender sender;
};

inline constexpr auto kKinds = std::to_array<KindInfo>({
#define STRATA_GUEST_INFO(number, name, most, sender) {Kind::name, #name, most, Sender::sender},
    STRATA_GUEST_MESSAGES(STRATA_GUEST_INFO)
#undef STRATA_GUEST_INFO
});

// Null: a kind of a later version.
constexpr const KindInfo* info_of(Kind kind) {
  const auto found = std::ranges::find(kKinds, kind, &KindInfo::kind);
  return found == kKinds.end() ? nullptr : &*found;
}

// What is said before the key is proved; nothing else is listened to until then.
constexpr bool is_greeting(Kind kind) { return kind <= Kind::Refused; }

constexpr bool may_send(Role role, Sender sender) {
  return sender == Sender::Both || (sender == Sender::Host) == (role == Role::Host);
}

// In front of each body.
struct Head {
  uint32_t size = 0;  // of the body
  Kind kind{};
  uint32_t recording = 0;  // which one it is about, a number that the host chose; 0: none
};
inline constexpr size_t kHeadSize = 12;  // 16 bits that are 0 stand between kind and recording

// A message as it came; the body lies in the receiver's memory until the next one is asked for.
struct Message {
  Kind kind{};
  uint32_t recording = 0;
  Bytes body;
};

}  // namespace strata::guest
