// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/mapped_file.h"
#include "base/text_buffer.h"
#include "format/ctf/packet.h"
#include "format/ctf/trace_plan.h"
#include "trace/stream.h"

namespace strata::ctf {

// The events of one data stream: of one file, or of several that continue each other (a tracer that
// rotates its files, snapshots one after the other). What two files both hold is read once.
//
// A file may be read while its writer is at work. What is there when its end is reached is read,
// and a writer that ends meanwhile is no damage (stream_file.h).
//
// Followed, it goes on when its last file grows, when another file comes to continue that one, and
// when metadata come that describe what could not be read without them.
class DataStream final : public trace::Stream {
 public:
  // Files in the order of their first packets; there may come more. Both must outlive it.
  DataStream(const PlanHistory& plans, const std::vector<const MappedFile*>& files, CpuId cpu);

  trace::Step next() override;
  void skip_to(Nanoseconds time) override;
  void follow() override { follows_ = true; }
  uint64_t bytes_done() const override { return bytes_before_ + packet_.offset; }
  uint64_t bytes_total() const override { return bytes_total_; }

  // The time of the last event, found without reading those before its packet.
  std::optional<Nanoseconds> last_time();

  // To show an event again as it was read: where it begins in its packet, and what it refers to.
  Cursor record_cursor() const { return {packet_data_, record_, content_}; }
  // Reading it again leaves in them what reading it left.
  Slots& slots() const { return slots_; }
  // Where the event lies: its header begins at bit `begin` of its packet, it ends at bit `end`.
  struct Place {
    const MappedFile* file;
    const Packet* packet;
    uint64_t begin;
    uint64_t end;
  };
  Place place() const { return {files_[file_], &packet_, header_, position_}; }
  // What the packet says besides sizes and times, as { cpu_id = 0 }.
  std::string_view packet_text() const;

 private:
  enum class Turn : uint8_t { Packet, End, Wait };
  Turn next_packet();
  bool enter_packet(const Packet& packet);
  void set_stream(const Packet& packet);
  // What lies behind the packets that were read, where that is not another one.
  enum class Behind : uint8_t { More, Nothing, Damage };
  Behind look_behind();
  bool has_grown();
  void leave_file();
  bool renew_plan();
  trace::Step wait();
  void count_losses(const Packet& packet);
  bool is_repeated(const Packet& packet) const;
  bool ends_before(const Packet& packet, Nanoseconds time);
  void give_up_packet(std::string cause);
  bool read_header(uint64_t& id);
  bool read_general_header(uint64_t& id);
  void set_time(uint64_t value, uint32_t bits);
  void track_task(const EventPlan& plan);

  const std::byte* packet_data_ = nullptr;
  uint64_t position_ = 0;  // in bits from the packet's start
  uint64_t content_ = 0;
  uint64_t header_ = 0;
  uint64_t record_ = 0;
  const StreamPlan* stream_ = nullptr;
  uint64_t ticks_ = 0;
  trace::ClockReader clock_;
  bool tracks_tasks_;
  Tid running_ = kNoTid;

  const PlanHistory& plans_;
  const TracePlan* plan_;  // the newest by when this packet, or the one before, was entered
  const std::vector<const MappedFile*>& all_files_;
  std::vector<const MappedFile*> files_;
  size_t file_ = 0;
  uint64_t next_offset_ = 0;        // of the next packet in that file
  std::optional<uint64_t> passed_;  // the packet before that, in the same file
  uint64_t content_end_ = 0;        // where that one's content ends
  int looks_ = 0;                   // at what lies behind it
  Packet packet_;
  mutable TextBuffer packet_text_{256};
  mutable bool packet_text_made_ = false;
  bool had_packet_ = false;
  mutable Slots slots_;
  std::vector<uint32_t> bases_;
  std::optional<Nanoseconds> skip_before_;
  bool follows_ = false;
  std::optional<MappedFile> grown_;  // the last file, mapped anew since it grew
  std::chrono::steady_clock::time_point waits_since_{};
  std::optional<uint64_t> last_discarded_;
  std::optional<uint64_t> last_sequence_;
  std::optional<uint64_t> last_begin_;
  uint64_t bytes_before_ = 0;
  uint64_t bytes_total_ = 0;
};

}  // namespace strata::ctf
