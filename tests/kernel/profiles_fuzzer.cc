// SPDX-License-Identifier: Apache-2.0
//
// A file of profiles: whatever it says, it is read or refused with a place, and every profile that
// is read chooses from a kernel's events.
#include <cstdlib>

#include "catalog_names.h"
#include "kernel/profiles.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  using namespace strata::kernel;
  static const Profiles built_in = Profiles::built_in();
  static const EventCatalog catalog =
      made_up("sched:sched_switch sched:sched_waking irq:softirq_raise a:b probes:open",
              "p:probes/open do_sys_open\n");
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  Profiles profiles = built_in;
  const Status added = profiles.add_text(text, "file");
  if (!added) {
    if (!added.error().cause.starts_with("line ")) abort();
    if (profiles.all().size() != built_in.all().size()) abort();
    return 0;
  }
  for (size_t i = built_in.all().size(); i < profiles.all().size(); ++i) {
    const Profile& profile = profiles.all()[i];
    for (size_t included : profile.includes)
      if (included >= i) abort();
    // Each needs those before it: all of many would take long, and tell nothing more.
    if (i > built_in.all().size() + 20) break;
    const Result<Profiles::Chosen> chosen = profiles.choose(catalog, profile.name);
    if (!chosen || chosen->events.size() != catalog.events().size()) abort();
    if (!choose_events(catalog, profiles, {profile.name}, {"sched"})) abort();
  }
  return 0;
}
