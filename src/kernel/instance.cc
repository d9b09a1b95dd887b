// SPDX-License-Identifier: Apache-2.0
#include "kernel/instance.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>

#include "base/small_file.h"
#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

size_t count_folders(const std::string& folder) {
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return 0;
  size_t count = 0;
  while (const dirent* entry = readdir(entries))
    count += entry->d_type == DT_DIR && entry->d_name[0] != '.' ? 1 : 0;
  closedir(entries);
  return count;
}

// Names of commands go along with every switch unless this is off: nearly half of what a traced
// switch costs. The option exists only at the top level and is handed on to instances when they are
// made.
//
// It is touched only where nobody else traces. Whoever does at the top level wants the names; and
// the kernel counts, over all instances, who wants them: it miscounts where the option changes
// while an instance that was made without it has events enabled.
class WithoutCommandNames {
 public:
  explicit WithoutCommandNames(const Tracefs& tracefs)
      : option_(tracefs.file("options/record-cmd")) {
    const Result<std::string> on = read_small_file(option_);
    const Result<std::string> events = read_small_file(tracefs.file("events/enable"));
    if (!on || !on->starts_with('1') || !events || !events->starts_with('0')) return;
    if (count_folders(tracefs.file("instances")) > 0) return;
    changed_ = static_cast<bool>(write_small_file(option_, "0"));
  }
  ~WithoutCommandNames() {
    if (changed_) (void)static_cast<bool>(write_small_file(option_, "1"));
  }
  WithoutCommandNames(const WithoutCommandNames&) = delete;
  WithoutCommandNames& operator=(const WithoutCommandNames&) = delete;

 private:
  std::string option_;
  bool changed_ = false;
};

std::vector<uint32_t> numbered_entries(const std::string& folder, std::string_view prefix) {
  std::vector<uint32_t> numbers;
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return numbers;
  while (const dirent* entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    uint32_t number = 0;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + prefix.size(), end, number).ptr == end)
      numbers.push_back(number);
  }
  closedir(entries);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string list_of(const std::vector<pid_t>& threads) {
  std::string list;
  for (const pid_t thread : threads) list += std::to_string(thread) + " ";
  return list;
}

}  // namespace

std::string instance_name(const std::string& session) { return "strata-" + session; }

Result<Instance> Instance::create(const Tracefs& tracefs, const std::string& name) {
  const Privilege privilege{Capability::DacOverride};
  Instance instance;
  const std::string path = tracefs.file("instances/" + instance_name(name));
  {
    const WithoutCommandNames off(tracefs);
    if (mkdir(path.c_str(), 0750) != 0) {
      if (errno == EEXIST)
        return Error{path, std::nullopt, "a session of this name is recording already"};
      return system_error(path, "cannot make an instance of the tracer", errno);
    }
  }
  instance.path_ = path;
  if (Status status = instance.prepare(); !status) return std::move(status).error();
  return instance;
}

Status Instance::prepare() {
  if (Status status = stop(); !status) return status;
  if (Status status = write_small_file(file("options/disable_on_free"), "1"); !status)
    return status;
  free_buffer_ = FileDescriptor(open(file("free_buffer").c_str(), O_WRONLY | O_CLOEXEC));
  if (!free_buffer_) return system_error(file("free_buffer"), "cannot open", errno);
  // Since Linux 6.8; before, a sub-buffer is a page.
  page_size_ = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  if (const Result<std::string> text = read_small_file(file("buffer_subbuf_size_kb"))) {
    uint32_t kilobytes = 0;
    std::from_chars(text->data(), text->data() + text->size(), kilobytes);
    if (kilobytes > 0) page_size_ = kilobytes * 1024;
  }
  cpus_ = numbered_entries(file("per_cpu"), "cpu");
  if (cpus_.empty()) return Error{file("per_cpu"), std::nullopt, "shows no CPU"};
  return {};
}

Instance::~Instance() {
  if (!path_.empty()) (void)static_cast<bool>(remove());
}

std::string Instance::cpu_file(uint32_t cpu, std::string_view name) const {
  return path_ + "/per_cpu/cpu" + std::to_string(cpu) + "/" + std::string(name);
}

FileDescriptor Instance::open_cpu_file(uint32_t cpu, std::string_view name, int flags) const {
  const Privilege privilege{Capability::DacOverride};
  return FileDescriptor(open(cpu_file(cpu, name).c_str(), flags | O_CLOEXEC));
}

