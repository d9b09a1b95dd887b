// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/terminal.h"
#include "collect/site_file.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ProbedFile {
  std::string path;  // as people know it
  std::vector<collect::FileSite> sites;
};

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

Result<std::vector<collect::FileSite>> read_file(const std::string& path) {
  Result<elf::ElfFile> file = elf::ElfFile::open(path);
  if (!file) return std::move(file).error();
  return collect::sites_of(*file);
}

// A file of this name comes before a process of this number.
Result<std::vector<ProbedFile>> probed_files(const std::string& program) {
  std::vector<ProbedFile> files;
  const bool is_number = program.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || access(program.c_str(), F_OK) == 0) {
    Result<std::vector<collect::FileSite>> sites = read_file(program);
    if (!sites) return std::move(sites).error();
    files.push_back({program, std::move(*sites)});
    return files;
  }
  Result<std::vector<std::string>> paths = mapped_files(program);
  if (!paths) return std::move(paths).error();
  for (const std::string& path : *paths) {
    // As the process sees it: it may have another root. What is no ELF file has no probes.
    Result<std::vector<collect::FileSite>> sites = read_file("/proc/" + program + "/root" + path);
    if (sites && !sites->empty()) files.push_back({path, std::move(*sites)});
  }
  return files;
}

std::string type_text(const collect::SiteField& field) {
  const std::string number = std::string(field.is_float    ? "f"
                                         : field.is_signed ? "s"
                                                           : "u") +
                             std::to_string(field.bytes * 8);
  switch (field.shape) {
    case collect::FieldShape::Number:
      return number;
    case collect::FieldShape::Enum:
      return "enum";
    case collect::FieldShape::String:
      return "string";
    case collect::FieldShape::Sequence:
      return number + "[]";
  }
  return {};
}

std::string fields_text(const collect::Site& site) {
  std::string text;
  for (const collect::SiteField& field : site.fields) {
    if (!text.empty()) text += ", ";
    text += type_text(field) + " " + field.name;
  }
  return text;
}

const char* what_it_is(const collect::Site& site) {
  switch (site.kind) {
    case probe::abi::SiteKind::Event:
      return "event";
    case probe::abi::SiteKind::Span:
      return "span";
    case probe::abi::SiteKind::Counter:
      return "counter";
  }
  return "";
}

Json as_json(const collect::FileSite& site) {
  Json fields = Json::array();
  for (const collect::SiteField& field : site.site.fields) {
    Json one{{"name", field.name}, {"type", type_text(field)}};
    for (const auto& [label, value] : field.labels) one["values"][label] = value;
    fields.push_back(std::move(one));
  }
  return {{"provider", site.site.provider}, {"name", site.site.name},
          {"kind", what_it_is(site.site)},  {"level", site.site.level},
          {"patched", site.patched},        {"fields", std::move(fields)}};
}

}  // namespace

int run(const ProbeArguments& arguments) {
  const Result<std::vector<ProbedFile>> files = probed_files(arguments.program);
  if (!files) {
    complain(files.error());
    return kExitInput;
  }
  Output out(STDOUT_FILENO);
  if (arguments.json) {
    Json list = Json::array();
    for (const ProbedFile& file : *files) {
      Json probes = Json::array();
      for (const collect::FileSite& site : file.sites) probes.push_back(as_json(site));
      list.push_back({{"path", file.path}, {"probes", std::move(probes)}});
    }
    put_json_object({{"files", std::move(list)}}, out.text());
  } else {
    Table table({"probe", "what", "level", "site", "fields", "file"});
    table.align_left(1);
    for (size_t column : {3, 4, 5}) table.align_left(column);
    for (const ProbedFile& file : *files)
      for (const collect::FileSite& site : file.sites)
        table.add({site.site.provider + ":" + site.site.name, what_it_is(site.site),
                   std::to_string(site.site.level),
                   site.patched == 0 ? "flag" : "patched, " + std::to_string(site.patched),
                   fields_text(site.site), file.path});
    if (table.empty()) {
      out.text().put("no probes in " + arguments.program + "\n");
    } else {
      table.put(Style(STDOUT_FILENO), 0, out.text());
    }
  }
  return out.finish() ? kExitFine : kExitInput;
}

}  // namespace strata::cli
