// SPDX-License-Identifier: Apache-2.0
#include "collect/process_drain.h"

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "probe/clock.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

// A program that wakes us and has nothing to say; the library does not do that.
constexpr uint32_t kMostFalseAlarms = 100;

// Of a site that other sessions have chosen.
constexpr EventForm kOthers;

// The TSC is one counter, however it is read.
bool is_same_counter(abi::Clock a, abi::Clock b) {
  return (a == abi::Clock::MonotonicRaw) == (b == abi::Clock::MonotonicRaw);
}

}  // namespace

struct ProcessDrain::Visitor {
  ProcessDrain& process;
  Ring& ring;
  void record(const RingRecord& record) { process.put(ring, record); }
  void lost(uint64_t events) { process.lose(ring, events); }
};

ProcessDrain::ProcessDrain(SharedRings rings, const DrainOptions& options)
    : process_(std::move(rings.process)),
      lives_(std::move(rings.lives)),
      memory_(std::move(rings.memory)),
      slot_(rings.slot),
      begin_(rings.begin),
      options_(options),
      lost_before_(begin_ == Begin::Head ? memory_->lost_outside() : 0),
      rings_(size_t{memory_->layout().rings} + 1),
      filter_(options.filters, options.sites, process_.pid) {}

bool ProcessDrain::has_ended() const {
  pollfd ended{lives_.get(), POLLIN, 0};
  return is_unmapped_ || poll(&ended, 1, 0) > 0;
}

void ProcessDrain::look_whether_mapped() {
  struct stat memory {};
  fstat(memory_->descriptor(), &memory);
  const std::string inode = " " + std::to_string(memory.st_ino) + " ";
  std::ifstream maps("/proc/" + std::to_string(process_.pid) + "/maps");
  is_unmapped_ = maps.is_open();
  for (std::string line; std::getline(maps, line);)
    if (line.find(RingMemory::kName) != std::string::npos && line.find(inode) != std::string::npos)
      is_unmapped_ = false;
}

ProcessDrain::Ring& ProcessDrain::open_ring(uint32_t number) {
  auto ring = std::make_unique<Ring>(memory_->layout(), number);
  ring->reader.start_at(memory_->bytes(), slot_.position(number), begin_ == Begin::Head);
  return *(rings_[number] = std::move(ring));
}

Status ProcessDrain::drain(ProgramTraces& traces) {
  traces_ = &traces;
  ++drained_;
  if (filter_.is_active()) read_dictionary();
  const RingLayout& layout = memory_->layout();
  for (uint32_t number = 0; number < rings_.size() && status_; ++number) {
    if (!rings_[number] && !memory_->is_used(number)) continue;
    Ring& ring = rings_[number] ? *rings_[number] : open_ring(number);
    // What a full ring holds may begin within a block, hence one more; and only the reading that
    // finds nothing tells what was lost behind the last record.
    const uint64_t readings = layout.capacity() / layout.block() + 2;
    for (uint64_t i = 0; i < readings && status_; ++i) {
      if (!ring.reader.read_block(memory_->bytes(), Visitor{*this, ring})) break;
      slot_.take(number, ring.reader.position());
    }
    tell_damage(ring);
  }
  // Somebody else may be slower; or dead, and keep it so for ever.
  if (is_half_full()) slot_.free_dead();
  return status_;
}

bool ProcessDrain::is_urgent() const {
  const uint64_t half = memory_->layout().capacity() / 2;
  for (uint32_t number = 0; number < rings_.size(); ++number) {
    const Ring* ring = rings_[number].get();
    if (ring == nullptr
            ? memory_->filled(number, slot_.position(number)) > half
            : !ring->reader.broken() && memory_->filled(number, ring->reader.position()) > half)
      return true;
  }
  return false;
}

bool ProcessDrain::is_half_full() const {
  for (uint32_t number = 0; number < rings_.size(); ++number)
    if (memory_->filled(number) > memory_->layout().capacity() / 2) return true;
  return false;
}

