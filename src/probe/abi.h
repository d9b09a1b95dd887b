// SPDX-License-Identifier: Apache-2.0
//
// What a traced program and its collector share: the sites in the program's file, the memory with
// the rings, and the handshake that gives the program this memory. Both ends may be of different
// versions and are built by different compilers: every type has an explicit size, every place is an
// offset. A change to this file is a new kVersion.
//
// ## Sites, in the program's ELF file
//
// A *site* is an event that a module (a program or a shared library) declares. It owns an element
// in each of these sections; the linker lays those of a module densely together:
//
//   strata_sites    what it is: a Site, then strings. Read-only, without relocations
//   strata_flags    whether it is on: a Flag. PROGBITS, since the kernel finds it by file offset
//   strata_anchors  one byte of code that nothing executes, for a uprobe to sit on
//   strata_patches  a Patch for each place of code that is rewritten when the site is switched on
//
// A site is on while its Flag is not zero.
//
// ## The memory, a sealed memfd made by the collector, one for each process
//
//   Header | dictionary | FilterArea x kMaxReaders | RingControl x (rings + 1) x kPolicies |
//   data of each ring, in the same order
//
// What happens when rings are full differs between those that read them (Policy). So there are
// rings for each policy: the program writes a record to those of every policy that is wanted.
// Memory that nobody writes to takes none.
//
// Of each policy, ring i < rings belongs to the CPU, or rather the concurrency id, i. Its writers
// are restartable sequences: they cannot be interrupted, so nobody ever sees half of what they do.
// The last ring is the *fallback*, whose writers take a lock; it also serves where there are no
// such sequences.
//
// A ring is a sequence of records at the positions 0, 8, ... `head`, of which the last `capacity`
// bytes exist; position p lies at p % capacity. Its bytes are divided into blocks; no record
// crosses from one to the next, and every block begins with a Block record, so that reading can
// begin at each. What lies before `head` is finished: a record is written first, then made valid by
// the one store that moves `head`. Nothing is ever reserved, so a program that dies leaves no hole.
//
// The dictionary says what the ids in the records mean: a Module, then a copy of its strata_sites,
// for each module that has written something; valid before the first record that needs it.
//
// A filter area says which records one of the memory's readers wants, so that others need not be
// written. It comes when the reader has seen the dictionary, and what it does not know passes: the
// reader decides again on what it reads.
//
// ## Readers
//
// Several may read the same rings, each by itself: a program has one memory, however many sessions
// record it. A reader has a *slot*, a number below kMaxReaders: it holds a lock on the byte of this
// number in the memory's file (fcntl, F_OFD_SETLK), through an open file that nobody else has. So
// the kernel gives the slot free when its reader dies. RingControl::taken says how far each is;
// `tail`, at which alone the program looks, is the least of them, and only ever grows. Whoever
// finds a slot that counts but that nobody holds, takes its lock for a moment and clears it.
//
// A reader reads the rings of one policy. It has its slot there before it says that they are wanted
// (ClockWord), and whoever leaves says so no longer, where nobody else reads them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::probe::abi {

inline constexpr uint32_t kVersion = 4;

// ---- Sites ----

// `kernel` is the reference counter of a uprobe: the kernel raises it in every process that maps
// the file, and takes it back when the one who traces ends, however that comes. `collector` is set
// by a collector without the rights for that, each its own bit, and by the library for its
// environment variable: bit 0.
struct Flag {
  uint16_t kernel;
  uint16_t collector;
};
static_assert(sizeof(Flag) == 4);

enum class SiteKind : uint8_t {
  Event = 0,
  Span = 1,     // its first 8 bytes are the time at which it began; the record's is its end
  Counter = 2,  // one field, the current value
};

// Followed by NUL-terminated strings: provider, name, then one for each field: "TYPE NAME", or
// "enum NAME LABELS" with LABELS as "idle=0,busy=1". The types are those of probe/fields.h. Padded
// with zeros to `size`.
struct Site {
  uint32_t size;    // of all this, a multiple of 4
  int32_t flag;     // where the Flag is, from the address of this member
  int32_t anchor;   // where the uprobe sits, from the address of this member
  uint8_t version;  // 1
  SiteKind kind;
  uint8_t level;   // LTTng-UST's scale: 0 is an emergency, 14 for debugging
  uint8_t fields;  // how many
};
static_assert(sizeof(Site) == 16);
inline constexpr uint8_t kSiteVersion = 1;

