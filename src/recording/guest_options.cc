// SPDX-License-Identifier: Apache-2.0
#include "recording/guest_options.h"

#include <algorithm>
#include <optional>

#include "base/mapped_file.h"
#include "format/tracedat/guest_option.h"
#include "format/tracedat/layout.h"
#include "recording/shared_clocks.h"

namespace strata::recording {
namespace {

using tracedat::NewOption;
using tracedat::OptionId;

// Between two samples trace-cmd multiplies the change of the offset by a time: with clocks that are
// apart by a tenth of a thousandth, 2^36 ticks keep that within 64 bits.
constexpr uint64_t kFarthest = uint64_t{1} << 36;
constexpr uint64_t kMostSamples = 4096;
constexpr uint32_t kMostCpus = 8192;

const Part* find_kernel(const Description& description, const Machine& machine) {
  const auto found = std::ranges::find_if(description.parts, [&](const Part& part) {
    return part.kind == "tracedat" && part.machine == machine.name;
  });
  return found != description.parts.end() ? &*found : nullptr;
}

const Machine* find_host(const Description& description) {
  const auto found = std::ranges::find(description.machines, "host", &Machine::kind);
  return found != description.machines.end() ? &*found : nullptr;
}

// A trace.dat of the folder, for what it says besides its events.
class Head {
 public:
  static std::optional<Head> read(const std::string& folder, const Part* part) {
    if (part == nullptr) return std::nullopt;
    Result<MappedFile> file = MappedFile::open(folder + "/" + part->file);
    if (!file) return std::nullopt;
    Result<tracedat::Layout> layout = tracedat::read_layout(*file);
    if (!layout) return std::nullopt;
    return Head(*std::move(file), *std::move(layout));
  }

  const tracedat::Option* find(OptionId id) const { return layout_.find(id); }
  ByteOrder order() const { return layout_.target.order; }
  uint64_t trace_id() const {
    const tracedat::Option* id = find(OptionId::TraceId);
    return id != nullptr ? ByteReader(id->data, order()).u64() : 0;
  }
  // Of an unfinished file no page tells.
  uint32_t cpus() const {
    const tracedat::Option* count = find(OptionId::CpuCount);
    const uint32_t told = count != nullptr ? ByteReader(count->data, order()).u32() : 0;
    return std::min(std::max(told, layout_.cpus), kMostCpus);
  }

 private:
  Head(MappedFile file, tracedat::Layout layout)
      : file_(std::move(file)), layout_(std::move(layout)) {}

  MappedFile file_;
  tracedat::Layout layout_;
};

}  // namespace

std::vector<tracedat::ShiftSample> shift_samples(const trace::ClockMap& map) {
  std::vector<tracedat::ShiftSample> samples;
  const auto add = [&](uint64_t time) {
    if (!samples.empty() && samples.back().time >= time) return;
    samples.push_back(
        {.time = time, .offset = static_cast<int64_t>(static_cast<uint64_t>(map.at(time)) - time)});
  };
  const std::vector<trace::ClockPiece>& pieces = map.pieces();
  const uint64_t begin = pieces.front().t0;
  const uint64_t end = pieces.back().t0 + kFarthest;
  const uint64_t step = std::max(kFarthest, (end - begin) / kMostSamples);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const uint64_t until = i + 1 < pieces.size() ? pieces[i + 1].t0 : end;
    for (uint64_t time = pieces[i].t0; time < until; time += step) add(time);
    add(until - 1);  // where the next piece begins elsewhere, that is no slope
  }
  add(end);
  return samples;
}

std::vector<NewOption> options_of_host(const std::string& folder, const Description& description) {
  std::vector<NewOption> options;
  for (const Machine& machine : description.machines) {
    if (machine.kind != "guest") continue;
    const auto file = Head::read(folder, find_kernel(description, machine));
    if (!file) continue;
    trace::GuestInfo guest{machine.name, file->trace_id(), {}};
    for (uint32_t cpu = 0; cpu < file->cpus(); ++cpu)
      guest.vcpus.push_back(Tid{cpu < machine.vcpus.size() ? machine.vcpus[cpu] : -1});
    options.push_back({OptionId::Guest, tracedat::encode_guest(guest, kNativeOrder)});
  }
  return options;
}

std::vector<NewOption> options_of_guest(const std::string& folder, const Description& description,
                                        const Part& guest) {
  const Machine* host = find_host(description);
  const Part* kernel = host != nullptr ? find_kernel(description, *host) : nullptr;
  const auto file = Head::read(folder, kernel);
  const auto own = Head::read(folder, &guest);
  const trace::ClockMap* map = map_from(description, guest.clock, guest.segment);
  if (!file || !own || map == nullptr || map->to != kernel->clock) return {};
  tracedat::TimeShift shift{file->trace_id(), true, {}};
  shift.cpus.assign(own->cpus(), shift_samples(*map));
  std::vector<NewOption> options;
  options.push_back({OptionId::TimeShift, tracedat::encode_time_shift(shift, own->order())});
  for (const OptionId id : {OptionId::Date, OptionId::Offset, OptionId::Tsc2Nsec}) {
    if (const tracedat::Option* option = file->find(id))
      options.push_back({id, {option->data.begin(), option->data.end()}});
  }
  return options;
}

}  // namespace strata::recording
