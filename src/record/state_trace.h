// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "format/ctf/metadata_writer.h"
#include "kernel/machine_state.h"
#include "record/host_clock.h"
#include "recording/description.h"

namespace strata::record {

constexpr const char* kStateFolder = "host-state";  // within a recording

// Writes the starting state as a CTF 1.8 trace of one stream, in the folder, which is made; nobody
// but its owner may read it. Each event has the time at which what it tells was read.
//
// What LTTng's kernel tracer tells of the state when it begins has LTTng's names and fields
// (lttng_statedump_start, _process_state, _file_descriptor, _block_device, _interrupt,
// _network_interface, _cpu_topology, _end), so that its readers take it. `dev` is the kernel's own
// number of a device, 20 bits of it the minor one. mode and submode are "unknown": nobody can tell
// from outside. What LTTng does not tell has names of ours:
//
//   strata_statedump_cpu        cpu_id, socket, core, node, min_khz, max_khz
//   strata_statedump_address    index, name, address: of a network interface, of whatever family
//   strata_statedump_process    pid, ppid, uid, gid, euid, rss_kb, threads, descriptors_known
//   strata_statedump_thread     tid, pid, start_ns (CLOCK_BOOTTIME), pids: its number in each pid
//                               namespace from the outermost to its own
//   strata_statedump_cgroup     pid, path, container_kind, container_name
//   strata_statedump_namespaces pid, and the inode number of each
//   strata_statedump_socket     inode (a descriptor's filename has it: "socket:[17]"), net_ns,
//                               protocol, local, peer, state
//   strata_statedump_vm         pid, kvm, name, uuid, vcpus
//   strata_statedump_vcpu       pid, tid, vcpu
//
// `clock` describes the clock of state.clock: name, frequency, what its reading 0 is, and the
// machine's identity.
Status write_state(const std::string& folder, const kernel::MachineState& state,
                   const ctf::NewClock& clock, uint64_t* events = nullptr);

// Gathers the state as it is now and writes it into a recording's folder, of which it is this part.
Result<recording::Part> add_state(const std::string& recording, const HostClock& clock);

}  // namespace strata::record