struct Patch {
  int32_t code;  // the 2 bytes, from the address of this member; on an even address
  int32_t flag;  // the Flag, from the address of this member
};

// What stands at a place that can be patched, 8 bytes: one instruction that does nothing, in whose
// operand a jump to the tracing code is hidden. Switched on, its first 2 bytes, which lie in one
// aligned word and therefore change at once for every CPU, jump to that jump.
inline constexpr uint8_t kPatchOff[2] = {0x0f, 0x1f};  // with 0x84 0xe9 and 4 bytes: nopl
inline constexpr uint8_t kPatchOn[2] = {0xeb, 0x01};   // jmp to the 0xe9: jmp rel32

// ---- Records ----

// Each begins at a multiple of 8 and is a multiple of 8 long.
struct RecordHead {
  uint64_t time;  // on the clock that the record's block names
  uint32_t word;  // see make_word()
};                // contexts, where there are any, and the fields follow at once, at 12
inline constexpr uint32_t kPayload = 12;

inline constexpr uint32_t kUnit = 8;              // sizes are counted in these
inline constexpr uint32_t kUnitsMask = 0x3ff;     // bits 0 to 9: the size; 0 is no record
inline constexpr uint32_t kTruncatedBit = 0x400;  // a string or sequence is shorter than it was
inline constexpr uint32_t kContextBit = 0x800;    // contexts precede the fields
inline constexpr uint32_t kIdShift = 12;
inline constexpr uint32_t kMaxId = 0xffffffffu >> kIdShift;
inline constexpr uint32_t kMaxRecord = 4096;  // in bytes

constexpr uint32_t make_word(uint32_t id, uint32_t size, bool truncated = false) {
  return id << kIdShift | (truncated ? kTruncatedBit : 0) | size / kUnit;
}
constexpr uint32_t id_of(uint32_t word) { return word >> kIdShift; }
constexpr uint32_t size_of(uint32_t word) { return (word & kUnitsMask) * kUnit; }

// Ids below kFirstId are not sites:
enum : uint32_t {
  kPadId = 0,    // nothing more until the block's end, whatever size it says
  kBlockId = 1,  // a Block
  kLostId = 2,   // a Lost
  kFirstId = 16,
};

enum class Clock : uint32_t {
  Tsc = 0,         // rdtsc
  TscOrdered = 1,  // rdtscp: not before what precedes it has happened
  MonotonicRaw = 2,
};

// What a record may tell of the thread that wrote it. A mask of those that it does tell (32 bits),
// then each of these in this order.
enum : uint32_t {
  kTidContext = 1,   // int32_t: as its PID namespace numbers it
  kNameContext = 2,  // char[kNameLength], with a NUL
  kCpuContext = 4,   // uint32_t: the CPU it ran on
  // Performance counters of the thread, uint64_t each, what it did in user space since its first
  // event; kNoCount where that is not known. Bits 3 to 6, in the order of kCounterEvents.
  kCounterContexts = 0x78,
  kAllContexts = 0x7f,
};
inline constexpr uint32_t kNameLength = 16;
inline constexpr uint32_t kCounters = 4;
inline constexpr uint64_t kNoCount = UINT64_MAX;
// As perf_event_open() numbers them: cycles, instructions, cache misses, mispredicted branches.
inline constexpr uint64_t kCounterEvents[kCounters] = {0, 1, 3, 5};
constexpr uint32_t counter_context(size_t counter) { return 8u << counter; }
constexpr uint32_t context_size(uint32_t mask) {
  return 4 + ((mask & kTidContext) != 0 ? 4 : 0) + ((mask & kNameContext) != 0 ? kNameLength : 0) +
         ((mask & kCpuContext) != 0 ? 4 : 0) +
         8 * static_cast<uint32_t>(__builtin_popcount(mask & kCounterContexts));
}

// The first record of every block.
struct Block {
  uint64_t time;
  uint32_t word;
  Clock clock;        // of all records in the block
  uint64_t position;  // where the block begins; tells it from the one it was written over
  uint64_t lost;      // RingControl::lost at that time
};
static_assert(sizeof(Block) == 32);

// Events were lost before this place: how many shows by the difference to the last told count.
struct Lost {
  uint64_t time;
  uint32_t word;
  uint32_t reserved;
  uint64_t lost;  // RingControl::lost at that time
};
static_assert(sizeof(Lost) == 24);

// ---- The memory ----

inline constexpr uint32_t kMaxReaders = 7;  // each has an area for filters

