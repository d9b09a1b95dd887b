// SPDX-License-Identifier: Apache-2.0
#include "cli/probed_program.h"

#include <unistd.h>

#include <charconv>
#include <set>

#include "collect/process_files.h"

namespace strata::cli {
namespace {

Result<std::vector<collect::FileSite>> read_file(const std::string& path) {
  Result<elf::ElfFile> file = elf::ElfFile::open(path);
  if (!file) return std::move(file).error();
  return collect::sites_of(*file);
}

std::optional<pid_t> read_number(const std::string& text) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

}  // namespace

Result<ProbedProgram> ProbedProgram::find(const std::string& name) {
  ProbedProgram program;
  program.process = read_number(name);
  if (!program.process || access(name.c_str(), F_OK) == 0) {
    program.process.reset();
    Result<std::vector<collect::FileSite>> sites = read_file(name);
    if (!sites) return std::move(sites).error();
    program.files.push_back({name, name, std::move(*sites)});
    return program;
  }
  const Result<std::vector<collect::CodeMapping>> mappings =
      collect::code_mappings(*program.process);
  if (!mappings) return mappings.error();
  std::set<std::string> seen;
  for (const collect::CodeMapping& mapping : *mappings) {
    if (!seen.insert(mapping.path).second) continue;
    // As the process sees it: it may have another root. What is no ELF file has no probes.
    std::string reachable = collect::reachable_path(*program.process, mapping);
    Result<std::vector<collect::FileSite>> sites = read_file(reachable);
    if (sites && !sites->empty())
      program.files.push_back({mapping.path, std::move(reachable), std::move(*sites)});
  }
  return program;
}

}  // namespace strata::cli
