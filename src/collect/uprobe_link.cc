// SPDX-License-Identifier: Apache-2.0
#include "collect/uprobe_link.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

namespace strata::collect {
namespace {

constexpr uint32_t kUprobeMulti = 48;  // BPF_TRACE_UPROBE_MULTI, since 6.6

// The part of union bpf_attr for BPF_LINK_CREATE that older headers do not have.
struct LinkCreate {
  uint32_t program;
  uint32_t target;
  uint32_t attach_type;
  uint32_t flags;
  uint64_t path;
  uint64_t offsets;
  uint64_t counter_offsets;
  uint64_t cookies;
  uint32_t count;
  uint32_t uprobe_flags;
  uint32_t process;
  uint32_t reserved;
};

uint64_t address_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

template <typename Attributes>
int bpf(bpf_cmd command, Attributes& attributes) {
  return static_cast<int>(syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

// The program of the uprobes, which are never hit.
FileDescriptor load_program() {
  const bpf_insn instructions[] = {
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_KPROBE;
  attributes.expected_attach_type = kUprobeMulti;
  attributes.insns = address_of(instructions);
  attributes.insn_cnt = std::size(instructions);
  attributes.license = address_of("GPL");
  return FileDescriptor(bpf(BPF_PROG_LOAD, attributes));
}

}  // namespace

Result<UprobeLink> UprobeLink::open(const std::string& path, std::span<const FileSite> sites,
                                    pid_t process) {
  const FileDescriptor program = load_program();
  if (!program) return system_error(path, "cannot switch its probes on by the kernel", errno);
  std::vector<uint64_t> anchors;
  std::vector<uint64_t> flags;
  for (const FileSite& site : sites) {
    anchors.push_back(site.anchor_offset);
    flags.push_back(site.flag_offset);
  }
  LinkCreate create{};
  create.program = static_cast<uint32_t>(program.get());
  create.attach_type = kUprobeMulti;
  create.path = address_of(path.c_str());
  create.offsets = address_of(anchors.data());
  create.counter_offsets = address_of(flags.data());
  create.count = static_cast<uint32_t>(anchors.size());
  create.process = static_cast<uint32_t>(process);
  FileDescriptor link(bpf(BPF_LINK_CREATE, create));
  if (!link) return system_error(path, "cannot switch its probes on by the kernel", errno);
  return UprobeLink(std::move(link));
}

}  // namespace strata::collect
