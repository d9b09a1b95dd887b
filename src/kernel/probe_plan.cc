// SPDX-License-Identifier: Apache-2.0
#include "kernel/probe_plan.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "elf/elf_file.h"
#include "elf/symbols.h"
#include "elf/usdt.h"
#include "kernel/usdt_arguments.h"

namespace strata::kernel {
namespace {

constexpr size_t kMostSuggestions = 5;

std::string hexadecimal(uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
  return "0x" + std::string(digits, end);
}

// Names like the one that is not there: ", but ..., ...".
template <typename Names>
std::string suggestions(const Names& names, std::string_view wanted) {
  std::vector<std::string> similar;
  for (const std::string& name : names) {
    if (similar.size() == kMostSuggestions) break;
    if (name.find(wanted) == std::string::npos) continue;
    if (std::find(similar.begin(), similar.end(), name) == similar.end()) similar.push_back(name);
  }
  std::string text;
  for (const std::string& name : similar) text += (text.empty() ? ", but " : ", ") + name;
  return text;
}

// An optional spec becomes a plan for nothing that says so.
Result<ProbePlan> missing(const ProbeSpec& spec, const std::string& file, std::string cause) {
  if (!spec.optional) return Error{file, std::nullopt, std::move(cause)};
  ProbePlan plan;
  plan.remarks.push_back(spec.text() + ": left out: " + cause);
  return plan;
}

bool uses_registers(const std::vector<ProbeArgument>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const ProbeArgument& argument) {
    return argument.fetch.find('%') != std::string::npos ||
           argument.fetch.find("$stack") != std::string::npos;
  });
}

}  // namespace

std::string ProbeSite::definition(std::string_view group, std::string_view event,
                                  std::string_view shown_path) const {
  std::string text = at_return ? "r:" : "p:";
  text.append(group).append("/").append(event).append(" ");
  if (in_kernel) {
    text += kernel_place;
  } else {
    text.append(shown_path).append(":").append(hexadecimal(offset));
    if (semaphore) text += "(" + hexadecimal(*semaphore) + ")";
  }
  for (const ProbeArgument& argument : arguments) text += " " + argument.text();
  return text;
}

bool ProbeSite::same_fields(const ProbeSite& other) const {
  return in_kernel == other.in_kernel && at_return == other.at_return &&
         std::equal(arguments.begin(), arguments.end(), other.arguments.begin(),
                    other.arguments.end(), [](const ProbeArgument& a, const ProbeArgument& b) {
                      return a.name == b.name && a.type == b.type;
                    });
}

struct ProbePlanner::Binary {
  elf::ElfFile file;
  std::vector<elf::Symbol> symbols;
  std::vector<elf::UsdtSite> usdt;
};

ProbePlanner::ProbePlanner() = default;
ProbePlanner::~ProbePlanner() = default;
ProbePlanner::ProbePlanner(ProbePlanner&&) noexcept = default;

Result<const ProbePlanner::Binary*> ProbePlanner::binary(const std::string& name) {
  if (const auto known = binaries_.find(name); known != binaries_.end())
    return static_cast<const Binary*>(known->second.get());
  Result<std::string> path = find_binary(name);
  if (!path) return std::move(path).error();
  Result<elf::ElfFile> file = elf::ElfFile::open(*path);
  if (!file) return std::move(file).error();
  Result<std::vector<elf::Symbol>> symbols = elf::read_symbols(*file);
  if (!symbols) return std::move(symbols).error();
  Result<std::vector<elf::UsdtSite>> usdt = elf::usdt_sites(*file);
  if (!usdt) return std::move(usdt).error();
  auto& place = binaries_[name];
  place.reset(new Binary{*std::move(file), *std::move(symbols), *std::move(usdt)});
  return static_cast<const Binary*>(place.get());
}

Result<ProbePlan> ProbePlanner::plan(const ProbeSpec& spec) {
  std::string event = spec.event;
  if (event.empty()) {
    if (spec.kind == ProbeSpec::Kind::Usdt) event = spec.provider + "_";
    event += spec.symbol;
    if (spec.offset != 0) event += "_" + hexadecimal(spec.offset);
    if (spec.at_return) event += "_return";
  }
  event = as_identifier(event);

  if (spec.kind == ProbeSpec::Kind::KernelFunction) {
    ProbeSite site;
    site.in_kernel = true;
    site.at_return = spec.at_return;
    site.kernel_place = spec.symbol;
    if (spec.offset != 0) site.kernel_place += "+" + std::to_string(spec.offset);
    site.arguments = spec.arguments;
    return ProbePlan{std::move(event), {std::move(site)}, {}};
  }
  Result<const Binary*> read = binary(spec.binary);
  if (!read) return std::move(read).error();
  Result<ProbePlan> plan =
      spec.kind == ProbeSpec::Kind::Usdt ? plan_usdt(spec, **read) : plan_function(spec, **read);
  if (plan) plan->event = std::move(event);
  return plan;
}

