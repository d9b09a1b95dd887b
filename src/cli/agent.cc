// SPDX-License-Identifier: Apache-2.0
#include "guest/agent.h"

#include <algorithm>
#include <cstdio>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/guest_key.h"
#include "cli/terminal.h"
#include "guest/recorder.h"
#include "record/signals.h"

namespace strata::cli {
namespace {

int make_key(const std::string& given) {
  const std::string path = given.empty() ? guest::Key::places().front() : given;
  const Result<guest::Key> key = guest::Key::make(path);
  if (!key) {
    complain(key.error());
    return kExitInput;
  }
  Output out(STDOUT_FILENO);
  out.text().put("made the key " + path +
                 "\nIt has to be on the host and in its guests: copy the file, with its "
                 "permissions, or give it to QEMU\nwith -fw_cfg name=opt/strata/key,file=" +
                 path + "\n");
  return out.finish() ? kExitFine : kExitInput;
}

int listen(const AgentArguments& arguments) {
  guest::Agent::Options options;
  options.most_recordings = arguments.most_recordings;
  options.log = [](std::string line) {
    // A host's words may be in it.
    std::ranges::replace_if(
        line, [](char c) { return !guest::is_printable(c); }, '?');
    complain(line);
  };
  std::vector<std::string> addresses = arguments.listen;
  if (addresses.empty()) addresses.emplace_back("vsock://*");
  for (const std::string& text : addresses) {
    const Result<guest::Address> address = guest::parse_address(text);
    if (!address) {
      complain("--listen: " + address.error().text());
      return kExitUsage;
    }
    options.addresses.push_back(*address);
  }
  const Result<guest::Key> key = read_guest_key(arguments.key);
  if (!key) {
    complain(key.error());
    return kExitInput;
  }
  record::Signals signals;
  const Result<std::unique_ptr<guest::Agent>> agent =
      guest::Agent::create(*key, std::move(options));
  if (!agent) {
    complain(agent.error());
    return kExitInput;
  }
  for (const guest::Address& address : (*agent)->addresses())
    std::fprintf(stderr, "strata: listens at %s\n", address.text().c_str());
  (*agent)->run(signals.file(), [&] { return signals.asked_to_end(); });
  return kExitFine;
}

}  // namespace

int run(const AgentArguments& arguments) {
  if (arguments.recorder) return guest::run_recorder();
  if (arguments.init) return make_key(arguments.key);
  return listen(arguments);
}

}  // namespace strata::cli