const uint32_t* ProcessDrain::set_alarm() {
  if (false_alarms_ > kMostFalseAlarms) return nullptr;
  memory_->say_asleep();
  return memory_->asleep();
}

// The word stays as it is: another session may wait for it. At worst a program wakes nobody. Where
// it was another session that was slow, the alarm is false for us, but not for ever.
void ProcessDrain::end_alarm() {
  if (is_urgent())
    false_alarms_ = 0;
  else if (load_once<uint32_t>(reinterpret_cast<const std::byte*>(memory_->asleep())) != 1)
    false_alarms_ = std::min(false_alarms_ + 1, kMostFalseAlarms + 1);
}

Status ProcessDrain::flush() {
  for (const auto& ring : rings_) {
    if (!status_) break;
    // A loss before the first event has no time yet: it is told with that event, or at the end.
    if (ring && ring->out != nullptr && ring->out->events() > 0) status_ = ring->out->flush();
  }
  return status_;
}

void ProcessDrain::look_after_readers() {
  slot_.free_dead();
  read_dictionary();
}

bool ProcessDrain::leave() {
  has_left_ = !slot_.leave();
  if (!has_left_) memory_->clock_word().close();
  return !has_left_;
}

Status ProcessDrain::finish(ProgramTraces& traces) {
  if (!has_left_)
    if (Status status = drain(traces); !status) return status;
  if (const uint64_t lost = memory_->lost_outside(); lost > lost_before_) {
    Ring* first = nullptr;
    for (const auto& ring : rings_)
      if (first == nullptr && ring) first = ring.get();
    lose(first != nullptr ? *first : open_ring(memory_->layout().rings), lost - lost_before_);
  }
  return end_streams();
}

void ProcessDrain::choose_again() {
  forms_.clear();
  searched_ = 0;
  found_chosen_ = false;
  filter_.choose_again();
  read_dictionary();
}

Status ProcessDrain::end_streams() {
  const uint64_t now = options_.has_ended ? now_ : probe::read_clock(options_.clock);
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

bool ProcessDrain::open_trace() {
  if (trace_ != nullptr) return true;
  read_dictionary();
  const Result<ProgramTrace*> trace = traces_->of(process_.program, dictionary_.size());
  if (trace)
    trace_ = *trace;
  else
    status_ = trace.error();
  return trace_ != nullptr;
}

ctf::StreamWriter* ProcessDrain::stream_of(Ring& ring) {
  if (ring.out != nullptr) [[likely]]
    return ring.out;
  if (!open_trace()) return nullptr;
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
    read_dictionary();
    site = dictionary_.find(id);
  }
  if (site == nullptr) return nullptr;
  forms_.resize(dictionary_.size());
  const EventForm*& form = forms_[id - abi::kFirstId];
  if (!options_.sites.takes(process_.pid, *site)) return form = &kOthers;
  return open_trace() ? form = trace_->form_of(*site) : nullptr;
}

// Where it does not tell of any site, we cannot know: then it counts.
bool ProcessDrain::has_chosen_sites() {
  if (options_.sites.empty() || found_chosen_) return true;
  read_dictionary();
  for (; searched_ < dictionary_.size() && !found_chosen_; ++searched_) {
    const Site* site = dictionary_.find(abi::kFirstId + static_cast<uint32_t>(searched_));
    found_chosen_ = site != nullptr && options_.sites.takes(process_.pid, *site);
  }
  return found_chosen_ || dictionary_.size() == 0;
}

void ProcessDrain::read_dictionary() {
  // What is wrong in it shows by the sites that are missing.
  (void)dictionary_.update(memory_->bytes(), memory_->layout());
  filter_.update(dictionary_, *memory_, slot_.number());
}

bool ProcessDrain::is_wanted(const RingRecord& record) {
  if (dictionary_.find(record.id) == nullptr) read_dictionary();
  const Site* site = dictionary_.find(record.id);
  const bool is_span = site != nullptr && site->kind == abi::SiteKind::Span &&
                       record.payload.size() >= sizeof(uint64_t);
  return filter_.passes(record.id, record.payload, is_span ? duration_of(record) : 0);
}