// Two cache lines, the first of the program's, the second of the collectors'.
struct alignas(128) RingControl {
  uint64_t head;     // the position behind the last record
  uint64_t end;      // the program's own: records may be written up to here without a further
                     // look; its low 3 bits are the clock of the block
  uint64_t lost;     // events, since the ring began; exact
  uint64_t told;     // the program's own: how many of them records have told of
  uint64_t gave_up;  // the program's own: 1 + the tail for which it last waited in vain
  uint64_t reserved[3];
  uint64_t tail;                // all readers have taken what lies before
  uint64_t taken[kMaxReaders];  // each of them: 1 + the position before which it has; 0: none
};
static_assert(sizeof(RingControl) == 128);

// When a ring is full:
enum class Policy : uint32_t {
  Discard = 0,    // the newest is lost, and counted
  Overwrite = 1,  // the oldest block is lost: a flight recorder
  Block = 2,      // the program waits for Header::wait_us at most; then as Discard
};
inline constexpr uint32_t kPolicies = 3;
constexpr uint32_t policy_bit(Policy policy) { return 1u << static_cast<uint32_t>(policy); }

// Instead of a Clock: the last reader has left; attach anew.
inline constexpr uint32_t kClosed = 7;
inline constexpr uint32_t kClockMask = 7;
// Besides a clock: there is more to look at before a record is written. No block has such a clock,
// so that looking for another clock finds this too, at no further cost.
inline constexpr uint32_t kLook = 8;

// What Header::clock says, in one word, so that it changes at once:
//
//   bits 8p to 8p + 7   what a thread compares that writes to the rings of policy p alone: the
//   clock
//                       to read, or kClosed; and kLook, where it is not to write just there: there
//                       are filters or contexts, or other policies are wanted, or another one
//   bits 24 to 26       the policies that are wanted, one at least
//   bit 27              there are filters or contexts
//   bits 28 to 31       a count of those who came to want something. Whoever found that nobody
//                       wants a policy, and says so, thereby notices one who came meanwhile
struct ClockWord {
  uint32_t clock;   // a Clock, or kClosed
  uint32_t wanted;  // a mask of policy_bit()
  bool looks;
  uint32_t comers;

  static constexpr ClockWord of(uint32_t word) {
    return {word & kClockMask, word >> 24 & 7, (word >> 24 & kLook) != 0, word >> 28};
  }
  constexpr uint32_t word() const {
    uint32_t word = comers << 28 | (looks ? kLook << 24 : 0) | wanted << 24;
    for (uint32_t policy = 0; policy < kPolicies; ++policy)
      word |= (clock | (looks || wanted != 1u << policy ? kLook : 0)) << 8 * policy;
    return word;
  }
  constexpr bool wants(Policy policy) const { return (wanted & policy_bit(policy)) != 0; }
  constexpr bool is_closed() const { return clock > static_cast<uint32_t>(Clock::MonotonicRaw); }
};

inline constexpr uint64_t kMagic = 0x31524154'42525053;  // "SPRBTAR1" as it lies in memory

inline constexpr uint32_t kNobody = 0;      // nobody reads by this area: it decides nothing
inline constexpr uint32_t kEverything = 1;  // a reader that wants all records

// The first line is written by the collector before anybody else has the memory, and never again.
struct Header {
  uint64_t magic;
  uint32_t version;
  uint32_t rings;       // of each policy, without the fallback; 0: the fallback serves all
  uint64_t size;        // of all the memory
  uint32_t controls;    // offset of the RingControls
  uint32_t dictionary;  // offset
  uint32_t dictionary_size;
  uint32_t filters;       // offset of the FilterAreas
  uint64_t data;          // offset of the first ring's, a multiple of the page size
  uint8_t capacity_log2;  // of each ring
  uint8_t block_log2;     // of each block: at least kMinBlockLog2, at most capacity_log2 - 1

  // By the collectors, at any time.
  alignas(64) uint32_t clock;  // a ClockWord
  uint32_t sleeps;             // 1: a collector waits for this (a futex) to become 0
  uint32_t contexts;           // a mask of those wanted
  uint32_t wait_us;            // Policy::Block
  // Of each reader of a policy: kNobody, kEverything, or higher: half `filtering % 2` of its area
  // holds.
  uint32_t filtering[kPolicies][kMaxReaders];

