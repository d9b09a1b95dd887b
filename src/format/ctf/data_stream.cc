// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/data_stream.h"

#include <algorithm>
#include <utility>

#include "format/ctf/index_file.h"
#include "format/ctf/show.h"
#include "format/ctf/stream_file.h"

namespace strata::ctf {

using trace::Step;

namespace {

// The id and time of an event, wherever its header keeps them. An id that comes later replaces one
// before it.
struct HeaderSink : DeafSink {
  std::optional<uint64_t> id;
  std::optional<uint64_t> time;
  uint32_t time_bits = 64;

  void integer(std::string_view, const Integer& type, uint64_t value) {
    if (type.role == FieldRole::EventClassId) id = value;
    if (type.role == FieldRole::Timestamp) {
      time = value;
      time_bits = type.size == 0 ? 64 : type.size;
    }
  }
};

}  // namespace

DataStream::DataStream(const PlanHistory& plans, const std::vector<const MappedFile*>& files,
                       CpuId cpu)
    : tracks_tasks_(plans.newest().tracks_tasks),
      plans_(plans),
      plan_(&plans.newest()),
      all_files_(files),
      files_(files),
      slots_(plan_->slots) {
  for (const MappedFile* file : files_) bytes_total_ += file->size();
  event_.stream = this;
  event_.cpu = cpu;
  event_.running = kNoTid;
}

// Part of a time: the lower bits are replaced, and where that would lead back, the upper ones have
// moved on by one.
void DataStream::set_time(uint64_t value, uint32_t bits) {
  if (bits >= 64) {
    ticks_ = value;
    return;
  }
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  const uint64_t low = ticks_ & mask;
  ticks_ = (ticks_ & ~mask) + value + (value < low ? mask + 1 : 0);
}

bool DataStream::read_header(uint64_t& id) {
  if (stream_->header == HeaderForm::General) return read_general_header(id);
  position_ = (position_ + 7) & ~uint64_t{7};
  const std::byte* at = packet_data_ + position_ / 8;
  const uint64_t left = position_ < content_ ? (content_ - position_) / 8 : 0;
  const bool swap = stream_->swap;
  uint64_t short_size = 4;
  uint64_t before_extended = 1;
  bool extended = false;
  if (stream_->header == HeaderForm::Compact) {
    if (left < 4) return false;
    const uint32_t head = load<uint32_t>(at, swap);
    id = stream_->big ? head >> 27 : head & 31;
    extended = id == 31;
    if (!extended) set_time(stream_->big ? head & 0x7ffffff : head >> 5, 27);
  } else {
    short_size = 6;
    before_extended = 2;
    if (left < 6) return false;
    id = load<uint16_t>(at, swap);
    extended = id == 0xffff;
    if (!extended) set_time(load<uint32_t>(at + 2, swap), 32);
  }
  if (!extended) {
    position_ += short_size * 8;
    return true;
  }
  if (left < before_extended + 12) return false;
  id = load<uint32_t>(at + before_extended, swap);
  set_time(load<uint64_t>(at + before_extended + 4, swap), 64);
  position_ += (before_extended + 12) * 8;
  return true;
}

bool DataStream::read_general_header(uint64_t& id) {
  HeaderSink sink;
  if (stream_->stream->event_header != nullptr) {
    Cursor at(packet_data_, position_, content_);
    if (!walk(*stream_->stream->event_header, {}, at, slots_, sink)) return false;
    position_ = at.position();
  }
  if (sink.time) set_time(*sink.time, sink.time_bits);
  // Without ids there is one class of events.
  id = sink.id.value_or(stream_->events.size() == 1 ? stream_->events.front()->event->id : 0);
  return true;
}

Step DataStream::next() {
  for (;;) {
    if (position_ >= content_) [[unlikely]] {
      const Turn turn = next_packet();
      if (turn == Turn::End) return Step::End;
      if (turn == Turn::Wait) return wait();
      continue;
    }
    header_ = position_;
    uint64_t id = 0;
    if (!read_header(id)) [[unlikely]] {
      give_up_packet("an event's header goes beyond its packet");
      continue;
    }
    const EventPlan* plan = stream_->find(id);
    if (plan == nullptr) [[unlikely]] {
      const uint64_t behind_header = std::exchange(position_, header_);
      if (renew_plan()) continue;
      // A tracer may write events long before the metadata that describe them (LTTng: when they
      // fill a packet, or when it stops).
      if (follows_) return wait();
      position_ = behind_header;
      give_up_packet("an event of class " + std::to_string(id) +
                     ", which the metadata do not describe");
      continue;
    }
    const uint64_t aligned = plan->alignment - 1;
    record_ = (position_ + aligned) & ~aligned;
    if (plan->size) {
      if (record_ > content_ || *plan->size > content_ - record_) [[unlikely]] {
        give_up_packet("an event goes beyond its packet");
        continue;
      }
      bases_[0] = static_cast<uint32_t>(record_ & 7);
      position_ = record_ + *plan->size;
    } else {
      Cursor at(packet_data_, std::min(record_, content_), content_);
      if (record_ > content_ || !plan->measure.run(at, slots_, bases_.data())) [[unlikely]] {
        give_up_packet("an event goes beyond its packet, or selects what does not exist");
        continue;
      }
      position_ = at.position();
    }
    if (position_ == header_) [[unlikely]] {
      give_up_packet("events of no size at all");
      continue;
    }
    event_.type = plan;
    event_.record = {packet_data_ + record_ / 8, (position_ + 7) / 8 - record_ / 8};
    event_.ticks = Ticks{ticks_};
    event_.time = clock_.at(event_.ticks);
    if (plan->cpu) [[unlikely]]
      event_.cpu = CpuId{static_cast<uint32_t>(event_.integer(plan->cpu).value_or(0))};
    place_loss();
    if (tracks_tasks_) track_task(*plan);
    return Step::Event;
  }
}

// A kernel's stream is one CPU's: after a switch another thread runs. After a loss nobody knows.
void DataStream::track_task(const EventPlan& plan) {
  if (event_.lost > 0 || event_.lost_unknown) running_ = kNoTid;
  event_.running = running_;
  if (plan.meaning.word != trace::Word::SchedSwitch) return;
  if (const auto previous = event_.integer(plan.meaning.part(trace::Role::PrevTid)))
    event_.running = Tid{static_cast<int32_t>(*previous)};
  if (const auto next = event_.integer(plan.meaning.part(trace::Role::NextTid)))
    running_ = Tid{static_cast<int32_t>(*next)};
}

void DataStream::give_up_packet(std::string cause) {
  const MappedFile& file = *files_[file_];
  add_problem(file.shrank() ? file.shrank_error()
                            : Error{file.path(), packet_.offset + position_ / 8,
                                    std::move(cause) + " (bit " + std::to_string(position_) +
                                        " of the packet)"});
  position_ = content_;
  note_unknown_loss();
}

// A packet that a file before this one held already.
bool DataStream::is_repeated(const Packet& packet) const {
  if (!had_packet_ || file_ == 0) return false;
  if (packet.sequence && last_sequence_) return *packet.sequence <= *last_sequence_;
  return packet.begin && last_begin_ && *packet.begin <= *last_begin_;
}

DataStream::Turn DataStream::next_packet() {
  renew_plan();
  while (file_ < files_.size()) {
    const MappedFile& file = *files_[file_];
    const bool is_last = file_ + 1 == files_.size();
    // Content that was not there any more when it was read.
    const bool cut = file.shrank() && file.shrank_at() < content_end_;
    if (next_offset_ >= file.size() || cut) {
      if (cut) add_problem(file.shrank_error());
      if (is_last && follows_ && !cut) {
        if (has_grown()) continue;
        return Turn::Wait;
      }
      leave_file();
      continue;
    }
    const Result<Packet> packet = read_packet(plan_->description, file, next_offset_, slots_);
    const uint64_t there = (file.size() - next_offset_) * 8;
    if (packet && packet->size <= there) {
      looked_at_.reset();
      looks_ = 0;
    } else if (is_last) {
      // What is not whole yet may be so later.
      const Behind behind = look_behind();
      if (behind == Behind::More) continue;
      if (follows_) return Turn::Wait;
      if (behind == Behind::Nothing) {
        leave_file();
        continue;
      }
    }
    if (!packet) {
      // Where the next packet begins is not known.
      add_problem(packet.error());
      note_unknown_loss();
      next_offset_ = file.size();
      continue;
    }
    passed_ = next_offset_;
    content_end_ = next_offset_ + std::min(packet->content, there) / 8;
    next_offset_ += packet->size / 8;
    if (is_repeated(*packet) || !enter_packet(*packet)) continue;
    if (packet->size > there) {
      add_problem({file.path(), file.size(), "the file ends within a packet"});
      content_ = std::min(content_, there);
      next_offset_ = file.size();
    }
    return Turn::Packet;
  }
  return Turn::End;
}

void DataStream::leave_file() {
  bytes_before_ += files_[file_]->size();
  ++file_;
  next_offset_ = content_end_ = 0;
  passed_.reset();
  looked_at_.reset();
  looks_ = 0;
}

// What comes next is no packet, or not all of one. The file was mapped at one moment and is read at
// others, and whoever writes it may be at work or have finished meanwhile.
DataStream::Behind DataStream::look_behind() {
  constexpr int kMostLooks = 16;  // at a file that somebody makes longer and longer
  if (!follows_ && looks_++ == kMostLooks) return Behind::Damage;
  if (has_grown()) return Behind::More;
  const std::optional<uint64_t> now = settled_size(*files_[file_]);
  // Finished: it ends where its packets do, and nothing is missing.
  if (now == next_offset_ && next_offset_ > 0) return Behind::Nothing;
  // Its writer may have been at it just before, so that it is worth reading once more.
  return now && now != std::exchange(looked_at_, now) ? Behind::More : Behind::Damage;
}

// Whether there is more than before. The last file may be longer, and is then mapped anew. Or its
// last packet has another size: a writer may let that reach to the file's end, so that the file is
// whole at every moment, and put the next one where its padding was. Or a new file continues it.
bool DataStream::has_grown() {
  if (passed_) {
    const Result<Packet> again = read_packet(plan_->description, *files_.back(), *passed_, slots_);
    if (again && *passed_ + again->size / 8 != next_offset_) {
      next_offset_ = *passed_ + again->size / 8;
      return true;
    }
  }
  Result<MappedFile> now = MappedFile::open(files_.back()->path());
  const bool same = now && now->id() == files_.back()->id();
  if (same && now->size() > files_.back()->size()) {
    for (size_t i = 0; grown_ && i + 1 < files_.size(); ++i)
      if (files_[i] == &*grown_) files_[i] = all_files_[i];
    grown_ = *std::move(now);
    files_.back() = &*grown_;
    return true;
  }
  if (files_.size() == all_files_.size()) return false;
  files_.insert(files_.end(), all_files_.begin() + static_cast<ptrdiff_t>(files_.size()),
                all_files_.end());
  return true;
}

// Newer metadata, if there are any: for what comes next, and for what is left of this packet.
bool DataStream::renew_plan() {
  const TracePlan& newest = plans_.newest();
  if (plan_ == &newest) return false;
  Slots slots(newest.slots);
  if (position_ < content_) {
    const Result<Packet> again =
        read_packet(newest.description, *files_[file_], packet_.offset, slots);
    if (!again) return false;
    packet_ = *again;
    packet_text_made_ = false;
  }
  plan_ = &newest;
  slots_ = std::move(slots);
  tracks_tasks_ = newest.tracks_tasks;
  waits_since_ = {};
  if (position_ < content_) set_stream(packet_);
  return true;
}

// Nothing more so far. A packet comes when it is full or the tracer flushes; nobody tells when, so
// after a while without one the stream no longer holds the others back.
Step DataStream::wait() {
  constexpr auto kPatience = std::chrono::seconds(2);
  const auto now = std::chrono::steady_clock::now();
  if (waits_since_ == std::chrono::steady_clock::time_point{}) waits_since_ = now;
  if (now - waits_since_ >= kPatience) event_.time = trace::kNoTime;
  return Step::Quiet;
}

void DataStream::set_stream(const Packet& packet) {
  const StreamPlan* stream = plan_->find(packet.stream);
  if (stream == stream_) return;
  stream_ = stream;
  std::vector<trace::ClockMap> chain = stream->clock;
  if (stream->has_clock) chain.push_back(stream->to_reference);
  clock_ = trace::ClockReader(std::move(chain));
  bases_.assign(stream->most_bases, 0);
  event_.bases = bases_.data();
}

bool DataStream::ends_before(const Packet& packet, Nanoseconds time) {
  return packet.end && *packet.end != 0 && stream_->has_clock &&
         clock_.at(Ticks{*packet.end}) < time;
}

bool DataStream::enter_packet(const Packet& packet) {
  set_stream(packet);
  const bool skipped = skip_before_ && ends_before(packet, *skip_before_);
  if (!skipped) count_losses(packet);
  if (packet.discarded) last_discarded_ = packet.discarded;
  if (packet.sequence) last_sequence_ = packet.sequence;
  last_begin_ = packet.begin;
  had_packet_ = true;
  if (skipped) return false;

  packet_ = packet;
  packet_text_made_ = false;
  waits_since_ = {};
  if (packet.begin) ticks_ = *packet.begin;
  packet_data_ = files_[file_]->bytes().data() + packet.offset;
  position_ = packet.events;
  content_ = packet.content;
  if (packet.cpu) event_.cpu = CpuId{static_cast<uint32_t>(*packet.cpu)};
  return true;
}

void DataStream::skip_to(Nanoseconds time) {
  skip_before_ = time;
  if (had_packet_ || files_.empty()) return;
  // An index leads there at once; without one the packets before are passed over one by one.
  const Result<Packet> first = read_packet(plan_->description, *files_[0], 0, slots_);
  if (!first) return;
  set_stream(*first);
  for (const IndexEntry& entry : read_index(files_[0]->path(), files_[0]->size())) {
    Packet packet;
    packet.end = entry.end;
    if (!ends_before(packet, time)) break;
    next_offset_ = entry.offset + entry.size / 8;
    last_discarded_ = entry.discarded;
  }
}

// The counter stands for what was discarded up to the packet's end; a gap in the sequence for
// packets, with any number of events.
void DataStream::count_losses(const Packet& packet) {
  if (packet.discarded) {
    const uint64_t mask =
        packet.discarded_bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << packet.discarded_bits) - 1;
    const uint64_t lost = (*packet.discarded - last_discarded_.value_or(0)) & mask;
    if (lost > 0) note_loss(lost);
  }
  if (packet.sequence && last_sequence_ && *packet.sequence > *last_sequence_ + 1)
    note_unknown_loss();
}