Result<ProbePlan> ProbePlanner::plan_function(const ProbeSpec& spec, const Binary& binary) {
  const std::string& path = binary.file.path();
  const std::vector<elf::Symbol> found = elf::functions_named(binary.symbols, spec.symbol);
  if (found.empty()) {
    if (binary.symbols.empty())
      return missing(spec, path, "has no symbols: no function in it can be found by name");
    std::vector<std::string> names;
    for (const elf::Symbol& symbol : binary.symbols)
      if (symbol.kind == elf::Symbol::Kind::Function) names.emplace_back(symbol.name);
    return missing(spec, path,
                   "has no function '" + spec.symbol + "'" + suggestions(names, spec.symbol));
  }
  if (uses_registers(spec.arguments) && binary.file.machine() != EM_X86_64)
    return missing(spec, path, "is not of x86-64: where its arguments are is not known");

  ProbePlan plan;
  for (const elf::Symbol& symbol : found) {
    if (symbol.kind == elf::Symbol::Kind::Indirect)
      return missing(spec, path,
                     "'" + spec.symbol +
                         "' is chosen among several functions when the program starts (IFUNC): "
                         "probe the one that is chosen");
    // A probe inside of another function, or within an instruction, would break the program.
    if (symbol.size != 0 && spec.offset >= symbol.size)
      return missing(spec, path,
                     "'" + spec.symbol + "' has only " + std::to_string(symbol.size) + " bytes");
    const std::optional<uint64_t> offset = binary.file.file_offset(symbol.address + spec.offset);
    if (!offset)
      return missing(spec, path, "'" + spec.symbol + "' has an address that is not in the file");
    ProbeSite site;
    site.at_return = spec.at_return;
    site.path = path;
    site.offset = *offset;
    site.arguments = spec.arguments;
    plan.sites.push_back(std::move(site));
  }
  if (plan.sites.size() > 1)
    plan.remarks.push_back(spec.text() + ": " + std::to_string(plan.sites.size()) +
                           " functions have this name; all of them are probed");
  return plan;
}

Result<ProbePlan> ProbePlanner::plan_usdt(const ProbeSpec& spec, const Binary& binary) {
  const std::string& path = binary.file.path();
  ProbePlan plan;
  bool found = false;
  for (const elf::UsdtSite& usdt : binary.usdt) {
    if (usdt.provider != spec.provider || usdt.name != spec.symbol) continue;
    found = true;
    const std::optional<uint64_t> offset = binary.file.file_offset(usdt.address);
    if (!offset) {
      plan.remarks.push_back(spec.text() + ": a site at " + hexadecimal(usdt.address) +
                             " is left out: it is not in the file");
      continue;
    }
    ProbeSite site;
    site.path = path;
    site.offset = *offset;
    if (usdt.semaphore != 0) {
      site.semaphore = binary.file.file_offset(usdt.semaphore);
      if (!site.semaphore)
        plan.remarks.push_back(spec.text() +
                               ": its semaphore cannot be raised, so the program may pass it by");
    }
    if (binary.file.machine() != EM_X86_64) {
      if (!usdt.arguments.empty())
        plan.remarks.push_back(spec.text() + ": not of x86-64: its arguments are left out");
    } else {
      // The kernel takes "@+OFFSET" from where the file would have to be mapped for the probed
      // instruction to be where it is; so this holds for any variable, also in other segments.
      const auto variable = [&](std::string_view name) -> std::optional<uint64_t> {
        for (const elf::Symbol& symbol : binary.symbols)
          if (symbol.name == name && symbol.kind == elf::Symbol::Kind::Variable)
            return symbol.address - usdt.address + *offset;
        return std::nullopt;
      };
      UsdtArguments decoded = decode_usdt_arguments(usdt.arguments, variable);
      site.arguments = std::move(decoded.arguments);
      for (const std::string& left_out : decoded.left_out)
        plan.remarks.push_back(spec.text() + ": left out " + left_out);
    }
    if (std::find(plan.sites.begin(), plan.sites.end(), site) == plan.sites.end())
      plan.sites.push_back(std::move(site));
  }
  if (found && plan.sites.empty())
    return missing(spec, path, "no site of '" + spec.provider + ":" + spec.symbol + "' is in it");
  if (!found) {
    if (binary.usdt.empty()) return missing(spec, path, "has no USDT probes");
    std::vector<std::string> names;
    for (const elf::UsdtSite& usdt : binary.usdt) names.push_back(usdt.provider + ":" + usdt.name);
    return missing(spec, path,
                   "has no USDT probe '" + spec.provider + ":" + spec.symbol + "'" +
                       suggestions(names, spec.symbol));
  }
  return plan;
}

Result<std::string> find_binary(const std::string& name) {
  const auto real = [](const std::string& path) -> std::optional<std::string> {
    // What /proc gives for a running program is no path, but leads to the file, also where that was
    // replaced since or lies in a container.
    if (path.starts_with("/proc/")) {
      if (access(path.c_str(), R_OK) == 0) return path;
      return std::nullopt;
    }
    char* resolved = realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return std::nullopt;
    std::string text(resolved);
    free(resolved);
    return text;
  };
  if (auto path = real(name)) return *path;
  const int why = errno;
  if (name.find('/') == std::string::npos) {
    const char* folders = getenv("PATH");
    std::string_view rest = folders == nullptr ? "/usr/bin:/bin" : folders;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(':'), rest.size());
      const std::string path = std::string(rest.substr(0, end)) + "/" + name;
      if (end > 0 && access(path.c_str(), X_OK) == 0)
        if (auto found = real(path)) return *found;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return Error{name, std::nullopt, "there is no such program, here or in $PATH"};
  }
  return system_error(name, "cannot find", why);
}

}  // namespace strata::kernel
