// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/mapped_file.h"
#include "base/result.h"

namespace strata::ctf {

// The start of every packet that we write, little-endian:
//
//      0  magic   4  uuid   20  stream_id   24  stream_instance_id
//     32  timestamp_begin   40  timestamp_end   48  content_size   56  packet_size
//     64  packet_seq_num   72  events_discarded   80  cpu_id   84  the stream class's own
//
// Packets begin at multiples of 64 bytes, so that packet_size never lies across two pages.
constexpr uint32_t kPacketMagic = 0xc1fc1fc1;
constexpr size_t kPacketSizeAt = 56;
constexpr size_t kPacketHeadSize = 84;
constexpr size_t kPacketAlignment = 64;

// What an index (LTTng's index/NAME.idx) says of a packet. Sizes in bits.
struct PacketFacts {
  uint64_t content_size = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t discarded = 0;
  uint64_t stream_class = 0;
  uint64_t stream = 0;
  uint64_t sequence_number = 0;
};

// A stream's file while it grows. It consists of whole packets at every moment: readers refuse one
// that ends within a packet, and a write() that SIGKILL interrupts may end anywhere.
//
// So the file is longer than what is in it, a hole, and the last packet says that it reaches to the
// file's end: what is beyond its content is padding. A new packet goes into that padding, where
// nobody sees it; then the packet before it shrinks to its own size, in one write of 8 bytes. The
// file's size and that number have to change together when it grows and when it is finished: that
// is done by a short-lived process of its own, which outlives us if need be, and which holds a lock
// (flock) on the file meanwhile.
//
// The file has no descriptor between packets: a trace may have more streams than a process may have
// open files.
class StreamFile {
 public:
  // In the folder that `folder` (a descriptor) is; `path` is for messages. Nothing appears under
  // `name` before the first packet.
  StreamFile(int folder, std::string name, std::string path, unsigned mode, bool with_index);

  // `packet` begins with the head above and fills a multiple of 64 bytes; its packet_size is set
  // here.
  Status add(std::span<std::byte> packet, const PacketFacts& facts);
  // The file ends where its last packet does.
  Status finish();

  const std::string& path() const { return path_; }

 private:
  Status add_first(std::span<std::byte> packet);
  Status add_next(int file, std::span<std::byte> packet);
  Status resize(int file, uint64_t size, uint64_t last_packet_size);
  Status add_to_index(uint64_t offset, uint64_t size, const PacketFacts& facts);

  int folder_;
  std::string name_;
  std::string path_;
  unsigned mode_;
  bool with_index_;
  uint64_t end_ = 0;       // of the last packet's own bytes
  uint64_t last_ = 0;      // where the last packet begins
  uint64_t reserved_ = 0;  // the file's size
};

// The file's size once nobody is changing that and its last packet's size any more. Nothing:
// another file has its name now, or none. A reader that finds one not to fit the other asks here,
// and then looks again at what the packet says.
std::optional<uint64_t> settled_size(const MappedFile& file);

// Writes all of it; the number of the error, or 0.
int write_all(int file, std::span<const std::byte> bytes, uint64_t offset);

}  // namespace strata::ctf
