// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include "cli/ask_arguments.h"
#include "cli/commands.h"
#include "cli/guest_arguments.h"
#include "cli/options.h"
#include "cli/record_arguments.h"
#include "cli/record_config.h"
#include "cli/top_arguments.h"

namespace strata::cli {
namespace {

std::string with_times(const std::string& examples) {
  return std::string(kTimeHelp) + "\n\n" + examples;
}

// CLI11's way, but without its own remarks about types and how often an option may be given.
class Help : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_positional() ? "" : " " + option->get_type_name();
  }
};

CLI::App* add_info(CLI::App& app, InfoArguments& arguments) {
  CLI::App* info = app.add_subcommand("info", "What traces hold: events, losses, clocks, times");
  info->group(kLook);
  info->add_option("PATH", arguments.paths, "Traces")->required();
  add_json(*info, arguments.json, "One JSON object");
  info->footer("Example:\n  strata info trace.dat");
  return info;
}

CLI::App* add_events(CLI::App& app, EventsArguments& arguments) {
  CLI::App* events = app.add_subcommand(
      "events", "The events of this kernel or of a trace, their fields, and profiles of them");
  events->group(kLook);
  CLI::Option* paths =
      events->add_option("PATH", arguments.paths, "Traces; without any, this machine's kernel");
  add_repeated(*events, "-e", arguments.patterns, "Only these (globs); repeatable")
      ->type_name("[SYSTEM:]EVENT");
  add_choice<bool>(*events, "--by", arguments.by_family, {{"family", true}},
                   "Grouped by what they tell about: VM processor, VM memory; processor,\n"
                   "memory, disk, file system, network of the host")
      ->type_name("family");
  add_repeated(*events, "--profile", arguments.profiles,
               "Only what this profile chooses of the kernel's events; repeatable")
      ->type_name("NAME")
      ->excludes(paths);
  events
      ->add_option("--profiles", arguments.profile_file,
                   "The profiles, and how many of the kernel's events each has; those of\n"
                   "FILE too (docs/profiles.md). With --profile, FILE is where it may be")
      ->expected(0, 1)
      ->type_name("[FILE]")
      ->excludes(paths);
  events->add_flag("-v,--verbose", arguments.verbose, "Fields, also where names alone are shown");
  events->add_flag("--format", arguments.format, "The tracer's own declarations");
  add_json(*events, arguments.json, "One JSON object");
  events->footer(
      "Of this kernel, and by family, the names are shown; with -e or -v the fields too.\n\n"
      "Examples:\n"
      "  strata events --by family\n"
      "  strata events -e sched_switch\n"
      "  strata events --profiles\n"
      "  strata events --profile system\n"
      "  strata events trace.dat -e 'sched:sched_w*'");
  return events;
}

CLI::App* add_dump(CLI::App& app, DumpArguments& arguments, Conditions& conditions) {
  CLI::App* dump = app.add_subcommand("dump", "The events of traces, merged, as text or JSON");
  dump->group(kLook);
  dump->add_option("PATH", arguments.paths, "Traces, shown on one timeline")->required();
  conditions.add_to(*dump,
                    "Only events that fulfil this condition (docs/filter.md):\n"
                    "after an -e it is that event's, before any it is for all");
  dump->add_option("--cpu", arguments.cpus, "Only these CPUs, as in 0-3,8")->type_name("LIST");
  add_repeated(*dump, "--tid", arguments.tids, "Only these threads; repeatable, or 1,2,3")
      ->delimiter(',')
      ->type_name("TID");
  add_period(*dump, arguments.begin, arguments.end);
  add_choice<std::optional<TimeStyle>>(
      *dump, "--time", arguments.time,
      {{"raw", TimeStyle::Raw}, {"relative", TimeStyle::Relative}, {"wall", TimeStyle::Wall}},
      "How times are shown: raw (default for one trace), relative to the first\n"
      "event, or wall (default for several, where they tell it)")
      ->type_name("raw|relative|wall");
  add_choice<LineStyle>(*dump, "--style", arguments.style,
                        {{"report", LineStyle::Report}, {"babeltrace", LineStyle::Babeltrace}},
                        "How lines look: as trace-cmd report's (default), or babeltrace's")
      ->type_name("report|babeltrace");
  add_repeated(*dump, "--fields", arguments.fields, "Only these fields, as name=value")
      ->delimiter(',')
      ->type_name("NAME,...");
  add_repeated(*dump, "--with", arguments.with,
               "The state at each event, too: the process, the mode of its CPU (which system\n"
               "call, interrupt), the virtual CPU that the thread is")
      ->delimiter(',')
      ->check(CLI::IsMember({"proc", "mode", "vm"}).description(""))
      ->type_name("proc,mode,vm");
  dump->add_flag("--follow", arguments.follow,
                 "Go on when CTF traces grow or come, until interrupted; of a running session, by\n"
                 "its name or folder, show what it records from now on (with --begin: from then)");
  dump->add_option("--limit", arguments.limit, "Stop after so many events")->type_name("N");
  dump->add_option("-o,--output", arguments.output, "Write to this file")->type_name("FILE");
  add_json(*dump, arguments.json, "One JSON object a line for each event");
  dump->footer(
      with_times("Examples:\n"
                 "  strata dump trace.dat -e sched_switch -F 'prev_comm ~ \"mysql*\"'\n"
                 "  strata dump host.dat guest.dat --begin +2s --end +3s --cpu 0-3\n"
                 "  strata dump trace.dat --with proc,mode -e block_rq_issue\n"
                 "  strata dump --follow web -e block_rq_complete"));
  return dump;
}

