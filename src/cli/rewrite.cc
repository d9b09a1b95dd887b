// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "cli/traces.h"
#include "recording/open.h"
#include "trace/summary.h"

namespace strata::cli {

recording::RewriteOptions rewrite_options(Packing packing, Progress& progress) {
  return {packing == Packing::Zstd,
          [&progress](uint64_t done, uint64_t total) { progress.update(done, total); }};
}

bool is_writable_target(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return true;
  complain(Error{path, std::nullopt, "is no regular file: a trace cannot be written there"});
  return false;
}

int finish_rewrite(const trace::Trace& source, const std::string& output, bool json) {
  const int status = tell_problems(source.problems());
  if (!json) return status;

  Result<std::unique_ptr<trace::Trace>> written = recording::open_trace(output);
  if (!written) {
    complain(written.error());
    return kExitInput;
  }
  const trace::TraceSummary summary = trace::summarize(**written);
  std::error_code ignored;
  nlohmann::ordered_json object = {
      {"path", output},
      {"kind", (*written)->info().kind},
      {"bytes", std::filesystem::file_size(output, ignored)},
      {"events", summary.events},
      {"lost", summary.lost},
      {"lost_unknown", summary.lost_unknown},
      {"begin_ns", summary.span ? nlohmann::ordered_json(summary.span->begin.count) : nullptr},
      {"end_ns", summary.span ? nlohmann::ordered_json(summary.span->end.count) : nullptr}};
  Output out(STDOUT_FILENO);
  out.text().put(object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  out.text().put('\n');
  if (Status shown = out.finish(); !shown) {
    complain(shown.error());
    return kExitInput;
  }
  return std::max(status, tell_problems(summary.problems));
}

}  // namespace strata::cli
