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
//   Header | dictionary | RingControl x (rings + 1) | data of ring 0 | data of ring 1 | ...
//
// Ring i < rings belongs to the CPU, or rather the concurrency id, i. Its writers are restartable
// sequences: they cannot be interrupted, so nobody ever sees half of what they do. The last ring is
// the *fallback*, whose writers take a lock; it also serves where there are no such sequences.
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
// ## Readers
//
// Several may read the same rings, each by itself: a program has one memory, however many sessions
// record it. A reader has a *slot*, a number below kMaxReaders: it holds a lock on the byte of this
// number in the memory's file (fcntl, F_OFD_SETLK), through an open file that nobody else has. So
// the kernel gives the slot free when its reader dies. RingControl::taken says how far each is;
// `tail`, at which alone the program looks, is the least of them, and only ever grows. Whoever
// finds a slot that counts but that nobody holds, takes its lock for a moment and clears it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::probe::abi {

inline constexpr uint32_t kVersion = 2;

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
};                // the fields follow at once, at 12
inline constexpr uint32_t kPayload = 12;

inline constexpr uint32_t kUnit = 8;              // sizes are counted in these
inline constexpr uint32_t kUnitsMask = 0x3ff;     // bits 0 to 9: the size; 0 is no record
inline constexpr uint32_t kTruncatedBit = 0x400;  // a string or sequence is shorter than it was
inline constexpr uint32_t kIdShift = 11;
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
// In Header::clock, instead of one: the last reader has left; attach anew.
inline constexpr uint32_t kClosed = 7;

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

inline constexpr uint32_t kMaxReaders = 7;

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

enum class Policy : uint32_t {
  Discard = 0,    // the newest is lost, and counted
  Overwrite = 1,  // the oldest block is lost: a flight recorder
  Block = 2,      // the program waits for Header::wait_us at most; then as Discard
};

inline constexpr uint64_t kMagic = 0x31524154'42525053;  // "SPRBTAR1" as it lies in memory

// The first line is written by the collector before anybody else has the memory, and never again.
struct Header {
  uint64_t magic;
  uint32_t version;
  uint32_t rings;       // without the fallback; 0: the fallback serves all
  uint64_t size;        // of all the memory
  uint32_t controls;    // offset of the RingControls
  uint32_t dictionary;  // offset
  uint32_t dictionary_size;
  Policy policy;
  uint64_t data;          // offset of ring 0's, a multiple of the page size
  uint8_t capacity_log2;  // of each ring
  uint8_t block_log2;     // of each block: at least kMinBlockLog2, at most capacity_log2 - 1
  uint16_t reserved;
  uint32_t wait_us;  // Policy::Block

  // By the collector, at any time.
  alignas(64) uint32_t clock;  // a Clock, or kClosed
  uint32_t sleeps;             // 1: a collector waits for this (a futex) to become 0

  // By the program.
  alignas(64) uint32_t dictionary_used;  // bytes that are valid
  uint32_t pid;
  int32_t memory;  // its descriptor of this memory, for a collector that takes over
  uint32_t reserved2;
  uint64_t lost;  // events before there was a ring, or for want of a dictionary entry
};
static_assert(sizeof(Header) == 192);
inline constexpr uint32_t kMinBlockLog2 = 14;  // some records of the largest size
inline constexpr uint32_t kMaxCapacityLog2 = 40;
inline constexpr uint32_t kMaxRings = 8192;

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
