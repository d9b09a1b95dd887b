// SPDX-License-Identifier: Apache-2.0
#include "live/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "live/bpf/tasks.skel.h"
#include "live/call_meanings.h"

namespace strata::live {

Result<MappedMap> MappedMap::of(const bpf_map* map, const std::string& what) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kValueAlignment = 8;  // as the kernel has it
  MappedMap mapped;
  mapped.count_ = bpf_map__max_entries(map);
  const size_t value = (bpf_map__value_size(map) + kValueAlignment - 1) & -kValueAlignment;
  mapped.size_ = (value * mapped.count_ + page - 1) & -page;
  void* memory =
      mmap(nullptr, mapped.size_, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
  if (memory == MAP_FAILED) return system_error("", "cannot map the memory of " + what, errno);
  mapped.memory_ = memory;
  return mapped;
}

MappedMap::MappedMap(MappedMap&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_), count_(other.count_) {}

MappedMap& MappedMap::operator=(MappedMap&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(count_, other.count_);
  return *this;
}

MappedMap::~MappedMap() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

Result<Link> Link::attach(bpf_program* program) {
  bpf_link* link = bpf_program__attach(program);
  if (link == nullptr) return refused(bpf_program__name(program), errno);
  return Link(link);
}

Result<Link> Link::attach(bpf_program* program, FileDescriptor event) {
  bpf_link* link = bpf_program__attach_perf_event(program, event.get());
  if (link == nullptr) return refused(bpf_program__name(program), errno);
  event.release();  // the link closes it
  return Link(link);
}

int Link::descriptor() const { return bpf_link__fd(link_); }

Link::~Link() { bpf_link__destroy(link_); }

Status attach_all(bpf_object* object, std::vector<Link>& links) {
  for (bpf_program* program = nullptr;
       (program = bpf_object__next_program(object, program)) != nullptr;) {
    if (bpf_program__type(program) != BPF_PROG_TYPE_TRACING ||
        bpf_program__expected_attach_type(program) != BPF_TRACE_RAW_TP)
      continue;
    Result<Link> link = Link::attach(program);
    if (!link) return std::move(link).error();
    links.push_back(std::move(*link));
  }
  return {};
}

Result<std::unique_ptr<TaskPrograms>> TaskPrograms::load(const Limits& limits) {
  const std::string what = "to watch tasks";
  auto opened = kernel::open_ebpf<::tasks>(what);
  if (!opened) return std::move(opened).error();
  std::unique_ptr<TaskPrograms> programs(new TaskPrograms);
  programs->programs_ = std::move(*opened);
  ::tasks& all = *programs->programs_;
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 0) return refused(what, -cpus);
  all.rodata->slot_count = limits.tasks;
  bpf_map__set_max_entries(all.maps.tasks, limits.tasks);
  bpf_map__set_max_entries(all.maps.free_slots, limits.tasks);
  bpf_map__set_max_entries(all.maps.cpus, static_cast<uint32_t>(cpus));
  bpf_map__set_max_entries(all.maps.queue_times, static_cast<uint32_t>(cpus));
  if (Status status = kernel::load_ebpf(programs->programs_, what); !status)
    return std::move(status).error();

  const auto map = [&](const bpf_map* from, MappedMap& to) -> Status {
    Result<MappedMap> mapped = MappedMap::of(from, bpf_map__name(from));
    if (!mapped) return std::move(mapped).error();
    to = std::move(*mapped);
    return {};
  };
  for (const auto& [from, to] :
       {std::pair{all.maps.tasks, &programs->tasks_}, std::pair{all.maps.cpus, &programs->cpus_},
        std::pair{all.maps.free_slots, &programs->free_slots_},
        std::pair{all.maps.control, &programs->control_},
        std::pair{all.maps.meanings, &programs->meanings_},
        std::pair{all.maps.queue_times, &programs->queue_times_}})
    if (Status status = map(from, *to); !status) return std::move(status).error();
  programs->memory_ = {.tasks = programs->tasks_.values<TaskSlot>(),
                       .cpus = programs->cpus_.values<CpuSlot>(),
                       .free_slots = programs->free_slots_.values<uint64_t>(),
                       .control = programs->control_.values<Control>().data()};
  put_meanings(programs->meanings_.values<CallMeaning>());
  return programs;
}

TaskPrograms::~TaskPrograms() = default;

Status TaskPrograms::attach() {
  if (Status status = attach_all(programs_->obj, links_); !status) return status;
  return find_tasks();
}

Status TaskPrograms::share_with(bpf_object* object) const {
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object) {
    if (bpf_map__is_internal(map)) continue;
    const bpf_map* own = bpf_object__find_map_by_name(programs_->obj, bpf_map__name(map));
    if (own != nullptr && bpf_map__reuse_fd(map, bpf_map__fd(own)) != 0)
      return refused(std::string("to share ") + bpf_map__name(map), errno);
  }
  return {};
}

// Reading an iterator runs it, once for each task.
Status TaskPrograms::find_tasks() {
  Result<Link> link = Link::attach(programs_->progs.find_tasks);
  if (!link) return std::move(link).error();
  FileDescriptor iterator(bpf_iter_create(link->descriptor()));
  if (!iterator) return refused("to find tasks", errno);
  char nothing[64];
  ssize_t size;
  while ((size = read(iterator.get(), nothing, sizeof nothing)) > 0 ||
         (size < 0 && (errno == EINTR || errno == EAGAIN))) {
  }
  if (size < 0) return system_error("", "cannot find the tasks that are there", errno);
  return {};
}

}  // namespace strata::live
