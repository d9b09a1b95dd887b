// SPDX-License-Identifier: Apache-2.0
#include "cli/kernel_events.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/output.h"
#include "cli/commands.h"
#include "cli/event_types.h"
#include "cli/json_output.h"
#include "cli/terminal.h"
#include "kernel/event_catalog.h"
#include "kernel/profiles.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using kernel::EventCatalog;
using kernel::EventChoice;
using kernel::Profile;
using kernel::Profiles;
using trace::EventType;

std::string kernel_release() {
  utsname name{};
  return uname(&name) == 0 ? name.release : "";
}

size_t count(const EventCatalog::Marks& marks) {
  return static_cast<size_t>(std::count(marks.begin(), marks.end(), true));
}

int finish(Output& out, int status) {
  const Status written = out.finish();
  if (written) return status;
  complain(written.error());
  return kExitInput;
}

Result<Profiles> profiles_of(const EventsArguments& arguments) {
  Profiles profiles = Profiles::built_in();
  if (arguments.profile_file.empty()) return profiles;
  Status added = profiles.add_file(arguments.profile_file);
  if (!added) return std::move(added).error();
  return profiles;
}

int list_profiles(const EventCatalog& catalog, const Profiles& profiles, bool as_json) {
  Json json = {{"kernel", kernel_release()}, {"profiles", Json::array()}};
  Table table({"profile", "events", "for"});
  table.align_left(2);
  const Style style(STDOUT_FILENO);
  Output out(STDOUT_FILENO);
  for (const Profile& profile : profiles.all()) {
    const Result<Profiles::Chosen> chosen = profiles.choose(catalog, profile.name);
    if (!chosen) continue;  // cannot be: it is one of them
    const size_t events = count(chosen->events);
    if (as_json) {
      json["profiles"].push_back({{"name", profile.name},
                                  {"description", profile.description},
                                  {"built_in", profile.built_in},
                                  {"events", events},
                                  {"missing", chosen->missing}});
    } else {
      table.add({profile.name, grouped(events), profile.description});
    }
  }
  if (as_json) {
    put_json_object(json, out.text());
  } else {
    table.put(style, 0, out.text());
  }
  return finish(out, kExitFine);
}

// What is to be shown: all, or what the profiles choose; of it, what -e asks for.
struct Shown {
  EventCatalog::Marks events;
  std::vector<std::string> missing;  // patterns of the profiles
};

Result<Shown> choose(const EventCatalog& catalog, const Profiles& profiles,
                     const EventsArguments& arguments) {
  Shown shown;
  shown.events = EventCatalog::Marks(catalog.events().size(), arguments.profiles.empty());
  for (const std::string& name : arguments.profiles) {
    Result<Profiles::Chosen> chosen = profiles.choose(catalog, name);
    if (!chosen) return std::move(chosen).error();
    for (size_t i = 0; i < shown.events.size(); ++i)
      if (chosen->events[i]) shown.events[i] = true;
    for (std::string& pattern : chosen->missing) shown.missing.push_back(std::move(pattern));
  }
  if (arguments.patterns.empty()) return shown;
  Result<EventCatalog::Marks> wanted = catalog.mark(arguments.patterns);
  if (!wanted) return std::move(wanted).error();
  for (size_t i = 0; i < shown.events.size(); ++i)
    if (!(*wanted)[i]) shown.events[i] = false;
  return shown;
}

// Thousands of formats take a while: names need none, and are what a whole kernel's list is for.
TypeStyle style_of(const EventsArguments& arguments) {
  TypeStyle how{TypeDetail::Names, arguments.by_family};
  if (arguments.verbose || !arguments.patterns.empty()) how.detail = TypeDetail::Fields;
  if (arguments.format) how.detail = TypeDetail::Declaration;
  return how;
}

int show_events(const EventCatalog& catalog, const Profiles& profiles,
                const EventsArguments& arguments) {
  const Result<Shown> shown = choose(catalog, profiles, arguments);
  if (!shown) {
    complain(shown.error());
    return kExitInput;
  }
  int status = kExitFine;
  const TypeStyle how = style_of(arguments);
  std::vector<EventType> read;
  for (EventChoice& event : catalog.choices(shown->events)) {
    if (how.detail == TypeDetail::Names && !arguments.json) {
      EventType& type = read.emplace_back();
      type.system = std::move(event.system);
      type.name = std::move(event.name);
      continue;
    }
    Result<EventType> type = catalog.type(event.system, event.name);
    if (type) {
      read.push_back(*std::move(type));
    } else {
      complain(type.error());
      status = kExitInput;
    }
  }
  std::vector<const EventType*> types;
  for (const EventType& type : read) types.push_back(&type);

  Output out(STDOUT_FILENO);
  if (arguments.json) {
    Json json = {{"kernel", kernel_release()}};
    if (!arguments.profiles.empty()) {
      json["profiles"] = arguments.profiles;
      json["missing"] = shown->missing;
    }
    json["event_types"] = json_types(types, how);
    put_json_object(json, out.text());
  } else {
    put_types(types, how, Style(STDOUT_FILENO), out);
  }
  if (types.empty() && status == kExitFine) {
    complain(arguments.patterns.empty() ? "this kernel has no such events"
                                        : "no event of the profile matches");
    status = kExitInput;
  }
  return finish(out, status);
}

}  // namespace

int kernel_events(const EventsArguments& arguments) {
  const Result<Profiles> profiles = profiles_of(arguments);
  if (!profiles) {
    complain(profiles.error());
    return kExitInput;
  }
  for (const std::string& name : arguments.profiles) {
    const Result<const Profile*> profile = profiles->find(name);
    if (profile) continue;
    complain(profile.error());
    return kExitUsage;
  }
  const Result<kernel::Tracefs> tracefs = kernel::Tracefs::find();
  if (!tracefs) {
    complain(tracefs.error());
    return kExitInput;
  }
  const Result<EventCatalog> catalog = EventCatalog::read(*tracefs);
  if (!catalog) {
    complain(catalog.error());
    return kExitInput;
  }
  if (arguments.list_profiles) return list_profiles(*catalog, *profiles, arguments.json);
  return show_events(*catalog, *profiles, arguments);
}

}  // namespace strata::cli