std::string_view DataStream::packet_text() const {
  if (!packet_text_made_) {
    packet_text_made_ = true;
    packet_text_.clear();
    if (stream_->stream->packet_context != nullptr) {
      Cursor at(packet_data_, packet_.context, content_);
      show_packet_context(*stream_->stream->packet_context, at, slots_, packet_text_);
    }
  }
  return packet_text_.view();
}

std::optional<Nanoseconds> DataStream::last_time() {
  // The last packet with events in it. An index leads to a file's last packet at once; should that
  // one be empty, all are gone through.
  for (const bool with_index : {true, false}) {
    std::optional<std::pair<size_t, uint64_t>> last;  // file, offset
    size_t indexed = files_.size();
    bool jumped = false;
    file_ = 0;
    next_offset_ = 0;
    had_packet_ = false;
    last_sequence_.reset();
    last_begin_.reset();
    while (next_packet() == Turn::Packet) {
      if (content_ > position_) {
        last = {file_, packet_.offset};
        jumped = false;
      }
      position_ = content_;
      if (!with_index || file_ == indexed) continue;
      indexed = file_;
      const std::vector<IndexEntry> index =
          read_index(files_[file_]->path(), files_[file_]->size());
      if (index.size() < 2) continue;
      next_offset_ = std::max(next_offset_, index.back().offset);
      passed_.reset();
      jumped = true;
    }
    if (jumped) continue;
    if (!last) return std::nullopt;
    file_ = last->first;
    next_offset_ = last->second;
    had_packet_ = false;
    std::optional<Nanoseconds> time;
    while (next() == Step::Event) time = event_.time;
    return time;
  }
  return std::nullopt;
}

}  // namespace strata::ctf