CLI::App* add_trim(CLI::App& app, TrimArguments& arguments) {
  CLI::App* trim = app.add_subcommand("trim", "A part of a trace as a trace of its own");
  trim->group(kChange);
  trim->add_option("PATH", arguments.path, "The trace")->required();
  add_period(*trim, arguments.begin, arguments.end);
  trim->add_option("-o,--output", arguments.output, "The new trace: a file, or a folder")
      ->required()
      ->type_name("FILE");
  add_packing(*trim, arguments.packing);
  add_json(*trim, arguments.json, "What was written, as a JSON object");
  trim->footer(with_times("Example:\n  strata trim trace.dat --begin +10s --end +12s -o part.dat"));
  return trim;
}

CLI::App* add_sync(CLI::App& app, SyncArguments& arguments) {
  CLI::App* sync = app.add_subcommand(
      "sync", "How the clock of one trace leads to another's, from their events");
  sync->group(kChange);
  sync->add_option("PATH", arguments.path, "The trace whose times are brought to the other's")
      ->required();
  sync->add_option("REFERENCE", arguments.reference, "The other, of another machine")->required();
  sync->add_option("-o,--output", arguments.output,
                   "A new folder that opens as both, on one timeline")
      ->type_name("FOLDER");
  add_json(*sync, arguments.json, "The map and its bound, as a JSON object");
  sync->footer(
      "Example:\n  strata sync client server -o both\n  strata dump both --time wall | less");
  return sync;
}

CLI::App* add_convert(CLI::App& app, ConvertArguments& arguments) {
  CLI::App* convert = app.add_subcommand("convert", "A trace in another format or compression");
  convert->group(kChange);
  convert->add_option("PATH", arguments.path, "The trace")->required();
  using Format = ConvertArguments::Format;
  add_choice<Format>(
      *convert, "--to", arguments.to,
      {{"tracedat", Format::TraceDat}, {"ctf", Format::Ctf}, {"json", Format::Json}},
      "tracedat (version 7, for trace-cmd and KernelShark), ctf (a folder, for Babeltrace\n"
      "and Trace Compass) or json (an object a line)")
      ->required()
      ->type_name("FORMAT");
  convert->add_option("-o,--output", arguments.output, "The new file, or folder")
      ->required()
      ->type_name("FILE");
  add_packing(*convert, arguments.packing);
  add_json(*convert, arguments.json, "What was written, as a JSON object");
  convert->footer(
      "Examples:\n"
      "  strata convert old.dat --to tracedat --compression none -o new.dat\n"
      "  strata convert lttng-trace --to tracedat -o new.dat && trace-cmd report new.dat\n"
      "  strata convert trace.dat --to ctf -o trace-ctf && babeltrace2 trace-ctf");
  return convert;
}

// Which command the arguments named, for the hint below a complaint.
std::string named_command(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) return " " + command->get_name();
  return "";
}

}  // namespace

