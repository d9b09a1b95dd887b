// SPDX-License-Identifier: Apache-2.0
#include "record/core_recovery.h"

#include <chrono>
#include <thread>

#include "base/new_folder.h"
#include "collect/core_rings.h"
#include "collect/process_drain.h"
#include "record/host_clock.h"
#include "record/program_parts.h"
#include "record/running_session.h"

namespace strata::record {
namespace abi = probe::abi;
namespace {

// Between the two anchors through which the clock's line goes.
constexpr std::chrono::milliseconds kBetweenAnchors(100);

// The one that the program read last.
Result<HostClock> clock_of(const collect::RingMemory& memory) {
  const bool is_raw = memory.clock() == abi::Clock::MonotonicRaw;
  Result<HostClock> clock = HostClock::choose(is_raw ? "mono_raw" : "x86-tsc");
  if (!clock) return clock;
  std::this_thread::sleep_for(kBetweenAnchors);
  clock->take_anchor();
  return clock;
}

}  // namespace

Result<RecoveredCore> recover_core(const std::string& path, const std::string& folder) {
  const Result<elf::ElfFile> core = elf::ElfFile::open(path);
  if (!core) return core.error();
  Result<std::vector<collect::CoreRings>> found = collect::find_core_rings(*core);
  if (!found) return std::move(found).error();
  if (found->empty())
    return Error{path, {}, "holds no rings of probes (coredump_filter leaves them out?)"};
  const Result<HostClock> clock = clock_of(found->front().memory);
  if (!clock) return clock.error();
  Result<NewFolder> made = NewFolder::create(folder);
  if (!made) return std::move(made).error();

  uint32_t contexts = 0;
  for (const collect::CoreRings& rings : *found) contexts |= rings.memory.contexts();
  collect::ProgramTraces traces(folder, clock->ctf_clock(), contexts);
  collect::DrainOptions options;
  options.clock = found->front().memory.clock();
  options.has_ended = true;
  for (collect::CoreRings& rings : *found)
    if (Status status =
            collect::drain_copy(std::move(rings.process), std::move(rings.memory), options, traces);
        !status)
      return std::move(status).error();
  if (Status status = traces.finish(); !status) return std::move(status).error();

  recording::Description description = describe({}, *clock, 0);
  description.sessions.clear();
  description.parts = program_parts(traces.told(), clock->state_clock_name(), true);
  RecoveredCore recovered;
  for (const collect::ProgramTraces::Told& trace : traces.told()) {
    recovered.events += trace.totals.events;
    recovered.lost += trace.totals.lost;
  }
  for (recording::Part& part : description.parts) part.machine = description.machines.front().name;
  if (Status status = recording::write_description(folder, description); !status)
    return std::move(status).error();
  made->keep();
  return recovered;
}

}  // namespace strata::record
