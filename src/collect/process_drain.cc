// SPDX-License-Identifier: Apache-2.0
#include "collect/process_drain.h"

#include <poll.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>

#include "probe/clock.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

// A program that wakes us and has nothing to say; the library does not do that.
constexpr uint32_t kMostFalseAlarms = 100;

}  // namespace

struct ProcessDrain::Visitor {
  ProcessDrain& process;
  Ring& ring;
  void record(const RingRecord& record) { process.put(ring, record); }
  void lost(uint64_t events) { process.lose(ring, events); }
};

ProcessDrain::ProcessDrain(TracedProcess process, FileDescriptor lives, RingMemory memory,
                           abi::Clock clock, uint64_t quota)
    : process_(std::move(process)),
      lives_(std::move(lives)),
      memory_(std::move(memory)),
      clock_(clock),
      quota_(quota),
      rings_(size_t{memory_.layout().rings} + 1) {}

bool ProcessDrain::has_ended() const {
  pollfd ended{lives_.get(), POLLIN, 0};
  return is_unmapped_ || poll(&ended, 1, 0) > 0;
}

void ProcessDrain::look_whether_mapped() {
  struct stat memory {};
  fstat(memory_.descriptor(), &memory);
  const std::string inode = " " + std::to_string(memory.st_ino) + " ";
  std::ifstream maps("/proc/" + std::to_string(process_.pid) + "/maps");
  is_unmapped_ = maps.is_open();
  for (std::string line; std::getline(maps, line);)
    if (line.find("memfd:strata-probe") != std::string::npos &&
        line.find(inode) != std::string::npos)
      is_unmapped_ = false;
}

Status ProcessDrain::drain(ProgramTraces& traces) {
  traces_ = &traces;
  const RingLayout& layout = memory_.layout();
  for (uint32_t number = 0; number < rings_.size() && status_; ++number) {
    if (!rings_[number]) {
      if (!memory_.is_used(number)) continue;
      rings_[number] = std::make_unique<Ring>(layout, number);
    }
    Ring& ring = *rings_[number];
    // What a full ring holds may begin within a block, hence one more; and only the reading that
    // finds nothing tells what was lost behind the last record.
    const uint64_t readings = layout.capacity() / layout.block() + 2;
    for (uint64_t i = 0; i < readings && status_; ++i) {
      if (!ring.reader.read_block(memory_.bytes(), Visitor{*this, ring})) break;
      memory_.set_tail(number, ring.reader.position());
    }
    tell_damage(ring);
  }
  return status_;
}

bool ProcessDrain::is_urgent() const {
  for (uint32_t number = 0; number < rings_.size(); ++number)
    if (memory_.filled(number) > memory_.layout().capacity() / 2) return true;
  return false;
}

const uint32_t* ProcessDrain::set_alarm() {
  if (false_alarms_ > kMostFalseAlarms) return nullptr;
  memory_.say_asleep();
  return memory_.asleep();
}

void ProcessDrain::end_alarm() {
  if (false_alarms_ > kMostFalseAlarms) return;
  if (load_once<uint32_t>(reinterpret_cast<const std::byte*>(memory_.asleep())) != 1 &&
      !is_urgent())
    ++false_alarms_;
  memory_.say_awake();
}

Status ProcessDrain::flush() {
  for (const auto& ring : rings_) {
    if (!status_) break;
    // A loss before the first event has no time yet: it is told with that event, or at the end.
    if (ring && ring->out != nullptr && ring->out->events() > 0) status_ = ring->out->flush();
  }
  return status_;
}

Status ProcessDrain::finish(ProgramTraces& traces) {
  if (Status status = drain(traces); !status) return status;
  if (const uint64_t lost = memory_.lost_outside(); lost > 0) {
    Ring* first = nullptr;
    for (const auto& ring : rings_)
      if (first == nullptr && ring) first = ring.get();
    if (first == nullptr)
      first =
          (rings_.back() = std::make_unique<Ring>(memory_.layout(), memory_.layout().rings)).get();
    lose(*first, lost);
  }
  return end_streams();
}

Status ProcessDrain::end_streams() {
  const uint64_t now = probe::read_clock(clock_);
  for (const auto& ring : rings_) {
    if (!ring || ring->out == nullptr) continue;
    if (status_) status_ = ring->out->flush(now);
    if (status_) status_ = ring->out->finish();
    ring->out = nullptr;
  }
  trace_ = nullptr;
  forms_.clear();
  return status_;
}

