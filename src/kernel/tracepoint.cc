// SPDX-License-Identifier: Apache-2.0
#include "kernel/tracepoint.h"

#include <filesystem>
#include <vector>

#include "base/small_file.h"
#include "ftrace/format_file.h"
#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

namespace fs = std::filesystem;

std::string format_file(const std::string& system, const std::string& event) {
  std::string file = "events/";
  return file.append(system).append("/").append(event).append("/format");
}

// The systems that have an event of this name.
std::vector<std::string> systems_of(const Tracefs& tracefs, const std::string& event) {
  std::vector<std::string> systems;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(tracefs.file("events"), error)) {
    std::string system = entry.path().filename().string();
    if (tracefs.has(format_file(system, event))) systems.push_back(std::move(system));
  }
  return systems;
}

// Not a way to somewhere else in the file system.
bool is_name(std::string_view name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

}  // namespace

Result<trace::EventType> find_tracepoint(const Tracefs& tracefs, std::string_view name) {
  const Privilege privilege{Capability::DacOverride};
  const auto fail = [&](const std::string& cause) {
    return Error{"", std::nullopt, "'" + std::string(name) + "' " + cause};
  };
  const size_t colon = name.find(':');
  const std::string event(colon == std::string_view::npos ? name : name.substr(colon + 1));
  std::string system(colon == std::string_view::npos ? "" : name.substr(0, colon));
  if (!is_name(event) || (colon != std::string_view::npos && !is_name(system)))
    return fail("is no name of an event: SYSTEM:EVENT");
  if (system.empty()) {
    const std::vector<std::string> systems = systems_of(tracefs, event);
    if (systems.size() > 1)
      return fail("is an event of several systems: " + systems[0] + ":" + event + ", " +
                  systems[1] + ":" + event);
    if (!systems.empty()) system = systems[0];
  }
  const std::string file = format_file(system, event);
  if (system.empty() || !tracefs.has(file)) return fail("is no event of this kernel");
  const Result<std::string> text = read_small_file(tracefs.file(file), size_t{1} << 20);
  if (!text) return text.error();
  Result<trace::EventType> type =
      ftrace::parse_format_file(system, *text, {kNativeOrder, sizeof(long)});
  if (!type) return Error{tracefs.file(file), type.error().offset, type.error().cause};
  return type;
}

}  // namespace strata::kernel
