// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "kernel/tracefs.h"

namespace strata::kernel {

// An event of this kernel, by name; with the kernel's filter, or none.
struct EventChoice {
  std::string system;
  std::string name;
  std::string filter;

  std::string full_name() const { return system + ":" + name; }
  bool operator==(const EventChoice&) const = default;
};

// An instance of the kernel's tracer of our own: a ring for each CPU, events and a clock that
// nobody else uses. It is called strata-<name>, and is removed with this object.
//
// While it is there, its free_buffer is held open with disable_on_free set: should this process be
// killed, the kernel itself stops tracing and frees the ring. The instance's directory and its
// enabled events, which would still cost a little, are removed by whoever watches this process
// (remove_instance).
class Instance {
 public:
  // `name` is the session's. Fails where it exists already.
  static Result<Instance> create(const Tracefs& tracefs, const std::string& name);
  Instance(Instance&&) noexcept = default;
  Instance& operator=(Instance&&) noexcept = delete;
  ~Instance();

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  std::string cpu_file(uint32_t cpu, std::string_view name) const;
  // With what it takes to use files that are root's (see Privilege).
  FileDescriptor open_cpu_file(uint32_t cpu, std::string_view name, int flags) const;
  Status write(std::string_view name, std::string_view text) const;
  // Those that have a ring, in order.
  const std::vector<uint32_t>& cpus() const { return cpus_; }
  // Of a sub-buffer, in bytes.
  uint32_t page_size() const { return page_size_; }

  // "mono_raw", "x86-tsc": a name of trace_clock. Empties the ring.
  Status set_clock(std::string_view clock);
  Status set_buffer_size(uint64_t bytes_a_cpu);
  // Nothing is recorded before start(). What the kernel refuses is told in `refused`, one for each,
  // and does not keep the others from being enabled.
  void enable(const std::vector<EventChoice>& events, std::vector<Error>& refused);
  // While it records, too: whether an event is enabled, and what the kernel filters it by.
  bool is_enabled(const EventChoice& event) const;
  std::string filter_of(const EventChoice& event) const;
  // To the filter it has now; none where that is empty.
  Status set_filter(const EventChoice& event);
  // Of all events of a system, whatever filters they have now; nothing to do where it is unknown.
  Status set_system_filter(const std::string& system, const std::string& filter);
  // Its filter goes too.
  Status disable(const EventChoice& event);
  // Only events of these processes and of those they start; of all where none is given. The kernel
  // cannot exchange one list for another at once: for a moment it has none.
  Status follow(const std::vector<pid_t>& processes);
  // No events of these threads but their switches. All in one call: each waits for every CPU.
  Status leave_out(const std::vector<pid_t>& threads);

  Status start();
  Status stop();

  // Disables, stops and removes it now, for who wants to know whether that worked.
  Status remove();

 private:
  Instance() = default;
  Status prepare();
  static std::string event_file(const EventChoice& event, std::string_view name);
  // Empty where it cannot be read.
  std::string read(std::string_view name) const;

  std::string path_;
  std::vector<uint32_t> cpus_;
  uint32_t page_size_ = 4096;
  FileDescriptor free_buffer_;
};

// The name that an instance of session `name` has in tracefs.
std::string instance_name(const std::string& session);

// Stops and removes an instance, whoever made it; nothing to do where there is none.
Status remove_instance(const std::string& path);

}  // namespace strata::kernel
