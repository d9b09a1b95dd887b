// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/terminal.h"
#include "kernel/facilities.h"
#include "kernel/group_setup.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using kernel::Facility;

int finish(Output& out, int status) { return out.finish() ? status : kExitInput; }

int check(bool json) {
  const std::vector<Facility> all = kernel::try_facilities();
  Output out(STDOUT_FILENO);
  if (json) {
    Json checks = Json::array();
    for (const Facility& facility : all) {
      Json object = {
          {"name", facility.name}, {"available", facility.available}, {"found", facility.found}};
      if (!facility.available) object["cost"] = facility.cost;
      checks.push_back(std::move(object));
    }
    put_json_object({{"checks", std::move(checks)}}, out.text());
  } else {
    const Style style(STDOUT_FILENO);
    for (const Facility& facility : all) {
      std::string name = facility.name;
      name.resize(16, ' ');
      out.text().put(facility.available ? "yes  " : style.alarm("no") + "   ");
      out.text().put(name + facility.found);
      if (!facility.available) out.text().put("; " + facility.cost);
      out.text().put('\n');
    }
  }
  const bool usable = std::ranges::all_of(
      all, [](const Facility& facility) { return facility.available || !facility.vital; });
  return finish(out, usable ? kExitFine : kExitInput);
}

constexpr const char* kGivesAway =
    "Members of the group can record this machine: they see what every process of every user\n"
    "does and has open, and whoever may set probes can read any process's memory. Make members\n"
    "only of those whom you would tell root's secrets. 'strata setup --undo' undoes all of this.\n";

int change(const SetupArguments& arguments) {
  if (geteuid() != 0) {
    complain("only root can change who may record ('strata setup --check' needs no rights)");
    return kExitInput;
  }
  umask(022);  // whatever root's is: members have to get there
  std::vector<std::string> done;
  const Status status = arguments.undo
                            ? kernel::undo_group_setup(arguments.prefix, done)
                            : kernel::set_up_group(arguments.prefix, arguments.group, done);
  Output out(STDOUT_FILENO);
  if (arguments.json) {
    put_json_object({{"changed", done}}, out.text());
  } else {
    for (const std::string& line : done) out.text().put(line + "\n");
    if (arguments.undo && status && done.empty()) out.text().put("there is nothing to undo\n");
    if (!arguments.undo && status) out.text().put(kGivesAway);
  }
  if (!status) complain(status.error());
  return finish(out, status ? kExitFine : kExitInput);
}

}  // namespace

int run(const SetupArguments& arguments) {
  return arguments.check ? check(arguments.json) : change(arguments);
}

}  // namespace strata::cli
