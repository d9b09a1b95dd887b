// SPDX-License-Identifier: Apache-2.0
#include "cli/probe_switch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/number_text.h"
#include "base/output.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "collect/left_flags.h"
#include "collect/probed_files.h"
#include "collect/site_choice.h"
#include "collect/switch.h"
#include "record/signals.h"

namespace strata::cli {
namespace {

using collect::ProbedFile;

int fail(const Error& error) {
  complain(error);
  return kExitInput;
}

std::string probes_text(size_t count) {
  return grouped(count) + (count == 1 ? " probe" : " probes");
}

// The chosen sites of each file; files without any are left out. A glob may concern one file alone.
Result<std::vector<ProbedFile>> find_chosen(const ProbeArguments& arguments) {
  Result<std::vector<ProbedFile>> files = collect::probed_files(arguments.program);
  if (!files) return files;
  std::vector<std::string> globs = arguments.globs;
  if (globs.empty()) globs.emplace_back("*");
  for (const std::string& glob : globs) {
    const bool found = std::ranges::any_of(*files, [&](const ProbedFile& file) {
      return !collect::choose_sites(file.sites, std::span(&glob, 1)).empty();
    });
    if (!found)
      return Error{arguments.program, std::nullopt,
                   "has no probe '" + glob + "' (strata probe list shows those it has)"};
  }
  for (ProbedFile& file : *files) file.sites = collect::choose_sites(file.sites, globs);
  std::erase_if(*files, [](const ProbedFile& file) { return file.sites.empty(); });
  return files;
}

void tell(std::string_view text) {
  Output out(STDOUT_FILENO);
  out.text().put(text);
  (void)out.finish();
}

std::vector<pid_t> processes_of(const ProbedFile& file) {
  return file.process != 0 ? std::vector{file.process} : std::vector<pid_t>{};
}

// Until somebody asks us to end, or the process has.
void wait_for_end(record::Signals& signals, pid_t process) {
  const FileDescriptor watched(process != 0 ? static_cast<int>(syscall(SYS_pidfd_open, process, 0))
                                            : -1);
  if (process != 0 && !watched && errno == ESRCH) return;
  do {
    pollfd waited[] = {{signals.file(), POLLIN, 0}, {watched.get(), POLLIN, 0}};
    (void)poll(waited, std::size(waited), -1);
    if (waited[1].revents != 0) return;
  } while (!signals.asked_to_end());
}

}  // namespace

int enable_probes(const ProbeArguments& arguments) {
  const Result<std::vector<ProbedFile>> files = find_chosen(arguments);
  if (!files) return fail(files.error());
  record::Signals signals;
  const pid_t process = files->front().process;  // all are of the same one, or of none
  std::vector<collect::SwitchedSites> switched;
  size_t count = 0;
  bool by_kernel = true;
  for (const ProbedFile& file : *files) {
    Result<collect::SwitchedSites> sites =
        collect::SwitchedSites::open(file.path, file.sites, {processes_of(file), arguments.force});
    if (!sites) return fail(sites.error());
    for (const std::string& remark : sites->remarks()) warn(remark);
    by_kernel &= sites->is_by_kernel();
    switched.push_back(std::move(*sites));
    count += file.sites.size();
  }
  std::string where = process != 0 ? " in process " + arguments.program
                                   : " of " + arguments.program + " in every process";
  if (!by_kernel && process == 0) where += " that runs now";
  tell(probes_text(count) + where + (count == 1 ? " is" : " are") + " on, until Ctrl-C\n");
  wait_for_end(signals, process);
  return kExitFine;
}

int disable_probes(const ProbeArguments& arguments) {
  const Result<std::vector<ProbedFile>> files = find_chosen(arguments);
  if (!files) return fail(files.error());
  size_t cleared = 0;
  size_t held = 0;
  bool fine = true;
  for (const ProbedFile& file : *files) {
    const Result<collect::FileIdentity> identity = collect::FileIdentity::of(file.path);
    if (!identity) return fail(identity.error());
    const collect::LeftFlags left =
        collect::clear_left_flags(*identity, file.sites, processes_of(file));
    cleared += left.cleared;
    held += left.held;
    for (const std::string& remark : left.remarks) {
      warn(remark);
      fine = false;
    }
  }
  tell(probes_text(cleared) + " switched off\n");
  if (held != 0)
    warn(probes_text(held) + " still on: the kernel has them on for a tracer that runs");
  return fine ? kExitFine : kExitInput;
}

}  // namespace strata::cli
