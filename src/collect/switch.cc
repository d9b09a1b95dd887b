// SPDX-License-Identifier: Apache-2.0
#include "collect/switch.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include "collect/patching.h"
#include "collect/seccomp.h"

namespace strata::collect {
namespace {

Status check_filters(const std::string& path, const FileIdentity& file) {
  const std::vector<FilteredProcess> filtered = filtered_processes(file);
  if (filtered.empty()) return {};
  std::string who;
  constexpr size_t kNamed = 5;
  for (size_t i = 0; i < std::min(filtered.size(), kNamed); ++i)
    who +=
        (i == 0 ? "" : ", ") + filtered[i].name + " (" + std::to_string(filtered[i].process) + ")";
  if (filtered.size() > kNamed) who += " and " + std::to_string(filtered.size() - kNamed) + " more";
  return Error{path, std::nullopt,
               "has processes that limit their system calls (seccomp) and might be killed at their "
               "first event: " +
                   who + ". Name the processes that are meant by number, or force it"};
}

// One for each process, or one for all.
template <typename Uprobes>
Result<std::vector<Uprobes>> open_uprobes(const std::string& path,
                                          const std::vector<FileSite>& sites,
                                          const std::vector<pid_t>& processes) {
  constexpr pid_t kAll = 0;
  std::vector<Uprobes> opened;
  for (const pid_t process : processes.empty() ? std::vector{kAll} : processes) {
    Result<Uprobes> uprobes = Uprobes::open(path, sites, process);
    if (!uprobes) return std::move(uprobes).error();
    opened.push_back(std::move(*uprobes));
  }
  return opened;
}

std::optional<std::string> settle_process(pid_t process, const FileIdentity& file,
                                          const std::vector<FileSite>& sites) {
  for (const uint64_t bias : load_biases(mappings_of(process, file), sites.front()))
    if (const Status status = settle(process, sites, bias); !status)
      return "process " + std::to_string(process) +
             ": its probes that are patched stay as they are (" + status.error().text() +
             "); built without STRATA_PROBE_PATCHED they are flags";
  return std::nullopt;
}

std::string in_proc(pid_t process, std::string_view name) {
  return "/proc/" + std::to_string(process) + "/" + std::string(name);
}

bool is_there(pid_t process) {
  return static_cast<bool>(FileIdentity::of(in_proc(process, "maps")));
}

bool runs(pid_t process, const FileIdentity& file) {
  const Result<FileIdentity> program = FileIdentity::of(in_proc(process, "exe"));
  return program && *program == file;
}

}  // namespace

std::vector<FileSite> patched_among(const std::vector<FileSite>& sites) {
  std::vector<FileSite> patched;
  std::ranges::copy_if(sites, std::back_inserter(patched),
                       [](const FileSite& site) { return !site.patches.empty(); });
  return patched;
}

std::vector<std::string> settle_processes(const FileIdentity& file,
                                          const std::vector<FileSite>& patched,
                                          const std::vector<pid_t>& processes) {
  std::vector<std::string> remarks;
  if (patched.empty()) return remarks;
  // Again until nobody new is there: one that was not settled yet may have forked. Who starts as a
  // new program settles itself.
  std::set<pid_t> seen;
  for (bool any_new = true; any_new;) {
    any_new = false;
    for (const pid_t process : processes.empty() ? running_processes() : processes) {
      if (!seen.insert(process).second || mappings_of(process, file).empty()) continue;
      any_new = true;
      std::optional<std::string> remark = settle_process(process, file, patched);
      if (remark && is_there(process)) remarks.push_back(*std::move(remark));
    }
  }
  return remarks;
}

size_t clear_leaked_flags(const FileIdentity& file, const std::vector<FileSite>& sites,
                          const std::vector<pid_t>& processes) {
  constexpr int kLooks = 20;
  constexpr auto kBetween = std::chrono::milliseconds(1);
  size_t cleared = 0;
  for (int look = 0; look < kLooks; ++look) {
    bool any_starts = false;
    for (const pid_t process : processes.empty() ? running_processes() : processes) {
      const std::vector<uint64_t> biases = load_biases(mappings_of(process, file), sites.front());
      any_starts |= biases.empty() && runs(process, file);
      for (const uint64_t bias : biases) {
        const Result<size_t> leaked = clear_leaked_flags(process, sites, bias);
        any_starts |= !leaked;
        cleared += leaked ? *leaked : 0;
      }
    }
    if (!any_starts) break;
    std::this_thread::sleep_for(kBetween);
  }
  return cleared;
}

Result<SwitchedSites> SwitchedSites::open(const std::string& path,
                                          const std::vector<FileSite>& sites, SwitchScope scope) {
  if (sites.empty()) return Error{path, std::nullopt, "no probe of it is to be switched on"};
  const Result<FileIdentity> file = FileIdentity::of(path);
  if (!file) return file.error();
  if (scope.processes.empty() && !scope.despite_filters)
    if (Status status = check_filters(path, *file); !status) return std::move(status).error();
  for (const pid_t process : scope.processes) {
    // What it has mapped can be seen by those who may switch it.
    if (const auto mappings = code_mappings(process); !mappings) return mappings.error();
    if (mappings_of(process, *file).empty())
      return Error{path, std::nullopt,
                   "is not what process " + std::to_string(process) + " runs, nor a library of it"};
  }
  std::vector<std::string> remarks;
  Result<Flags> flags = switch_on(path, *file, sites, scope, remarks);
  if (!flags) return std::move(flags).error();
  return SwitchedSites(*file, sites, std::move(scope.processes), std::move(*flags),
                       std::move(remarks));
}

Result<SwitchedSites::Flags> SwitchedSites::switch_on(const std::string& path,
                                                      const FileIdentity& file,
                                                      const std::vector<FileSite>& sites,
                                                      const SwitchScope& scope,
                                                      std::vector<std::string>& remarks) {
  auto links = open_uprobes<UprobeLink>(path, sites, scope.processes);
  if (links) return Flags(std::move(*links));
  auto events = open_uprobes<PerfUprobes>(path, sites, scope.processes);
  if (events) return Flags(std::move(*events));
  Result<MemoryFlags> written = MemoryFlags::open(file, sites, scope.processes, remarks);
  if (written) return Flags(std::move(*written));
  return Error{path, std::nullopt,
               links.error().cause + "; " + events.error().cause + "; " + written.error().text()};
}

SwitchedSites::SwitchedSites(const FileIdentity& file, std::vector<FileSite> sites,
                             std::vector<pid_t> processes, Flags flags,
                             std::vector<std::string> remarks)
    : file_(file),
      sites_(std::move(sites)),
      processes_(std::move(processes)),
      flags_(std::move(flags)),
      remarks_(std::move(remarks)) {
  std::ranges::move(settle_processes(file_, patched_among(sites_), processes_),
                    std::back_inserter(remarks_));
}

SwitchedSites::~SwitchedSites() {
  if (sites_.empty()) return;
  const bool by_kernel = is_by_kernel();
  flags_.emplace<std::vector<UprobeLink>>();
  if (by_kernel) clear_leaked_flags(file_, sites_, processes_);
  // Others may have the same sites on: their flags say so.
  (void)settle_processes(file_, patched_among(sites_), processes_);
}

}  // namespace strata::collect
