// SPDX-License-Identifier: Apache-2.0
#include "collect/probed_files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace strata::collect {
namespace {

namespace fs = std::filesystem;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// The files that a process has mapped as code, each once.
Result<std::vector<std::string>> mapped_files(const std::string& process) {
  const std::string name = "/proc/" + process + "/maps";
  std::ifstream maps(name);
  if (!maps) return system_error(name, "cannot read what the process has mapped", errno);
  std::vector<std::string> paths;
  for (std::string line; std::getline(maps, line);) {
    // "5581a000-5581b000 r-xp 00001000 fe:00 1234    /usr/bin/shop"
    const size_t path = line.find('/');
    if (path == std::string::npos || line.find(" r-xp ") == std::string::npos) continue;
    paths.push_back(line.substr(path));
  }
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

Result<std::vector<FileSite>> sites_in(const std::string& path) {
  Result<elf::ElfFile> file = elf::ElfFile::open(path);
  if (!file) return std::move(file).error();
  return sites_of(*file);
}

Result<std::vector<ProbedFile>> files_of_process(const std::string& process) {
  std::vector<ProbedFile> files;
  Result<std::vector<std::string>> paths = mapped_files(process);
  if (!paths) return std::move(paths).error();
  for (const std::string& path : *paths) {
    // As the process sees it: it may have another root. What is no ELF file has no probes.
    std::string seen = "/proc/" + process + "/root" + path;
    Result<std::vector<FileSite>> sites = sites_in(seen);
    if (!sites || sites->empty()) continue;
    files.push_back({std::move(seen), path, std::move(*sites), std::atoi(process.c_str())});
  }
  return files;
}

// The processes that run a file of this name.
std::vector<std::string> processes_of(const std::string& name) {
  std::vector<std::string> found;
  std::error_code problem;  // a process may end at any time
  for (const auto& entry : fs::directory_iterator("/proc", problem)) {
    const std::string process = entry.path().filename();
    if (!is_number(process)) continue;
    std::error_code gone;
    if (fs::read_symlink(entry.path() / "exe", gone).filename() == name) found.push_back(process);
  }
  return found;
}

// Each file once, and for all processes that map it.
std::vector<ProbedFile> files_of_all(const std::vector<std::string>& processes) {
  std::vector<ProbedFile> all;
  for (const std::string& process : processes) {
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
    if (is_number(program)) return files_of_process(program);
    const std::vector<std::string> processes = processes_of(program);
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