// In ns, of a record that has the room for its begin.
uint64_t ProcessDrain::duration_of(const RingRecord& span) const {
  const auto begin = load_once<uint64_t>(span.payload.data());
  const auto ticks = static_cast<double>(span.time - std::min(begin, span.time));
  return static_cast<uint64_t>(ticks * traces_->nanoseconds_a_tick() + 0.5);
}

// No event can be. Such a one would hold up, or move, all that come behind it.
bool ProcessDrain::is_in_the_future(uint64_t time) {
  if (time <= now_) [[likely]]
    return false;
  now_ = options_.has_ended ? time : probe::read_clock_ordered(options_.clock);
  return time > now_;
}

void ProcessDrain::put(Ring& ring, const RingRecord& record) {
  if (filter_.is_active() && !is_wanted(record)) return;
  const EventForm* form = form_of(record.id);
  if (form == &kOthers) return;
  if (form == nullptr || !is_same_counter(record.clock, options_.clock) ||
      is_in_the_future(record.time))
    return lose(ring, 1);
  ctf::StreamWriter* out = stream_of(ring);
  if (out == nullptr) return;
  size_t size = form->size;
  if (!form->is_fixed) {
    const std::optional<size_t> found = payload_size(*dictionary_.find(record.id), record.payload);
    if (!found) return lose(ring, 1);
    size = *found;
  }
  const size_t added =
      trace_->context_size() + (form->is_span ? sizeof(uint64_t) : 0) + (form->is_fixed ? 0 : 1);
  if (size > record.payload.size() || written_ + size + added > options_.quota)
    return lose(ring, 1);

  std::byte* at = out->reserve(form->id, record.time, size + added);
  if (at == nullptr) {
    status_ = out->status();
    return;
  }
  if (trace_->context_size() != 0) [[unlikely]]
    at = trace_->put_contexts(at, record.contexts);
  Bytes payload = record.payload.first(size);
  if (form->is_span) {
    const uint64_t duration = duration_of(record);
    std::memcpy(at, payload.data(), sizeof(uint64_t));  // its begin
    std::memcpy(at + sizeof(uint64_t), &duration, sizeof duration);
    at += 2 * sizeof(uint64_t);
    payload = payload.subspan(sizeof(uint64_t));
  }
  if (!payload.empty()) std::memcpy(at, payload.data(), payload.size());
  if (!form->is_fixed) at[payload.size()] = std::byte{record.truncated};
  written_ += size + added;
  ++trace_->totals.events;
  trace_->totals.bytes += size + added;
}

void ProcessDrain::lose(Ring& ring, uint64_t events) {
  if (!has_chosen_sites()) return;
  ctf::StreamWriter* out = stream_of(ring);
  if (out == nullptr) return;
  trace_->totals.lost += events;
  if (!out->discard(events)) status_ = out->status();
}

void ProcessDrain::tell_damage(Ring& ring) {
  if (ring.reader.damaged() == ring.damaged && ring.reader.broken() == ring.was_broken) return;
  ring.damaged = ring.reader.damaged();
  ring.was_broken = ring.reader.broken();
  if (!has_chosen_sites()) return;
  ctf::StreamWriter* out = stream_of(ring);
  if (out == nullptr) return;
  ++trace_->totals.lost_unknown;
  if (!out->discard_unknown()) status_ = out->status();
}

Status drain_copy(TracedProcess process, RingMemory copy, const DrainOptions& options,
                  ProgramTraces& traces) {
  const auto memory = std::make_shared<RingMemory>(std::move(copy));
  const std::optional<ReaderSlot> slot = ReaderSlot::claim(*memory, Begin::Tail);
  if (!slot) return Error{"", std::nullopt, "cannot lock a copy of a program's rings"};
  ProcessDrain drain({std::move(process), {}, memory, *slot, Begin::Tail}, options);
  return drain.finish(traces);
}

}  // namespace strata::collect
