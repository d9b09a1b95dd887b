// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/output.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "record/core_recovery.h"
#include "record/registry.h"
#include "recording/finish.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;

// Finishing takes the files away that a live session still writes to.
bool is_being_recorded(const std::string& folder) {
  char* resolved = realpath(folder.c_str(), nullptr);
  if (resolved == nullptr) return false;
  const std::string path = resolved;
  free(resolved);
  struct stat status {};
  stat(path.c_str(), &status);
  for (const record::SessionEntry& session : record::list_sessions()) {
    // A user's word counts for what is the user's, root's for everything.
    if (session.user != 0 && session.user != status.st_uid) continue;
    if (session.is_alive && (session.folder == path || path.starts_with(session.folder + "/"))) {
      complain(Error{folder, std::nullopt,
                     "is being recorded by session '" + session.name + "': 'strata session stop " +
                         session.name + "' ends and finishes it"});
      return true;
    }
  }
  return false;
}

// Shows it as JSON, where that is wanted.
bool show(const RecoverArguments& arguments, const Json& results) {
  if (!arguments.json) return true;
  Output out(STDOUT_FILENO);
  out.text().put(results.dump(2, ' ', false, Json::error_handler_t::replace));
  out.text().put('\n');
  return static_cast<bool>(out.finish());
}

int run_core(const RecoverArguments& arguments) {
  const Result<record::RecoveredCore> recovered =
      record::recover_core(arguments.core, arguments.output);
  if (!recovered) {
    complain(recovered.error());
    return kExitInput;
  }
  const bool shown =
      show(arguments,
           {{"path", arguments.output}, {"events", recovered->events}, {"lost", recovered->lost}});
  return shown ? kExitFine : kExitInput;
}

}  // namespace

int run(const RecoverArguments& arguments) {
  umask(077);  // as it was recorded: for its owner alone
  if (!arguments.core.empty()) return run_core(arguments);
  int status = kExitFine;
  Json results = Json::array();
  for (const std::string& path : arguments.paths) {
    if (is_being_recorded(path)) {
      status = kExitInput;
      continue;
    }
    Progress progress("finishing " + path, false);
    const Result<recording::Finished> finished = recording::finish_recording(
        path, {arguments.packing == Packing::Zstd,
               [&](uint64_t done, uint64_t total) { progress.update(done, total); }});
    if (!finished) {
      complain(finished.error());
      status = kExitInput;
      continue;
    }
    results.push_back(
        {{"path", path}, {"finished", finished->parts}, {"already", finished->already}});
  }
  if (!show(arguments, Json{{"recordings", results}})) status = kExitInput;
  return status;
}

}  // namespace strata::cli
