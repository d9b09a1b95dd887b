// SPDX-License-Identifier: Apache-2.0
#include "record/state_trace.h"

#include <sys/utsname.h>

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "format/ctf/writer.h"

namespace strata::record {
namespace {

using ctf::integer_field;
using ctf::NewField;
using ctf::string_field;
using ctf::Value;

NewField s32(std::string name) { return integer_field(std::move(name), 32, true); }
NewField u8(std::string name) { return integer_field(std::move(name), 8, false); }
NewField u16(std::string name) { return integer_field(std::move(name), 16, false); }
NewField u32(std::string name) { return integer_field(std::move(name), 32, false); }
NewField u64(std::string name) { return integer_field(std::move(name), 64, false); }

// As it goes over the wire, whatever the machine's byte order is.
NewField ipv4(std::string name) {
  NewField field = integer_field(std::move(name), 32, false, 16);
  field.order = ByteOrder::Big;
  return field;
}

// LTTng's numbers for a thread.
constexpr int32_t kUserThread = 0;
constexpr int32_t kKernelThread = 1;
constexpr int32_t kUnknownMode = 5;
constexpr int32_t kNoSubmode = 0;

// Whether a thread that can run does run is for the trace to tell.
int32_t status_of(char state) {
  switch (state) {
    case 'R':
      return 2;  // waits for a CPU
    case 'Z':
      return 4;
    case 'X':
    case 'x':
      return 7;  // dead
    case '?':
      return 0;
    default:
      return 5;  // waits
  }
}

uint32_t opened_for(const kernel::Descriptor& descriptor) {
  return (descriptor.reads ? 1u : 0u) | (descriptor.writes ? 2u : 0u);
}

// The access mode of open(2): reading is 0, writing 1, both 2.
uint32_t open_flags(const kernel::Descriptor& descriptor) {
  if (!descriptor.writes) return 0;
  return descriptor.reads ? 2 : 1;
}

class StateWriter {
 public:
  StateWriter(ctf::Writer& writer, ctf::StreamClassId stream_class, ctf::StreamWriter& out)
      : writer_(writer), stream_class_(stream_class), out_(out) {}

  void write(const kernel::MachineState& state);
  Status status() const { return status_; }

 private:
  // An event type, declared when its first event comes.
  struct Type {
    ctf::NewEventType declaration;
    std::optional<ctf::EventId> id;
  };

  template <typename... Values>
  void event(Type& type, uint64_t time, const Values&... values) {
    if (!status_) return;
    if (!type.id) {
      Result<ctf::EventId> id = writer_.add_event_type(stream_class_, type.declaration);
      if (!id) {
        status_ = std::move(id).error();
        return;
      }
      type.id = *id;
    }
    const std::array<Value, sizeof...(values)> all = {Value(values)...};
    if (out_.write(*type.id, time, type.declaration.fields, all)) return;
    status_ = out_.status() ? Status(Error{"", std::nullopt,
                                           type.declaration.name + " with values that do not fit"})
                            : out_.status();
  }
  void write_devices(const kernel::DeviceState& devices);
  void write_process(const kernel::Process& process);
  void write_thread(const kernel::Process& process, const kernel::Thread& thread);
  void write_sockets(const kernel::SocketTable& table);
  void write_machine(const kernel::VirtualMachine& machine);

  // The process's number in the pid namespace of that depth; 0: it is not seen from there.
  int32_t pid_at(int32_t pid, size_t level) const {
    const auto found = pids_.find(pid);
    return found != pids_.end() && level < found->second->size() ? (*found->second)[level] : 0;
  }

  ctf::Writer& writer_;
  ctf::StreamClassId stream_class_;
  ctf::StreamWriter& out_;
  Status status_;
  std::unordered_map<int32_t, const std::vector<int32_t>*> pids_;

