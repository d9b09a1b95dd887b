// SPDX-License-Identifier: Apache-2.0
#include "collect/probed_files.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

#include "collect/process_files.h"

namespace strata::collect {
namespace {

namespace fs = std::filesystem;

std::optional<pid_t> process_number(const std::string& text) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

Result<std::vector<FileSite>> sites_in(const std::string& path) {
  Result<elf::ElfFile> file = elf::ElfFile::open(path);
  if (!file) return std::move(file).error();
  return sites_of(*file);
}

Result<std::vector<ProbedFile>> files_of_process(pid_t process) {
  const Result<std::vector<CodeMapping>> mappings = code_mappings(process);
  if (!mappings) return mappings.error();
  std::vector<ProbedFile> files;
  std::set<std::string> seen;
  for (const CodeMapping& mapping : *mappings) {
    if (!seen.insert(mapping.path).second) continue;
    // As the process sees it: it may have another root. What is no ELF file has no probes.
    std::string reachable = reachable_path(process, mapping);
    Result<std::vector<FileSite>> sites = sites_in(reachable);
    if (!sites || sites->empty()) continue;
    files.push_back({std::move(reachable), mapping.path, std::move(*sites), process});
  }
  return files;
}

// The processes that run a file of this name.
std::vector<pid_t> processes_of(const std::string& name) {
  std::vector<pid_t> found = running_processes();
  std::erase_if(found, [&](pid_t process) {
    std::error_code gone;
    return fs::read_symlink("/proc/" + std::to_string(process) + "/exe", gone).filename() != name;
  });
  return found;
}

// Each file once, and for all processes that map it.
std::vector<ProbedFile> files_of_all(const std::vector<pid_t>& processes) {
  std::vector<ProbedFile> all;
  for (const pid_t process : processes) {
    Result<std::vector<ProbedFile>> files = files_of_process(process);
    if (!files) continue;
    for (ProbedFile& file : *files) {
      const auto is_same = [&](const ProbedFile& other) {
        std::error_code error;
        return other.shown == file.shown && fs::equivalent(other.path, file.path, error);
      };
      if (std::ranges::any_of(all, is_same)) continue;
      // The way through a process ends with it; mostly there is another.
      std::error_code error;
      if (fs::equivalent(file.path, file.shown, error)) file.path = file.shown;
      file.process = 0;
      all.push_back(std::move(file));
    }
  }
  return all;
}

std::string find_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

}  // namespace

Result<std::vector<ProbedFile>> probed_files(const std::string& program) {
  std::string file = program;
  if (access(program.c_str(), F_OK) != 0 && program.find('/') == std::string::npos) {
    if (const std::optional<pid_t> process = process_number(program))
      return files_of_process(*process);
    const std::vector<pid_t> processes = processes_of(program);
    if (!processes.empty()) return files_of_all(processes);
    file = find_in_path(program);
    if (file.empty())
      return Error{program, std::nullopt, "is no file, no running process and no program in $PATH"};
  }
  Result<std::vector<FileSite>> sites = sites_in(file);
  if (!sites) return std::move(sites).error();
  std::vector<ProbedFile> files;
  files.push_back({file, file, std::move(*sites), 0});
  return files;
}

}  // namespace strata::collect