  // By the program.
  alignas(64) uint32_t dictionary_used;  // bytes that are valid
  uint32_t pid;
  int32_t memory;  // its descriptor of this memory, for a collector that takes over
  uint32_t reserved;
  uint64_t lost;  // events before there was a ring, or for want of a dictionary entry
};
static_assert(sizeof(Header) == 256);
inline constexpr uint32_t kMinBlockLog2 = 14;  // some records of the largest size
inline constexpr uint32_t kMaxCapacityLog2 = 40;
inline constexpr uint32_t kMaxRings = 8192;  // of a policy

// A dictionary entry. Id i of the module is the site whose Flag is i - first_id Flags behind the
// start of strata_flags: (sites + offset of Site::flag + its value - flags) / 4.
struct Module {
  uint32_t size;  // of this and the sites, a multiple of 8
  uint32_t first_id;
  uint32_t sites_size;  // of the copy of strata_sites that follows
  uint32_t count;       // of Flags
  uint64_t sites;       // the address of strata_sites in the program
  uint64_t flags;       // the address of strata_flags
};
static_assert(sizeof(Module) == 32);

// ---- Filters ----

// What one reader wants. It is written while the program looks at it: one half holds while the
// other is written, and one store, to Header::filtering, changes them over.
struct FilterHalf {
  uint32_t count;  // of FilterEntries, by ascending id
  uint32_t reserved;
  std::byte bytes[32760];  // the entries, then the predicates
};
struct alignas(64) FilterArea {
  FilterHalf halves[2];
};

// A site without one is not filtered.
struct FilterEntry {
  uint32_t id;
  uint16_t predicate;  // where it lies, from FilterHalf::bytes
  uint16_t size;
};
static_assert(sizeof(FilterHalf) <= 0x10000);

// A condition on the fields of a record, as tests that lead on to each other. Followed by Test x
// tests, Skip x skips, and the texts that the tests compare with. See predicate.h.
struct Predicate {
  uint8_t first;  // the test to begin with, or kPass, kDrop
  uint8_t tests;
  uint16_t skips;
  uint32_t reserved;
};
static_assert(sizeof(Predicate) == 8);

// Instead of a test's number: the record is wanted, or not.
inline constexpr uint8_t kPass = 255;
inline constexpr uint8_t kDrop = 254;
inline constexpr uint32_t kMaxTests = 254;

// Where fields lie behind something whose length varies. Base 0 is where the fields begin; base i +
// 1 is behind the string or sequence that begins `offset` bytes from base i.
struct Skip {
  uint16_t offset;
  uint16_t element;  // the size of a sequence's; 0: a string
};

// Duration: of a span, in ns. Only who reads the record knows it: where a program comes to such a
// test, the record passes.
enum class Load : uint8_t { U8, U16, U32, U64, S8, S16, S32, S64, F32, F64, Text, Duration };

// How a field and a value may relate; a test accepts some of these.
enum : uint8_t {
  kLess = 1,
  kEqual = 2,
  kGreater = 4,
  kUnordered = 8,    // another text, not a number
  kCommonBits = 16,  // of integers
  kMatches = 32,     // a text the pattern (glob.h); then the others are not looked for
};

struct Test {
  Load load;
  uint8_t accepts;
  uint8_t if_true;  // a test of a smaller number than this one, or kPass, kDrop
  uint8_t if_false;
  uint16_t base;
  uint16_t offset;  // of the field, from the base
  uint64_t value;   // an integer of 64 bits, a double's bits; of a text: where it lies, from the
                    // Predicate on, and its length << 32
};
static_assert(sizeof(Test) == 16);

// ---- The handshake ----
//
// Over a SOCK_SEQPACKET socket. The program connects and sends a Hello; who it is, the kernel tells
// (SO_PEERCRED). The collector answers with a Welcome, and where `accepted` is 1 with one
// descriptor (SCM_RIGHTS): the memory, sealed with F_SEAL_SHRINK and F_SEAL_GROW. Then both close.

struct Hello {
  uint64_t magic;
  uint32_t version;
  uint32_t reserved;
};

struct Welcome {
  uint64_t magic;
  uint32_t version;
  uint32_t accepted;  // 0: this process is not to be traced
};

// Tried in this order: $STRATA_PROBE_SOCKET alone where it is set, else the machine's, then the
// user's (%u: the user's id).
inline constexpr char kSocketVariable[] = "STRATA_PROBE_SOCKET";
inline constexpr char kMachineSocket[] = "/run/strata/probe.socket";
inline constexpr char kUserSocket[] = "/run/user/%u/strata/probe.socket";
// Globs "PROVIDER:NAME", separated by commas: sites that the program switches on itself.
inline constexpr char kEnableVariable[] = "STRATA_PROBE";

}  // namespace strata::probe::abi