std::variant<Command, int> parse_arguments(int argc, char** argv) {
  CLI::App app("strata: what every layer of a virtualised Linux machine does, on one timeline.",
               "strata");
  InfoArguments info_arguments;
  EventsArguments events_arguments;
  DumpArguments dump_arguments;
  Conditions dump_conditions;
  RecordArguments record_arguments;
  Conditions record_conditions;
  RecoverArguments recover_arguments;
  SessionArguments session_arguments;
  Conditions session_conditions;
  SetupArguments setup_arguments;
  ProbeArguments probe_arguments;
  TopArguments top_arguments;
  AgentArguments agent_arguments;
  StatsArguments stats_arguments;
  StateArguments state_arguments;
  PsArguments ps_arguments;
  QueryArguments query_arguments;
  TrimArguments trim_arguments;
  ConvertArguments convert_arguments;
  SyncArguments sync_arguments;

  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", "strata " STRATA_VERSION, "The version");
  app.set_help_flag("-h,--help", "This text; also after a command");
  app.require_subcommand(1);
  CLI::App* record = add_record(app, record_arguments, record_conditions);
  CLI::App* session = add_session(app, session_arguments, session_conditions);
  CLI::App* setup = add_setup(app, setup_arguments);
  CLI::App* probe = add_probe(app, probe_arguments);
  CLI::App* agent = add_agent(app, agent_arguments);
  CLI::App* top = add_top(app, top_arguments);
  CLI::App* info = add_info(app, info_arguments);
  CLI::App* events = add_events(app, events_arguments);
  CLI::App* dump = add_dump(app, dump_arguments, dump_conditions);
  CLI::App* stats = add_stats(app, stats_arguments);
  CLI::App* state = add_state(app, state_arguments);
  CLI::App* ps = add_ps(app, ps_arguments);
  CLI::App* query = add_query(app, query_arguments);
  CLI::App* trim = add_trim(app, trim_arguments);
  CLI::App* sync = add_sync(app, sync_arguments);
  CLI::App* recover = add_recover(app, recover_arguments);
  add_convert(app, convert_arguments);
  app.footer(
      "Exit status: 0 fine, 1 bad input or a partial answer, 2 wrong usage.\n\n"
      "Example:\n  strata dump trace.dat -e sched | head");

  try {
    GuestWords words = split_guests(argc, argv);
    std::ranges::reverse(words.host);  // CLI11 takes them from behind
    app.parse(std::move(words.host));
    record_arguments.asked.assign(argv, argv + argc);
    if (!record_arguments.config.empty()) {
      const std::vector<std::string> more = read_config(*record, record_arguments.config);
      record_arguments.asked.insert(record_arguments.asked.end(), more.begin(), more.end());
    }
    record_arguments.conditions = record_conditions.in_order();
    for (const std::vector<std::string>& guest : words.guests) {
      record_arguments.guests.push_back(parse_guest(guest));
      if (!record_arguments.guests.back().wishes)
        record_as(record_arguments, record_arguments.guests.back());
    }
  } catch (const CLI::Success& success) {  // help or version was asked for
    app.exit(success);
    return kExitFine;
  } catch (const CLI::ParseError& error) {
    if (argc < 2) {
      std::cerr << app.help();
    } else if (app.get_subcommands().empty() && argv[1][0] != '-') {
      std::cerr << "strata: there is no command '" << argv[1] << "'\nstrata --help lists them\n";
    } else {
      std::cerr << "strata: " << error.what() << "\nstrata" << named_command(app)
                << " --help tells more\n";
    }
    return kExitUsage;
  }
  if (info->parsed()) return Command(std::move(info_arguments));
  if (events->parsed()) {
    events_arguments.list_profiles =
        events->count("--profiles") > 0 && events_arguments.profiles.empty();
    return Command(std::move(events_arguments));
  }
  if (stats->parsed()) return Command(std::move(stats_arguments));
  if (state->parsed()) return Command(std::move(state_arguments));
  if (ps->parsed()) return Command(std::move(ps_arguments));
  if (query->parsed()) return Command(std::move(query_arguments));
  if (trim->parsed()) return Command(std::move(trim_arguments));
  if (sync->parsed()) return Command(std::move(sync_arguments));
  if (dump->parsed()) {
    dump_arguments.conditions = dump_conditions.in_order();
    return Command(std::move(dump_arguments));
  }
  if (record->parsed()) return Command(std::move(record_arguments));
  if (recover->parsed()) return Command(std::move(recover_arguments));
  if (session->parsed()) {
    session_arguments.enable = session_conditions.in_order();
    return Command(std::move(session_arguments));
  }
  if (setup->parsed()) return Command(std::move(setup_arguments));
  if (probe->parsed()) return Command(std::move(probe_arguments));
  if (agent->parsed()) return Command(std::move(agent_arguments));
  if (top->parsed()) return Command(std::move(top_arguments));
  return Command(std::move(convert_arguments));
}

}  // namespace strata::cli