  Type start_{{"lttng_statedump_start", {}}, {}};
  Type end_{{"lttng_statedump_end", {}}, {}};
  Type topology_{
      {"lttng_statedump_cpu_topology",
       {string_field("architecture"), u16("cpu_id"), string_field("vendor"), u8("family"),
        u8("model"), string_field("model_name"), u16("physical_id"), u16("core_id"), u16("cores")}},
      {}};
  Type cpu_{
      {"strata_statedump_cpu",
       {u32("cpu_id"), u32("socket"), u32("core"), u32("node"), u64("min_khz"), u64("max_khz")}},
      {}};
  Type block_device_{{"lttng_statedump_block_device", {u32("dev"), string_field("diskname")}}, {}};
  Type interrupt_{{"lttng_statedump_interrupt",
                   {u32("irq"), string_field("name"), string_field("action"), s32("tid")}},
                  {}};
  Type interface_{
      {"lttng_statedump_network_interface", {string_field("name"), ipv4("address_ipv4")}}, {}};
  Type address_{
      {"strata_statedump_address", {u32("index"), string_field("name"), string_field("address")}},
      {}};
  Type process_state_{{"lttng_statedump_process_state",
                       {s32("tid"), s32("vtid"), s32("pid"), s32("vpid"), s32("ppid"), s32("vppid"),
                        ctf::text_field("name", 16), s32("type"), s32("mode"), s32("submode"),
                        s32("status"), s32("ns_level"), u32("ns_inum"), u32("cpu")}},
                      {}};
  Type process_{{"strata_statedump_process",
                 {s32("pid"), s32("ppid"), s32("uid"), s32("gid"), s32("euid"), u64("rss_kb"),
                  u32("threads"), u8("descriptors_known")}},
                {}};
  Type thread_{{"strata_statedump_thread",
                {s32("tid"), s32("pid"), integer_field("start_ns", 64, true),
                 ctf::sequence_field(s32("pids"))}},
               {}};
  Type cgroup_{{"strata_statedump_cgroup",
                {s32("pid"), string_field("path"), string_field("container_kind"),
                 string_field("container_name")}},
               {}};
  Type namespaces_{{"strata_statedump_namespaces",
                    {s32("pid"), u32("cgroup"), u32("ipc"), u32("mnt"), u32("net"), u32("pid_ns"),
                     u32("time"), u32("user"), u32("uts")}},
                   {}};
  Type descriptor_{{"lttng_statedump_file_descriptor",
                    {s32("pid"), s32("fd"), integer_field("flags", 32, false, 8),
                     integer_field("fmode", 32, false, 16), string_field("filename")}},
                   {}};
  Type socket_{{"strata_statedump_socket",
                {u64("inode"), u32("net_ns"), string_field("protocol"), string_field("local"),
                 string_field("peer"), string_field("state")}},
               {}};
  Type vm_{{"strata_statedump_vm",
            {s32("pid"), u8("kvm"), string_field("name"), string_field("uuid"), u32("vcpus")}},
           {}};
  Type vcpu_{{"strata_statedump_vcpu", {s32("pid"), s32("tid"), u32("vcpu")}}, {}};
};

void StateWriter::write(const kernel::MachineState& state) {
  for (const kernel::Process& process : state.processes.processes)
    if (!process.threads.empty()) pids_.emplace(process.pid, &process.threads.front().pids);
  event(start_, state.begin);
  write_devices(state.devices);
  for (const kernel::Process& process : state.processes.processes) write_process(process);
  for (const kernel::SocketTable& table : state.processes.sockets) write_sockets(table);
  for (const kernel::VirtualMachine& machine : state.machines) write_machine(machine);
  event(end_, state.end);
}

void StateWriter::write_devices(const kernel::DeviceState& devices) {
  const uint64_t time = devices.read_at;
  const kernel::CpuModel& model = devices.model;
  for (const kernel::Cpu& cpu : devices.cpus) {
    event(topology_, time, devices.architecture, cpu.number, model.vendor, model.family,
          model.model, model.name, cpu.socket, cpu.core, model.cores);
    event(cpu_, time, cpu.number, cpu.socket, cpu.core, cpu.node, cpu.min_khz, cpu.max_khz);
  }
  for (const kernel::BlockDevice& device : devices.block_devices)
    event(block_device_, time, device.major << 20 | device.minor, device.name);
  for (const kernel::Interrupt& interrupt : devices.interrupts)
    event(interrupt_, time, interrupt.number, interrupt.chip, interrupt.action, 0);
  for (const kernel::NetworkInterface& interface : devices.interfaces) {
    if (interface.ipv4 != 0) event(interface_, time, interface.name, interface.ipv4);
    event(address_, time, interface.index, interface.name, interface.address);
  }
}

void StateWriter::write_process(const kernel::Process& process) {
  const uint64_t time = process.read_at;
  for (const kernel::Thread& thread : process.threads) write_thread(process, thread);
  event(process_, time, process.pid, process.parent, process.uid, process.gid,
        process.effective_uid, process.rss_kb, process.threads.size(), process.descriptors_known);
  const std::string_view kind = process.container ? process.container->kind : std::string_view();
  const std::string_view name = process.container ? process.container->name : std::string_view();
  event(cgroup_, time, process.pid, process.cgroup, kind, name);
  const kernel::Namespaces& in = process.namespaces;
  event(namespaces_, time, process.pid, in.cgroup, in.ipc, in.mnt, in.net, in.pid, in.time, in.user,
        in.uts);
  for (const kernel::Descriptor& descriptor : process.descriptors)
    event(descriptor_, process.descriptors_at, process.pid, descriptor.number,
          open_flags(descriptor), opened_for(descriptor), descriptor.path);
}

void StateWriter::write_thread(const kernel::Process& process, const kernel::Thread& thread) {
  // Innermost: as the thread knows itself.
  const size_t level = thread.pids.empty() ? 0 : thread.pids.size() - 1;
  event(process_state_, process.read_at, thread.tid,
        thread.pids.empty() ? thread.tid : thread.pids.back(), process.pid,
        pid_at(process.pid, level), process.parent, pid_at(process.parent, level),
        std::string_view(thread.name).substr(0, 15),
        process.kernel_thread ? kKernelThread : kUserThread, kUnknownMode, kNoSubmode,
        status_of(thread.state), static_cast<int32_t>(level), process.namespaces.pid,
        thread.cpu < 0 ? 0 : thread.cpu);
  event(thread_, process.read_at, thread.tid, process.pid, thread.start_ns,
        std::span<const int32_t>(thread.pids));
}

void StateWriter::write_sockets(const kernel::SocketTable& table) {
  for (const kernel::Socket& socket : table.sockets)
    event(socket_, table.read_at, socket.inode, table.net_namespace, socket.protocol, socket.local,
          socket.peer, socket.state);
}

void StateWriter::write_machine(const kernel::VirtualMachine& machine) {
  event(vm_, machine.read_at, machine.pid, machine.kvm, machine.name, machine.uuid,
        machine.vcpu_count);
  for (const kernel::Vcpu& vcpu : machine.vcpus)
    event(vcpu_, machine.read_at, machine.pid, vcpu.tid, vcpu.number);
}

ctf::NewTrace describe(const ctf::NewClock& clock) {
  ctf::NewTrace trace;
  trace.clock = clock;
  utsname machine{};
  uname(&machine);
  // Names and versions by which readers know LTTng's kernel traces.
  trace.environment = {{"hostname", std::string(machine.nodename)},
                       {"domain", "kernel"},
                       {"sysname", std::string(machine.sysname)},
                       {"kernel_release", std::string(machine.release)},
                       {"kernel_version", std::string(machine.version)},
                       {"tracer_name", "lttng-modules"},
                       {"tracer_major", 2},
                       {"tracer_minor", 13},
                       {"tracer_patchlevel", 0},
                       {"trace_buffering_scheme", "global"},
                       {"recorded_by", "strata"}};
  return trace;
}

}  // namespace

Status write_state(const std::string& folder, const kernel::MachineState& state,
                   const ctf::NewClock& clock, uint64_t* events) {
  Result<ctf::Writer> writer = ctf::Writer::create(folder, describe(clock), {.only_owner = true});
  if (!writer) return std::move(writer).error();
  const Result<ctf::StreamClassId> stream_class = writer->add_stream_class({});
  if (!stream_class) return stream_class.error();
  const Result<ctf::StreamWriter*> stream = writer->add_stream(*stream_class, {"state", 0, {}});
  if (!stream) return stream.error();
  StateWriter out(*writer, *stream_class, **stream);
  out.write(state);
  if (!out.status()) return out.status();
  if (events != nullptr) *events = (*stream)->events();
  return writer->finish();
}

Result<recording::Part> add_state(const std::string& recording, const HostClock& clock) {
  const Result<kernel::MachineState> state = kernel::gather_state(clock.state_clock());
  if (!state) return state.error();
  if (Status written = write_state(recording + "/" + kStateFolder, *state, clock.ctf_clock());
      !written)
    return std::move(written).error();
  return recording::Part{.file = kStateFolder,
                         .kind = "ctf",
                         .what = "state",
                         .machine = "",
                         .clock = clock.state_clock_name(),
                         .finished = true};
}

}  // namespace strata::record
