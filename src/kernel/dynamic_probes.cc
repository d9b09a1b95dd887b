// SPDX-License-Identifier: Apache-2.0
#include "kernel/dynamic_probes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <sstream>

#include "base/file_descriptor.h"
#include "base/small_file.h"
#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

constexpr std::string_view kGroupPrefix = "strata_";
constexpr size_t kLongestName = 60;  // of a group or an event: the kernel takes 63

struct ProbeFile {
  const char* name;
  const char* missing;  // what is said where the kernel has none
};
constexpr ProbeFile kUser = {"uprobe_events",
                             "this kernel has no probes in programs (CONFIG_UPROBE_EVENTS)"};
constexpr ProbeFile kKernel = {"kprobe_events",
                               "this kernel has no probes in itself (CONFIG_KPROBE_EVENTS)"};

// "p:group/event place ..." or "r8:group/event ...": the group and the event; empty where it is
// neither.
std::pair<std::string, std::string> name_of(const std::string& definition) {
  const size_t colon = definition.find(':');
  const size_t slash = definition.find('/');
  const size_t blank = definition.find(' ');
  if (colon == std::string::npos || slash == std::string::npos || slash > blank || slash < colon)
    return {};
  return {definition.substr(colon + 1, slash - colon - 1),
          definition.substr(slash + 1, blank - slash - 1)};
}

// The groups and events of a list of probes, each once; none where the kernel has no such list.
Result<std::vector<std::pair<std::string, std::string>>> list_probes(const Tracefs& tracefs,
                                                                     const ProbeFile& file) {
  std::vector<std::pair<std::string, std::string>> names;
  const Privilege privilege{Capability::DacOverride};
  if (!tracefs.has(file.name)) return names;
  Result<std::string> text = read_small_file(tracefs.file(file.name));
  if (!text) return std::move(text).error();
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    auto name = name_of(line);
    if (name.first.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(std::move(name));
  }
  return names;
}

// What the kernel itself says of the last line that it refused, if that was this one: its error_log
// has "trace_uprobe: error: Invalid register name" and the line below it.
std::string kernels_reason(const Tracefs& tracefs, std::string_view definition) {
  const Privilege privilege{Capability::DacOverride};
  const Result<std::string> log = read_small_file(tracefs.file("error_log"));
  if (!log) return {};
  const size_t command = log->rfind("Command: ");
  const size_t error = log->rfind("error: ");
  if (command == std::string::npos || error == std::string::npos || error > command) return {};
  const std::string_view refused = std::string_view(*log).substr(command + 9);
  if (refused.substr(0, refused.find('\n')) != definition) return {};
  return log->substr(error + 7, log->find('\n', error) - error - 7);
}

// Otherwise `errno` tells. Opened with more rights than the user has, and written without them: the
// kernel looks up the program while we write, as whoever writes.
bool tell(const std::string& path, const std::string& definition) {
  const auto open_list = [&] {
    const Privilege privilege{Capability::DacOverride};
    // Appended, always: emptying the file first would remove everybody's probes.
    return FileDescriptor(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  };
  const FileDescriptor list = open_list();
  return list && write(list.get(), definition.data(), definition.size()) ==
                     static_cast<ssize_t>(definition.size());
}

// What would end the path, or the line, in the kernel's eyes.
bool is_plain_path(std::string_view path) {
  return path.find_first_of(" \t\n\r\v\f#") == std::string_view::npos;
}

Status disable(const std::string& folder, const std::string& group) {
  const std::string path = folder + "/events/" + group + "/enable";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  return write_small_file(path, "0");
}

}  // namespace

DynamicProbes::DynamicProbes(const Tracefs& tracefs, const std::string& session)
    : tracefs_(tracefs), group_(probe_group(session)) {}

DynamicProbes::DynamicProbes(DynamicProbes&& other) noexcept
    : tracefs_(other.tracefs_),
      group_(std::exchange(other.group_, {})),
      used_(std::exchange(other.used_, false)),
      planner_(std::move(other.planner_)),
      events_(std::move(other.events_)),
      remarks_(std::move(other.remarks_)) {}

DynamicProbes::~DynamicProbes() { (void)remove(); }

Status DynamicProbes::add(const ProbeSpec& spec) {
  Result<ProbePlan> plan = planner_.plan(spec);
  if (!plan) return std::move(plan).error();
  if (!used_ && !plan->sites.empty()) {
    if (Status status = remove_probes(tracefs_, group_); !status) return status;
    used_ = true;
  }
  remarks_.insert(remarks_.end(), plan->remarks.begin(), plan->remarks.end());
  const size_t own_events = events_.size();
  for (const ProbeSite& site : plan->sites)
    if (Status status = add_site(spec, plan->event, site, own_events); !status) return status;
  return {};
}

