// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/terminal.h"
#include "collect/probed_files.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;

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
  const Result<std::vector<collect::ProbedFile>> files = collect::probed_files(arguments.program);
  if (!files) {
    complain(files.error());
    return kExitInput;
  }
  Output out(STDOUT_FILENO);
  if (arguments.json) {
    Json list = Json::array();
    for (const collect::ProbedFile& file : *files) {
      Json probes = Json::array();
      for (const collect::FileSite& site : file.sites) probes.push_back(as_json(site));
      list.push_back({{"path", file.shown}, {"probes", std::move(probes)}});
    }
    put_json_object({{"files", std::move(list)}}, out.text());
  } else {
    Table table({"probe", "what", "level", "site", "fields", "file"});
    table.align_left(1);
    for (size_t column : {3, 4, 5}) table.align_left(column);
    for (const collect::ProbedFile& file : *files)
      for (const collect::FileSite& site : file.sites)
        table.add({site.site.provider + ":" + site.site.name, what_it_is(site.site),
                   std::to_string(site.site.level),
                   site.patched == 0 ? "flag" : "patched, " + std::to_string(site.patched),
                   fields_text(site.site), file.shown});
    if (table.empty()) {
      out.text().put("no probes in " + arguments.program + "\n");
    } else {
      table.put(Style(STDOUT_FILENO), 0, out.text());
    }
  }
  return out.finish() ? kExitFine : kExitInput;
}

}  // namespace strata::cli
