// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/small_file.h"
#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const Directory directory(opendir(folder.c_str()));
  if (!directory) return names;
  while (const dirent* entry = readdir(directory.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Whether an event's text has the name of a function in it: %ps, %pS, %pf, %pF, %pB.
bool shows_functions(const std::string& format) {
  for (size_t at = format.find("%p"); at != std::string::npos; at = format.find("%p", at + 2)) {
    if (at + 2 < format.size() &&
        std::string_view("sSfFB").find(format[at + 2]) != std::string_view::npos)
      return true;
  }
  return false;
}

bool is_number(const char* text) { return *text >= '0' && *text <= '9'; }

}  // namespace

Result<KernelFiles> read_kernel_files(const Tracefs& tracefs,
                                      const std::vector<EventChoice>& events) {
  const Privilege privilege{Capability::DacOverride, Capability::Syslog};
  KernelFiles files;
  for (const auto& [name, text] : {std::pair{"events/header_page", &files.header_page},
                                   std::pair{"events/header_event", &files.header_event}}) {
    Result<std::string> read = read_small_file(tracefs.file(name));
    if (!read) return std::move(read).error();
    *text = *std::move(read);
  }
  const auto add_format = [&](const std::string& system, const std::string& event) {
    if (Result<std::string> text =
            read_small_file(tracefs.file("events/" + system + "/" + event + "/format")))
      files.formats.push_back({system, *std::move(text)});
  };
  for (const std::string& name : names_in(tracefs.file("events/ftrace")))
    add_format("ftrace", name);
  std::vector<EventChoice> sorted = events;
  std::sort(sorted.begin(), sorted.end(), [](const EventChoice& a, const EventChoice& b) {
    return std::tie(a.system, a.name) < std::tie(b.system, b.name);
  });
  for (const EventChoice& event : sorted) {
    if (event.system != "ftrace") add_format(event.system, event.name);
  }
  if (Result<std::string> text = read_small_file(tracefs.file("printk_formats")))
    files.printk_formats = *std::move(text);
  // Millions of bytes, which the kernel makes anew for each reader.
  const bool shown = std::any_of(files.formats.begin(), files.formats.end(),
                                 [](const KernelFiles::Format& format) {
                                   return format.system != "ftrace" && shows_functions(format.text);
                                 });
  if (!shown) return files;
  if (Result<std::string> text = read_small_file("/proc/kallsyms")) {
    // All addresses are zero for who may not know them.
    if (!text->starts_with("0000000000000000 ") || text->find("\nffff") != std::string::npos)
      files.kallsyms = *std::move(text);
  }
  return files;
}

std::string read_thread_names() {
  std::string lines;
  const Directory processes(opendir("/proc"));
  if (!processes) return lines;
  while (const dirent* process = readdir(processes.get())) {
    if (!is_number(process->d_name)) continue;
    const std::string tasks = std::string("/proc/") + process->d_name + "/task";
    const Directory threads(opendir(tasks.c_str()));
    if (!threads) continue;  // it has ended meanwhile
    while (const dirent* thread = readdir(threads.get())) {
      if (!is_number(thread->d_name)) continue;
      const std::string comm = std::string(thread->d_name) + "/comm";
      const FileDescriptor file(openat(dirfd(threads.get()), comm.c_str(), O_RDONLY | O_CLOEXEC));
      char name[64];
      const ssize_t size = file ? read(file.get(), name, sizeof name) : 0;
      if (size <= 1) continue;
      lines += thread->d_name;
      lines += ' ';
      lines.append(name, static_cast<size_t>(size));  // with its newline
    }
  }
  return lines;
}

std::string machine_text() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.nodename + " " + name.release + " " + name.machine;
}

std::string boot_id() {
  Result<std::string> text = read_small_file("/proc/sys/kernel/random/boot_id");
  if (!text) return {};
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return *std::move(text);
}

}  // namespace strata::kernel