Status DynamicProbes::add_site(const ProbeSpec& spec, const std::string& base,
                               const ProbeSite& site, size_t own_events) {
  // A further place of an event of the same spec, or of one that may be shared.
  for (size_t i = spec.joins ? 0 : own_events; i < events_.size(); ++i) {
    if (events_[i].base != base || !events_[i].site.same_fields(site)) continue;
    if (tell_kernel(site, events_[i].name)) return {};
    break;  // before Linux 5.5 an event had one place only: it gets one of its own
  }
  std::string name = unique_name(base);
  if (Status status = tell_kernel(site, name); !status) return status;
  events_.push_back({base, std::move(name), spec.filter, site});
  return {};
}

Status DynamicProbes::tell_kernel(const ProbeSite& site, const std::string& event) {
  const ProbeFile& list = site.in_kernel ? kKernel : kUser;
  const std::string path = tracefs_.file(list.name);
  if (!tracefs_.has(list.name)) return Error{path, std::nullopt, list.missing};

  // The kernel looks the path up while we write, so an open file's name will do.
  FileDescriptor file;
  std::string shown = site.path;
  if (!site.in_kernel && !is_plain_path(site.path)) {
    file = FileDescriptor(open(site.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return system_error(site.path, "cannot open", errno);
    shown = "/proc/self/fd/" + std::to_string(file.get());
  }
  const std::string definition = site.definition(group_, event, shown);
  // To the kernel a line is a command of its own.
  if (definition.find('\n') != std::string::npos)
    return Error{path, std::nullopt, "a probe is one line: '" + definition + "'"};
  if (tell(path, definition)) return {};
  const int why = errno;
  if (const std::string reason = kernels_reason(tracefs_, definition); !reason.empty())
    return Error{path, std::nullopt, "the kernel refused '" + definition + "': " + reason};
  return system_error(path, "cannot write '" + definition + "'", why);
}

std::string DynamicProbes::unique_name(const std::string& base) const {
  const std::string start = base.substr(0, kLongestName - 4);
  std::string name = start;
  const auto taken = [&] {
    return std::any_of(events_.begin(), events_.end(),
                       [&](const Event& event) { return event.name == name; });
  };
  for (unsigned number = 2; taken(); ++number) name = start + "_" + std::to_string(number);
  return name;
}

std::vector<EventChoice> DynamicProbes::events() const {
  std::vector<EventChoice> choices;
  for (const Event& event : events_) choices.push_back({group_, event.name, event.filter});
  return choices;
}

Status DynamicProbes::remove() {
  if (!used_) return {};
  Status status = remove_probes(tracefs_, group_);
  if (status) {
    used_ = false;
    events_.clear();
  }
  return status;
}

std::string probe_group(std::string_view session) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string group(kGroupPrefix);
  uint64_t hash = 14695981039346656037u;
  for (const char c : session) {
    const auto byte = static_cast<unsigned char>(c);
    hash = (hash ^ byte) * 1099511628211u;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
      group += c;
    } else if (c == '_') {
      group += "__";
    } else {
      group += {'_', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  // What is too long ends in a number that stands for all of it.
  if (group.size() > kLongestName) {
    group.resize(kLongestName - 17);
    group += '_';
    for (int shift = 60; shift >= 0; shift -= 4) group += kDigits[hash >> shift & 15];
  }
  return group;
}

Result<std::vector<std::string>> probe_groups(const Tracefs& tracefs) {
  std::vector<std::string> groups;
  for (const ProbeFile& file : {kUser, kKernel}) {
    auto probes = list_probes(tracefs, file);
    if (!probes) return std::move(probes).error();
    for (const auto& [group, event] : *probes)
      if (group.starts_with(kGroupPrefix) &&
          std::find(groups.begin(), groups.end(), group) == groups.end())
        groups.push_back(group);
  }
  return groups;
}

Status remove_probes(const Tracefs& tracefs, const std::string& group) {
  const Privilege privilege{Capability::DacOverride};
  // What is enabled anywhere cannot be removed. The first failure is told, but ends nothing: what
  // can be removed should be.
  Status first;
  const auto note = [&](Status status) {
    if (first && !status) first = std::move(status);
  };
  note(disable(tracefs.path(), group));
  std::error_code ignored;
  for (const auto& instance :
       std::filesystem::directory_iterator(tracefs.file("instances"), ignored))
    note(disable(instance.path().string(), group));

  for (const ProbeFile& file : {kUser, kKernel}) {
    auto probes = list_probes(tracefs, file);
    if (!probes) {
      note(std::move(probes).error());
      continue;
    }
    for (const auto& [owner, event] : *probes)
      if (owner == group)
        note(append_small_file(tracefs.file(file.name), "-:" + owner + "/" + event));
  }
  return first;
}

}  // namespace strata::kernel
