// SPDX-License-Identifier: Apache-2.0
#include "recording/shared_clocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "format/ctf/ctf_trace.h"
#include "format/tracedat/trace_dat.h"

namespace strata::recording {
namespace {

using Chain = std::vector<trace::ClockMap>;

// A guest's guest is two hops from the host; nobody nests deeper than this.
constexpr size_t kMostHops = 8;

// By the name of the clock: what the trace.dat files of hosts say of theirs.
std::map<std::string, Chain> chains_of_hosts(
    const Description& description, std::span<const Part> parts,
    std::span<const std::unique_ptr<trace::Trace>> traces) {
  std::map<std::string, Chain> chains;
  for (size_t i = 0; i < traces.size(); ++i) {
    const auto* kernel = dynamic_cast<const tracedat::TraceDat*>(traces[i].get());
    if (kernel == nullptr || !kernel->info().since_epoch || is_of_guest(description, parts[i]))
      continue;
    Chain chain = kernel->clock_options().chain(0);
    if (chain.size() == 1) chains.emplace(parts[i].clock, std::move(chain));
  }
  return chains;
}

// From a guest's clock by the maps to a host's, and on as that goes.
std::optional<Chain> chain_of_guest(const Description& description, const Part& part,
                                    const std::map<std::string, Chain>& hosts) {
  Chain chain;
  std::string clock = part.clock;
  for (size_t hops = 0; hops < kMostHops; ++hops) {
    const trace::ClockMap* map = map_from(description, clock, hops == 0 ? part.segment : 0);
    if (map == nullptr) return std::nullopt;
    chain.push_back(*map);
    clock = map->to;
    if (clock == "epoch") return chain;
    if (const auto host = hosts.find(clock); host != hosts.end()) {
      chain.push_back(host->second.front());
      return chain;
    }
  }
  return std::nullopt;
}

void use(trace::Trace& trace, Chain chain) {
  if (auto* kernel = dynamic_cast<tracedat::TraceDat*>(&trace))
    kernel->use_clock(std::move(chain));
  else if (auto* ctf = dynamic_cast<ctf::CtfTrace*>(&trace))
    ctf->use_clock(std::move(chain));
}

}  // namespace

const trace::ClockMap* map_from(const Description& description, const std::string& clock,
                                uint32_t segment) {
  const auto found = std::ranges::find_if(description.maps, [&](const trace::ClockMap& map) {
    return map.from == clock && map.segment == segment;
  });
  return found != description.maps.end() ? &*found : nullptr;
}

const Machine* find_machine(const Description& description, const std::string& name) {
  const auto found = std::ranges::find(description.machines, name, &Machine::name);
  return found != description.machines.end() ? &*found : nullptr;
}

bool is_of_guest(const Description& description, const Part& part) {
  const Machine* machine = find_machine(description, part.machine);
  return machine != nullptr && machine->kind == "guest";
}

void share_clocks(const Description& description, std::span<const Part> parts,
                  std::span<const std::unique_ptr<trace::Trace>> traces) {
  const std::map<std::string, Chain> hosts = chains_of_hosts(description, parts, traces);
  for (size_t i = 0; i < traces.size(); ++i) {
    if (!is_of_guest(description, parts[i])) {
      const auto shared = hosts.find(parts[i].clock);
      const bool is_ctf = dynamic_cast<ctf::CtfTrace*>(traces[i].get()) != nullptr;
      if (is_ctf && shared != hosts.end()) use(*traces[i], shared->second);
      continue;
    }
    const Machine& guest = *find_machine(description, parts[i].machine);
    traces[i]->set_machine(guest.name, guest.boot_id);
    if (std::optional<Chain> chain = chain_of_guest(description, parts[i], hosts))
      use(*traces[i], *std::move(chain));
  }
}

}  // namespace strata::recording
