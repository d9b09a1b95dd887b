// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "kernel/ebpf.h"
#include "live/machine_feed.h"
#include "live/slots.h"

struct bpf_link;
struct bpf_map;
struct bpf_object;
struct bpf_program;
struct tasks;  // the eBPF programs, as bpftool names them

namespace strata::live {

// The memory of a map, for as long as this lives.
class MappedMap {
 public:
  static Result<MappedMap> of(const bpf_map* map, const std::string& what);
  MappedMap() = default;
  MappedMap(MappedMap&& other) noexcept;
  MappedMap& operator=(MappedMap&& other) noexcept;
  ~MappedMap();

  template <typename Value>
  std::span<Value> values() const {
    return {static_cast<Value*>(memory_), count_};
  }

 private:
  void* memory_ = nullptr;
  size_t size_ = 0;
  size_t count_ = 0;
};

// A program, attached for as long as this lives; the kernel takes it back with the process.
class Link {
 public:
  static Result<Link> attach(bpf_program* program);
  // One that says by itself on which event: perf's, of a tracepoint.
  static Result<Link> attach(bpf_program* program, FileDescriptor event);
  Link(Link&& other) noexcept : link_(std::exchange(other.link_, nullptr)) {}
  Link& operator=(Link&& other) noexcept {
    std::swap(link_, other.link_);
    return *this;
  }
  ~Link();
  int descriptor() const;

 private:
  explicit Link(bpf_link* link) : link_(link) {}
  bpf_link* link_ = nullptr;
};

// All programs of an object.
Status attach_all(bpf_object* object, std::vector<Link>& links);

using kernel::refused;

// The programs that follow tasks and CPUs, and the slots that they and others count in.
class TaskPrograms {
 public:
  static Result<std::unique_ptr<TaskPrograms>> load(const Limits& limits);
  ~TaskPrograms();

  const Memory& memory() const { return memory_; }
  // How long tasks waited for each CPU, while somebody wants to know (Control::tells_times).
  std::span<const Times> queue_times() const { return queue_times_.values<const Times>(); }
  // From now on they count; and what is there already is found.
  Status attach();
  // Maps of other programs that are called as these programs' maps are the same ones. To be called
  // before they are loaded.
  Status share_with(bpf_object* object) const;

 private:
  TaskPrograms() = default;
  Status find_tasks();

  kernel::EbpfObject<tasks> programs_;
  MappedMap tasks_;
  MappedMap cpus_;
  MappedMap free_slots_;
  MappedMap control_;
  MappedMap meanings_;
  MappedMap queue_times_;
  Memory memory_;
  std::vector<Link> links_;
};

}  // namespace strata::live