ctf::StreamWriter* ProcessDrain::stream_of(Ring& ring) {
  if (ring.out != nullptr) [[likely]]
    return ring.out;
  if (trace_ == nullptr) {
    (void)dictionary_.update(memory_.bytes(), memory_.layout());
    const Result<ProgramTrace*> trace = traces_->of(process_.program, dictionary_.size());
    if (!trace) {
      status_ = trace.error();
      return nullptr;
    }
    trace_ = *trace;
  }
  const Result<ctf::StreamWriter*> added = trace_->add_stream(process_, ring.number);
  if (added)
    ring.out = *added;
  else
    status_ = added.error();
  return ring.out;
}

const EventForm* ProcessDrain::form_of(uint32_t id) {
  const uint64_t index = uint64_t{id} - abi::kFirstId;
  if (index < forms_.size() && forms_[index] != nullptr) [[likely]]
    return forms_[index];
  return find_form(id);
}

const EventForm* ProcessDrain::find_form(uint32_t id) {
  const Site* site = dictionary_.find(id);
  if (site == nullptr) {
    // What is wrong in it shows by the sites that are missing.
    (void)dictionary_.update(memory_.bytes(), memory_.layout());
    site = dictionary_.find(id);
  }
  if (site == nullptr) return nullptr;
  forms_.resize(dictionary_.size());
  return forms_[id - abi::kFirstId] = trace_->form_of(*site);
}

// No event can be. Such a one would hold up, or move, all that come behind it.
bool ProcessDrain::is_in_the_future(uint64_t time) {
  if (time <= now_) [[likely]]
    return false;
  now_ = probe::read_clock_ordered(clock_);
  return time > now_;
}

void ProcessDrain::put(Ring& ring, const RingRecord& record) {
  ctf::StreamWriter* out = stream_of(ring);
  if (out == nullptr) return;
  const EventForm* form = form_of(record.id);
  if (form == nullptr || record.clock != clock_ || is_in_the_future(record.time))
    return lose(ring, 1);
  size_t size = form->size;
  if (!form->is_fixed) {
    const std::optional<size_t> found = payload_size(*dictionary_.find(record.id), record.payload);
    if (!found) return lose(ring, 1);
    size = *found;
  }
  const size_t added = (form->is_span ? sizeof(uint64_t) : 0) + (form->is_fixed ? 0 : 1);
  if (size > record.payload.size() || written_ + size + added > quota_) return lose(ring, 1);

  std::byte* at = out->reserve(form->id, record.time, size + added);
  if (at == nullptr) {
    status_ = out->status();
    return;
  }
  Bytes payload = record.payload.first(size);
  if (form->is_span) {
    const auto begin = load_once<uint64_t>(payload.data());
    const auto ticks = static_cast<double>(record.time - std::min(begin, record.time));
    const auto duration = static_cast<uint64_t>(ticks * trace_->nanoseconds_a_tick() + 0.5);
    std::memcpy(at, &begin, sizeof begin);
    std::memcpy(at + sizeof begin, &duration, sizeof duration);
    at += sizeof begin + sizeof duration;
    payload = payload.subspan(sizeof begin);
  }
  if (!payload.empty()) std::memcpy(at, payload.data(), payload.size());
  if (!form->is_fixed) at[payload.size()] = std::byte{record.truncated};
  written_ += size + added;
  ++trace_->totals.events;
  trace_->totals.bytes += size + added;
}

void ProcessDrain::lose(Ring& ring, uint64_t events) {
  ctf::StreamWriter* out = stream_of(ring);
  if (out == nullptr) return;
  trace_->totals.lost += events;
  if (!out->discard(events)) status_ = out->status();
}

void ProcessDrain::tell_damage(Ring& ring) {
  if (ring.reader.damaged() == ring.damaged && ring.reader.broken() == ring.was_broken) return;
  ring.damaged = ring.reader.damaged();
  ring.was_broken = ring.reader.broken();
  ctf::StreamWriter* out = stream_of(ring);
  if (out == nullptr) return;
  ++trace_->totals.lost_unknown;
  if (!out->discard_unknown()) status_ = out->status();
}

}  // namespace strata::collect
