// SPDX-License-Identifier: Apache-2.0
#include "record/session.h"

#include <pwd.h>
#include <unistd.h>

#include "kernel/dynamic_probes.h"
#include "kernel/kernel_files.h"
#include "record/running_session.h"

namespace strata::record {

std::string user_name() {
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? user->pw_name : std::to_string(getuid());
}

recording::Description describe(const SessionRequest& request, const HostClock& clock,
                                int64_t begin_ns) {
  recording::Description description;
  const std::string machine = kernel::machine_text();
  const size_t name = machine.find(' ') + 1;
  const size_t release = machine.find(' ', name) + 1;
  description.machines.push_back({machine.substr(name, release - name - 1), "host",
                                  kernel::boot_id(),
                                  machine.substr(release, machine.find(' ', release) - release)});
  description.clocks = clock.descriptions(description.machines.front().name);
  description.maps = clock.maps();
  description.sessions.push_back({request.name, user_name(), begin_ns, 0, request.asked, {}});
  return description;
}

bool remove_from_kernel(const kernel::Tracefs& tracefs, const std::string& name, uid_t user) {
  const std::string session = machine_wide_name(name, user);
  const bool no_instance = static_cast<bool>(
      kernel::remove_instance(tracefs.file("instances/" + kernel::instance_name(session))));
  return static_cast<bool>(kernel::remove_probes(tracefs, kernel::probe_group(session))) &&
         no_instance;
}

void clean_up_after_the_dead(const kernel::Tracefs& tracefs) {
  for (const SessionEntry& entry : list_sessions()) {
    if (entry.is_alive || (entry.user != getuid() && getuid() != 0)) continue;
    if (remove_from_kernel(tracefs, entry.name, entry.user)) forget_session(entry.name, entry.user);
  }
}

Result<SessionReport> record(const SessionRequest& request, const SessionEvents& events) {
  RunningSession session(request, events);
  if (Status status = session.prepare(); !status) return std::move(status).error();
  if (request.flight) {
    if (Status status = session.take_off(); !status) return std::move(status).error();
    session.wait();
    return session.land();
  }
  if (Status status = session.start(); !status) return std::move(status).error();
  if (Status status = session.explain(); !status) return std::move(status).error();
  session.wait();
  session.stop();
  return session.finish();
}

}  // namespace strata::record
