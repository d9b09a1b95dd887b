// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// The little of tracefs that a capture for benchmarks needs. What fails throws std::runtime_error.
namespace strata::bench {

std::string read_text(const std::filesystem::path& path);
// Appends where the file is one of those that would otherwise be emptied first.
void write_text(const std::filesystem::path& path, std::string_view text, bool append = false);

// Where tracefs is; mounted for this process alone where it is not, which leaves no trace of it.
std::filesystem::path find_tracefs();

struct FormatFile {
  std::string system;
  std::string text;
};

// An instance of the kernel's tracer of our own: a ring, events and a clock that nobody else uses.
// It is removed with this object.
class Instance {
 public:
  Instance(std::filesystem::path tracefs, std::string_view clock, uint32_t kilobytes_a_cpu);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // "sched:*", "syscalls:sys_enter_read"; nothing is recorded before start().
  void enable(const std::string& events);
  // Only events of this process, of those it will start, and of theirs.
  void follow(pid_t process);
  void start();
  void stop();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path cpu_path(uint32_t cpu) const;
  const std::vector<uint32_t>& cpus() const { return cpus_; }
  uint32_t page_size() const;
  // Of the enabled events and of the tracer's own ("ftrace"), those of one system side by side.
  std::vector<FormatFile> formats() const;

 private:
  std::filesystem::path tracefs_;
  std::filesystem::path path_;
  std::vector<uint32_t> cpus_;
};

}  // namespace strata::bench
