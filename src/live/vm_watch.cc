// SPDX-License-Identifier: Apache-2.0
#include "live/vm_watch.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/small_file.h"
#include "kernel/perf_event.h"
#include "kernel/process_state.h"
#include "kernel/tracefs.h"
#include "kernel/tracepoint.h"
#include "kernel/vm_state.h"
#include "live/bpf/vms.skel.h"
#include "live/exit_reasons.h"
#include "live/moment.h"

namespace strata::live {
namespace {

// From the command line of its process; empty: it does not tell.
std::string name_of_machine(int32_t pid) {
  constexpr size_t kMostArguments = size_t{1} << 20;
  kernel::VirtualMachine machine;
  const std::string file = "/proc/" + std::to_string(pid) + "/cmdline";
  if (const auto text = read_small_file(file, kMostArguments))
    kernel::read_qemu_arguments(*text, machine);
  return machine.name;
}

// That the kernel writes this event as the program reads it.
bool has_fields(const trace::EventType& exit) {
  const std::pair<const char*, size_t> fields[] = {{"exit_reason", offsetof(ExitRecord, reason)},
                                                   {"isa", offsetof(ExitRecord, isa)},
                                                   {"vcpu_id", offsetof(ExitRecord, vcpu)}};
  return std::ranges::all_of(fields, [&](const auto& wanted) {
    const trace::Field* field = exit.find(wanted.first);
    return field != nullptr && field->offset == wanted.second && field->size == sizeof(uint32_t);
  });
}

// That it is one of those on KVM's events, and that this kernel has the event.
bool is_of_kvm(const kernel::Tracefs& tracefs, const bpf_program* program) {
  constexpr std::string_view kByName = "raw_tp/";
  const std::string_view section = bpf_program__section_name(program);
  if (!section.starts_with(kByName)) return section == "tracepoint";
  const std::string name(section.substr(kByName.size()));
  return tracefs.has("events/kvm/" + name + "/format");
}

}  // namespace

Result<std::unique_ptr<VmWatch>> VmWatch::open(const TaskPrograms& tasks, const Limits& limits) {
  const std::string what = "to watch virtual machines";
  std::unique_ptr<VmWatch> watch(new VmWatch(tasks));
  auto opened = kernel::open_ebpf<::vms>(what);
  if (!opened) return std::move(opened).error();
  watch->programs_ = std::move(*opened);
  ::vms& all = *watch->programs_;
  const Memory& memory = tasks.memory();
  bpf_map__set_max_entries(all.maps.vcpus, limits.vcpus);
  bpf_map__set_max_entries(all.maps.vcpu_places, static_cast<uint32_t>(memory.tasks.size()));
  bpf_map__set_max_entries(all.maps.guest_cpus, static_cast<uint32_t>(memory.cpus.size()));
  if (Status status = tasks.share_with(all.obj); !status) return std::move(status).error();
  if (Status status = kernel::load_ebpf(watch->programs_, what); !status)
    return std::move(status).error();
  for (const auto& [from, to] :
       {std::pair{all.maps.vcpus, &watch->vcpus_}, std::pair{all.maps.vcpu_places, &watch->places_},
        std::pair{all.maps.guest_cpus, &watch->guest_cpus_},
        std::pair{all.maps.halt_reasons, &watch->halts_}}) {
    Result<MappedMap> mapped = MappedMap::of(from, bpf_map__name(from));
    if (!mapped) return std::move(mapped).error();
    *to = std::move(*mapped);
  }
  put_halts(watch->halts_.values<HaltReasons>()[0]);
  watch->rows_ = std::make_unique<VmRows>(
      memory,
      VcpuMemory{watch->vcpus_.values<VcpuSlot>(), watch->places_.values<VcpuPlace>(),
                 watch->guest_cpus_.values<const GuestCpu>()},
      name_of_machine);
  if (Status status = attach_all(all.obj, watch->links_); !status) return std::move(status).error();
  if (Status status = watch->attach_to_kvm(); !status) return std::move(status).error();
  watch->add_those_there_are();
  return watch;
}

VmWatch::VmWatch(const TaskPrograms& tasks) : tasks_(tasks) {}

VmWatch::~VmWatch() = default;

// Where there is no KVM, nothing is done. What a kernel's KVM has no event for is 0.
Status VmWatch::attach_to_kvm() {
  const Result<kernel::Tracefs> tracefs = kernel::Tracefs::find();
  if (!tracefs) return tracefs.error();
  if (!tracefs->has("events/kvm/kvm_exit/format")) return {};
  const Result<trace::EventType> exit = kernel::find_tracepoint(*tracefs, "kvm:kvm_exit");
  if (!exit) return exit.error();
  if (!has_fields(*exit))
    return Error{"", std::nullopt, "this kernel tells of exits from guests in an unknown way"};
  FileDescriptor event(
      kernel::open_perf_event(kernel::perf_attributes(PERF_TYPE_TRACEPOINT, exit->id), -1, 0, -1));
  if (!event) return refused("to watch exits from guests", errno);

  std::vector<Link> links;
  for (bpf_program* program = nullptr;
       (program = bpf_object__next_program(programs_->obj, program)) != nullptr;) {
    if (!is_of_kvm(*tracefs, program)) continue;
    Result<Link> link = program == programs_->progs.on_exit
                            ? Link::attach(program, std::move(event))
                            : Link::attach(program);
    if (!link) return std::move(link).error();
    links.push_back(std::move(*link));
  }
  kvm_links_ = std::move(links);
  return {};
}

// What is found in /proc once: machines whose guests do nothing, and those without KVM.
void VmWatch::add_those_there_are() {
  constexpr auto kAnyClock = kernel::StateClock::MonotonicRaw;
  const Result<kernel::ProcessState> state = kernel::gather_processes(kAnyClock);
  if (!state) return;
  for (const kernel::VirtualMachine& machine : kernel::find_machines(state->processes, kAnyClock))
    for (const kernel::Vcpu& vcpu : machine.vcpus) rows_->add(vcpu.tid, vcpu.number, now());
}

void VmWatch::tell(uint64_t begin, uint64_t end, bool tells_calls, period::Machine& machine) {
  rows_->tell(begin, end, tells_calls, machine);
  for (const period::TaskRow& row : machine.tasks) {
    const auto number = kernel::vcpu_of_thread_name(row.name);
    if (!number || row.has_ended || rows_->has_told(row.tid)) continue;
    rows_->add(row.tid, number, end);
    // KVM has been loaded since.
    if (kvm_links_.empty()) (void)attach_to_kvm();
  }
}

}  // namespace strata::live
