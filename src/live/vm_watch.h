// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "live/programs.h"
#include "live/vm_rows.h"
#include "period/table.h"

struct vms;  // the eBPF programs, as bpftool names them

namespace strata::live {

// Virtual machines, watched as long as this lives: those under KVM by its events, and the threads
// of those that QEMU emulates. Where there is no KVM there are none of the former, until there is.
class VmWatch {
 public:
  // `tasks` must outlive it.
  static Result<std::unique_ptr<VmWatch>> open(const TaskPrograms& tasks, const Limits& limits);
  ~VmWatch();

  // As VmRows has it.
  void copy() { rows_->copy(); }
  void begin(uint64_t moment) { rows_->begin(moment); }
  void tell(uint64_t begin, uint64_t end, bool tells_calls, period::Machine& machine);

 private:
  explicit VmWatch(const TaskPrograms& tasks);
  Status attach_to_kvm();
  void add_those_there_are();

  const TaskPrograms& tasks_;
  kernel::EbpfObject<vms> programs_;
  MappedMap vcpus_;
  MappedMap places_;
  MappedMap guest_cpus_;
  MappedMap halts_;
  std::unique_ptr<VmRows> rows_;
  std::vector<Link> links_;
  std::vector<Link> kvm_links_;  // empty: there is no KVM
};

}  // namespace strata::live
