// SPDX-License-Identifier: Apache-2.0
#include "kernel/probe_presets.h"

#include <unistd.h>

#include "base/glob.h"
#include "kernel/running_programs.h"

namespace strata::kernel {
namespace {

// The user-space layer of a hypervisor.
//
// No probe sits at a return, although some of these would tell more there. QEMU's block layer runs
// in coroutines, which have stacks of their own: a function may return on another thread than it
// was called on. The kernel, which keeps the true return address of a probed call with the thread,
// then ends the program.
ProbePreset qemu() {
  // struct kvm_run (linux/kvm.h): exit_reason is at 8; at 32 is what belongs to it, for I/O ports
  // the direction, size and port, for memory-mapped I/O the address.
  static constexpr std::string_view kRun =
      "cpu=arg1:x64 exit_reason=+8(arg2):u32 io_direction=+32(arg2):u8 io_size=+33(arg2):u8 "
      "io_port=+34(arg2):u16 mmio_address=+32(arg2):x64";
  return {
      "qemu",
      "QEMU: each KVM_RUN and what the guest left it for, virtqueues, block I/O",
      {"qemu-system-*", "qemu-kvm", "kvm"},
      {"/usr/bin/qemu-system-x86_64", "/usr/libexec/qemu-kvm", "/usr/bin/qemu-kvm", "/usr/bin/kvm"},
      {
          // The ioctl of a vCPU's thread that runs the guest: in, and out with the reason. 0xae80
          // is KVM_RUN; kvm_arch_post_run comes right behind it, before anything is handled.
          {"kvm_run_enter", "kvm_vcpu_ioctl", "cpu=arg1:x64 type=arg2:x32", "type == 0xae80"},
          {"kvm_run_exit", "kvm_arch_post_run", kRun, ""},
          // What is handled apart from I/O, which goes to address_space_rw.
          {"kvm_handle_exit", "kvm_arch_handle_exit", "cpu=arg1:x64 exit_reason=+8(arg2):u32", ""},
          {"address_space_rw", "address_space_rw",
           "space=arg1:x64 address=arg2:x64 length=arg5:u64 write=arg6:u8", ""},
          // The guest kicks a queue; requests are taken and given back; the guest is interrupted.
          {"virtio_queue_notify", "virtio_queue_notify", "device=arg1:x64 queue=arg2:u32", ""},
          {"virtio_host_notifier", "virtio_queue_host_notifier_read", "notifier=arg1:x64", ""},
          {"virtqueue_pop", "virtqueue_pop", "queue=arg1:x64", ""},
          {"virtqueue_push", "virtqueue_push", "queue=arg1:x64 element=arg2:x64 length=arg3:u32",
           ""},
          {"virtqueue_fill", "virtqueue_fill", "queue=arg1:x64 element=arg2:x64 length=arg3:u32",
           ""},
          {"virtqueue_flush", "virtqueue_flush", "queue=arg1:x64 count=arg2:u32", ""},
          {"virtio_notify", "virtio_notify", "device=arg1:x64 queue=arg2:x64", ""},
          {"virtio_notify_irqfd", "virtio_notify_irqfd", "device=arg1:x64 queue=arg2:x64", ""},
          // Block I/O as the devices ask for it, then as it goes through the layers of an image.
          {"blk_aio_preadv", "blk_aio_preadv", "backend=arg1:x64 offset=arg2:s64", ""},
          {"blk_aio_pwritev", "blk_aio_pwritev", "backend=arg1:x64 offset=arg2:s64", ""},
          {"blk_aio_flush", "blk_aio_flush", "backend=arg1:x64", ""},
          {"blk_aio_pdiscard", "blk_aio_pdiscard",
           "backend=arg1:x64 offset=arg2:s64 bytes=arg3:s64", ""},
          {"bdrv_co_preadv", "bdrv_co_preadv_part", "child=arg1:x64 offset=arg2:s64 bytes=arg3:s64",
           ""},
          {"bdrv_co_pwritev", "bdrv_co_pwritev_part",
           "child=arg1:x64 offset=arg2:s64 bytes=arg3:s64", ""},
          {"bdrv_co_flush", "bdrv_co_flush", "state=arg1:x64", ""},
      },
  };
}

Result<const ProbePreset*> find_preset(std::string_view name) {
  std::string known;
  for (const ProbePreset& preset : probe_presets()) {
    if (preset.name == name) return &preset;
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  return Error{"", std::nullopt,
               "there is no preset '" + std::string(name) + "'; there is: " + known};
}

}  // namespace

const std::vector<ProbePreset>& probe_presets() {
  static const std::vector<ProbePreset> presets = {qemu()};
  return presets;
}

Result<std::vector<ProbeSpec>> preset_specs(std::string_view name,
                                            std::vector<std::string> binaries) {
  Result<const ProbePreset*> preset = find_preset(name);
  if (!preset) return std::move(preset).error();
  if (binaries.empty()) {
    std::vector<Glob> globs;
    for (const std::string_view program : (*preset)->programs)
      globs.emplace_back(std::string(program));
    binaries = running_programs(globs);
  }
  std::string places;
  if (binaries.empty()) {
    for (const std::string_view place : (*preset)->usual_places) {
      places += (places.empty() ? "" : ", ") + std::string(place);
      if (access(std::string(place).c_str(), R_OK) != 0) continue;
      binaries.emplace_back(place);
      break;
    }
  }
  if (binaries.empty())
    return Error{
        "", std::nullopt,
        "preset '" + std::string(name) + "': no such program runs, nor is one at " + places};

  std::vector<ProbeSpec> specs;
  for (const std::string& binary : binaries) {
    for (const PresetProbe& probe : (*preset)->probes) {
      Result<ProbeSpec> spec = parse_uprobe(binary + ":" + std::string(probe.symbol));
      if (!spec) return std::move(spec).error();
      if (Status status = add_arguments(*spec, probe.arguments); !status)
        return std::move(status).error();
      spec->event = probe.event;
      spec->filter = probe.filter;
      spec->optional = true;
      spec->joins = true;
      specs.push_back(*std::move(spec));
    }
  }
  return specs;
}

Status add_preset(DynamicProbes& probes, std::string_view name, std::vector<std::string> binaries) {
  Result<std::vector<ProbeSpec>> specs = preset_specs(name, std::move(binaries));
  if (!specs) return std::move(specs).error();
  const size_t before = probes.events().size();
  for (const ProbeSpec& spec : *specs)
    if (Status status = probes.add(spec); !status) return status;
  if (probes.events().size() > before) return {};
  return Error{specs->front().binary, std::nullopt,
               "none of the functions of the preset '" + std::string(name) + "' is in it"};
}

}  // namespace strata::kernel
