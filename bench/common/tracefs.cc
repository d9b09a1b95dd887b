// SPDX-License-Identifier: Apache-2.0
#include "tracefs.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace strata::bench {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "strata-bench-";

[[noreturn]] void fail(const fs::path& path) {
  throw std::runtime_error(path.string() + ": " + std::strerror(errno));
}

// An instance that a killed capture left behind goes on tracing for ever.
void remove_orphans(const fs::path& instances) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(instances)) {
    const std::string name = entry.path().filename();
    pid_t owner = 0;
    if (!name.starts_with(kPrefix)) continue;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), owner);
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), ignored);
  }
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

std::string read_text(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(path);
  std::string text;
  char part[1 << 16];
  ssize_t size;
  while ((size = read(fd, part, sizeof part)) > 0) text.append(part, static_cast<size_t>(size));
  close(fd);
  if (size < 0) fail(path);
  return text;
}

void write_text(const fs::path& path, std::string_view text, bool append) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC));
  if (fd < 0) fail(path);
  const ssize_t size = write(fd, text.data(), text.size());
  close(fd);
  if (size != static_cast<ssize_t>(text.size())) fail(path);
}

fs::path find_tracefs() {
  const fs::path place = "/sys/kernel/tracing";
  if (fs::exists(place / "instances")) return place;
  if (unshare(CLONE_NEWNS) != 0 || mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("strata-bench", place.c_str(), "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) !=
          0)
    fail(place);
  return place;
}

Instance::Instance(fs::path tracefs, std::string_view clock, uint32_t kilobytes_a_cpu)
    : tracefs_(std::move(tracefs)) {
  remove_orphans(tracefs_ / "instances");
  path_ = tracefs_ / "instances" / (std::string(kPrefix) + std::to_string(getpid()));
  if (!fs::create_directory(path_)) throw std::runtime_error(path_.string() + ": is there already");
  try {
    write_text(path_ / "tracing_on", "0");
    write_text(path_ / "trace_clock", clock);
    write_text(path_ / "buffer_size_kb", std::to_string(kilobytes_a_cpu));
    write_text(path_ / "buffer_percent", "50");
    for (const fs::path& entry : sorted_entries(path_ / "per_cpu")) {
      const std::string name = entry.filename();
      cpus_.push_back(static_cast<uint32_t>(std::stoul(name.substr(3))));
    }
  } catch (...) {
    rmdir(path_.c_str());
    throw;
  }
  std::sort(cpus_.begin(), cpus_.end());
}

Instance::~Instance() {
  if (rmdir(path_.c_str()) != 0) perror(path_.c_str());
}

void Instance::enable(const std::string& events) { write_text(path_ / "set_event", events, true); }
void Instance::follow(pid_t process) {
  write_text(path_ / "options/event-fork", "1");
  write_text(path_ / "set_event_pid", std::to_string(process));
}
void Instance::start() { write_text(path_ / "tracing_on", "1"); }
void Instance::stop() { write_text(path_ / "tracing_on", "0"); }

fs::path Instance::cpu_path(uint32_t cpu) const {
  return path_ / "per_cpu" / ("cpu" + std::to_string(cpu));
}

uint32_t Instance::page_size() const {
  const fs::path file = path_ / "buffer_subbuf_size_kb";  // since Linux 6.8
  if (!fs::exists(file)) return static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  return static_cast<uint32_t>(std::stoul(read_text(file))) * 1024;
}

std::vector<FormatFile> Instance::formats() const {
  std::vector<FormatFile> formats;
  for (const fs::path& event : sorted_entries(tracefs_ / "events/ftrace"))
    if (fs::exists(event / "format")) formats.push_back({"ftrace", read_text(event / "format")});
  // One "system:event" a line.
  std::istringstream lines(read_text(path_ / "set_event"));
  std::vector<std::string> enabled;
  for (std::string line; std::getline(lines, line);) enabled.push_back(line);
  std::sort(enabled.begin(), enabled.end());
  for (const std::string& line : enabled) {
    const size_t colon = line.find(':');
    const std::string system = line.substr(0, colon);
    formats.push_back(
        {system, read_text(tracefs_ / "events" / system / line.substr(colon + 1) / "format")});
  }
  return formats;
}

}  // namespace strata::bench
