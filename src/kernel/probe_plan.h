// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/probe_argument.h"
#include "kernel/probe_spec.h"

namespace strata::kernel {

// One place of a probe, as the kernel is told of it.
struct ProbeSite {
  bool in_kernel = false;
  bool at_return = false;
  std::string path;                   // of the probed file
  uint64_t offset = 0;                // in that file
  std::optional<uint64_t> semaphore;  // offset of the counter that the kernel raises meanwhile
  std::string kernel_place;           // "vfs_read+4"
  std::vector<ProbeArgument> arguments;

  // A line for uprobe_events or kprobe_events that makes this a place of the event:
  // "p:group/event /usr/bin/x:0x1139(0x4010) arg1=%di:u64". `path` stands for the file's where that
  // has characters that the kernel does not take here.
  std::string definition(std::string_view group, std::string_view event,
                         std::string_view path) const;
  // Whether one event can have both places: the same fields.
  bool same_fields(const ProbeSite& other) const;
  bool operator==(const ProbeSite&) const = default;
};

// What comes of a spec once the program has been read.
struct ProbePlan {
  std::string event;             // what the event would be called
  std::vector<ProbeSite> sites;  // none: the spec was optional, and a remark says what is missing
  std::vector<std::string> remarks;  // what was left out, for the user
};

// Finds the places of probes in programs. Each program is read once.
class ProbePlanner {
 public:
  ProbePlanner();
  ~ProbePlanner();
  ProbePlanner(ProbePlanner&&) noexcept;

  Result<ProbePlan> plan(const ProbeSpec& spec);

 private:
  struct Binary;
  Result<const Binary*> binary(const std::string& name);
  static Result<ProbePlan> plan_function(const ProbeSpec& spec, const Binary& binary);
  static Result<ProbePlan> plan_usdt(const ProbeSpec& spec, const Binary& binary);

  std::map<std::string, std::unique_ptr<Binary>> binaries_;
};

// The path of the file that `name` means: itself where it has a slash or is there, otherwise the
// first of that name in $PATH.
Result<std::string> find_binary(const std::string& name);

}  // namespace strata::kernel
