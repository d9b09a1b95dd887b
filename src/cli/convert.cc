// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/convert.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/output.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/rewrite.h"
#include "cli/terminal.h"

namespace strata::cli {
namespace {

// What can be told of a file of JSON without reading it again.
int show_written(const std::string& path) {
  std::error_code ignored;
  const nlohmann::ordered_json object = {
      {"path", path}, {"kind", "json"}, {"bytes", std::filesystem::file_size(path, ignored)}};
  Output out(STDOUT_FILENO);
  out.text().put(object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  out.text().put('\n');
  return out.finish() ? kExitFine : kExitInput;
}

int to_trace_dat(const ConvertArguments& arguments) {
  const std::unique_ptr<tracedat::TraceDat> trace = open_trace_dat(arguments.path);
  if (!trace) return kExitInput;
  if (!is_writable_target(arguments.output)) return kExitInput;
  Progress progress("converting " + arguments.path, false);
  Status status =
      tracedat::convert(*trace, arguments.output, write_options(arguments.packing),
                        [&](uint64_t done, uint64_t total) { progress.update(done, total); });
  if (!status) {
    complain(status.error());
    return kExitInput;
  }
  return finish_rewrite(*trace, arguments.output, arguments.json);
}

}  // namespace

int run(const ConvertArguments& arguments) {
  if (arguments.to == ConvertArguments::Format::TraceDat) return to_trace_dat(arguments);
  DumpArguments dump;
  dump.paths = {arguments.path};
  dump.output = arguments.output;
  dump.json = true;
  const int status = run(dump);
  return arguments.json ? std::max(status, show_written(arguments.output)) : status;
}

}  // namespace strata::cli