Status Instance::write(std::string_view name, std::string_view text) const {
  const Privilege privilege{Capability::DacOverride};
  return write_small_file(file(name), text);
}

Status Instance::set_clock(std::string_view clock) { return write("trace_clock", clock); }

Status Instance::set_buffer_size(uint64_t bytes_a_cpu) {
  return write("buffer_size_kb", std::to_string(std::max<uint64_t>(bytes_a_cpu / 1024, 1)));
}

void Instance::enable(const std::vector<EventChoice>& events, std::vector<Error>& refused) {
  const Privilege privilege{Capability::DacOverride};
  // Hundreds of system calls at once cost one write instead of hundreds, where all of them are
  // wanted.
  std::map<std::string_view, size_t> unfiltered;
  for (const EventChoice& event : events) unfiltered[event.system] += event.filter.empty() ? 1 : 0;
  std::erase_if(unfiltered, [&](const auto& system) {
    return count_folders(file("events/" + std::string(system.first))) != system.second;
  });
  // The tracer's own events ("ftrace") cannot be enabled.
  const bool everything = unfiltered.size() + 1 == count_folders(file("events"));
  if (!everything || !write_small_file(file("events/enable"), "1")) {
    std::erase_if(unfiltered, [&](const auto& system) {
      return !write_small_file(file("events/" + std::string(system.first) + "/enable"), "1");
    });
  }
  for (const EventChoice& event : events) {
    if (unfiltered.contains(event.system)) continue;
    if (!event.filter.empty()) {
      if (Status status = set_filter(event); !status) {
        refused.push_back(std::move(status).error());
        continue;
      }
    }
    if (Status status = write(event_file(event, "enable"), "1"); !status)
      refused.push_back(std::move(status).error());
  }
}

std::string Instance::event_file(const EventChoice& event, std::string_view name) {
  return "events/" + event.system + "/" + event.name + "/" + std::string(name);
}

std::string Instance::read(std::string_view name) const {
  const Privilege privilege{Capability::DacOverride};
  Result<std::string> text = read_small_file(file(name));
  return text ? *std::move(text) : "";
}

bool Instance::is_enabled(const EventChoice& event) const {
  return read(event_file(event, "enable")).starts_with('1');
}

std::string Instance::filter_of(const EventChoice& event) const {
  const std::string text = read(event_file(event, "filter"));
  const std::string filter = text.substr(0, text.find('\n'));
  return filter == "none" ? "" : filter;
}

Status Instance::set_filter(const EventChoice& event) {
  if (write(event_file(event, "filter"), event.filter.empty() ? "0" : event.filter)) return {};
  return Error{event.full_name(), std::nullopt,
               "the kernel does not take the filter '" + event.filter + "'"};
}

Status Instance::set_system_filter(const std::string& system, const std::string& filter) {
  const std::string name = "events/" + system + "/filter";
  return read(name).empty() ? Status() : write(name, filter.empty() ? "0" : filter);
}

Status Instance::disable(const EventChoice& event) {
  if (Status status = write(event_file(event, "enable"), "0"); !status) return status;
  return set_filter({event.system, event.name, ""});
}

Status Instance::follow(const std::vector<pid_t>& processes) {
  if (Status status = write("options/event-fork", processes.empty() ? "0" : "1"); !status)
    return status;
  return write("set_event_pid", list_of(processes));
}

Status Instance::leave_out(const std::vector<pid_t>& threads) {
  return write("set_event_notrace_pid", list_of(threads));
}

Status Instance::start() { return write("tracing_on", "1"); }
Status Instance::stop() { return write("tracing_on", "0"); }

Status Instance::remove() {
  // Closing it stops the tracing and frees the ring.
  free_buffer_.reset();
  const std::string path = std::exchange(path_, {});
  return remove_instance(path);
}

Status remove_instance(const std::string& path) {
  const Privilege privilege{Capability::DacOverride};
  (void)static_cast<bool>(write_small_file(path + "/tracing_on", "0"));
  (void)static_cast<bool>(write_small_file(path + "/events/enable", "0"));
  // Whoever still reads a ring holds the instance for a moment.
  for (int attempt = 0; rmdir(path.c_str()) != 0; ++attempt) {
    if (errno == ENOENT) return {};
    if (errno != EBUSY || attempt == 100) return system_error(path, "cannot be removed", errno);
    usleep(10'000);
  }
  return {};
}

}  // namespace strata::kernel
