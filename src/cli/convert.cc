// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/output.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/rewrite.h"
#include "cli/terminal.h"
#include "recording/open.h"
#include "recording/to_ctf.h"

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

int to_trace(const ConvertArguments& arguments) {
  Result<std::unique_ptr<trace::Trace>> trace = recording::open_trace(arguments.path);
  if (!trace) {
    complain(trace.error());
    return kExitInput;
  }
  const bool to_ctf = arguments.to == ConvertArguments::Format::Ctf;
  if (!to_ctf && !is_writable_target(arguments.output)) return kExitInput;
  Progress progress("converting " + arguments.path, false);
  const recording::RewriteOptions options = rewrite_options(arguments.packing, progress);
  Status status = to_ctf ? recording::to_ctf(**trace, arguments.output, {}, options.progress)
                         : recording::convert_to_tracedat(**trace, arguments.output, options);
  if (!status) {
    complain(status.error());
    return kExitInput;
  }
  return finish_rewrite(**trace, arguments.output, arguments.json);
}

}  // namespace

int run(const ConvertArguments& arguments) {
  if (arguments.to != ConvertArguments::Format::Json) return to_trace(arguments);
  DumpArguments dump;
  dump.paths = {arguments.path};
  dump.output = arguments.output;
  dump.json = true;
  const int status = run(dump);
  return arguments.json ? std::max(status, show_written(arguments.output)) : status;
}

}  // namespace strata::cli
