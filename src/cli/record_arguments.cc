// SPDX-License-Identifier: Apache-2.0
#include "cli/record_arguments.h"

#include "kernel/group_program.h"

namespace strata::cli {

void add_wishes(CLI::App& command, WishArguments& arguments, Conditions& conditions) {
  add_repeated(command, "--profile", arguments.wish.profiles,
               "What to record: system (default), sched, io, net, mem, irq, power, lock, vm,\n"
               "all ('strata events --profiles' lists them); repeatable, or a,b")
      ->delimiter(',')
      ->type_name("NAME");
  command
      .add_option("--profiles", arguments.profiles_file,
                  "A file with more profiles (docs/profiles.md)")
      ->type_name("FILE");
  conditions.add_to(command,
                    "Only events that fulfil this condition, which the kernel decides, or of\n"
                    "--app the program: after an -e it is that event's, before any it is for all");
  add_repeated(command, "-p,--pid", arguments.wish.processes,
               "Only these processes and those they start; repeatable, or 1,2,3")
      ->delimiter(',')
      ->type_name("PID");
  command
      .add_option("--cgroup", arguments.wish.cgroup,
                  "Only processes that are in this control group now, and those they start")
      ->type_name("PATH");
  command
      .add_option("--container", arguments.wish.container,
                  "The same for the control group of a container: its name or id")
      ->type_name("NAME");
  add_repeated(command, "--uprobe", arguments.wish.uprobes,
               "A probe in a program: FUNCTION[+OFFSET], or FUNCTION%return, and its arguments")
      ->type_name("'BINARY:FUNCTION [ARG...]'");
  add_repeated(command, "--usdt", arguments.wish.usdts, "A probe that a program's author placed")
      ->type_name("BINARY:PROVIDER:NAME");
  add_repeated(command, "--kprobe", arguments.wish.kprobes,
               "A probe in the kernel, where it has them")
      ->type_name("'FUNCTION [ARG...]'");
  add_repeated(command, "--preset", arguments.wish.presets,
               "Probes with a name: qemu (the KVM_RUN call in and out, exits, virtqueues, blocks)")
      ->type_name("NAME");
  add_repeated(command, "--app", arguments.wish.apps,
               "The probes of a program or library, in all its processes, running or to come;\n"
               "of a process, or of the running ones of this name. -e chooses among them;\n"
               "they are recorded alone, which any user may do, unless another -e or --profile\n"
               "asks for the kernel's events (docs/probe.md); repeatable")
      ->type_name("FILE|PID|NAME");
  add_repeated(command, "--context", arguments.wish.contexts,
               "What their events tell besides, of the thread that they are of: tid, comm, cpu,\n"
               "cycles, instructions, cache-misses, branch-misses; repeatable, or a,b")
      ->delimiter(',')
      ->type_name("NAME,...");
  command
      .add_option("--when-full", arguments.when_full,
                  "What a probe does when its ring is full: discard (default) counts the event as\n"
                  "lost; block lets the program wait, as in block=10ms, for at most 1s by default")
      ->type_name("discard|block[=TIME]");
  add_repeated(command, "--counters", arguments.wish.counters,
               "Performance counters, read at every switch: cache-misses,major-faults,...")
      ->delimiter(',')
      ->type_name("NAME,...");
  add_repeated(command, "--read-at", arguments.wish.read_at,
               "Read them at these events instead; repeatable")
      ->type_name("SYSTEM:EVENT");
  command.add_flag("--no-state", arguments.no_state,
                   "Without the state at the start (processes, files, devices, machines)");
  command
      .add_option("--clock", arguments.wish.clock,
                  "The clock of the kernel's tracer; default: x86-tsc where it can be trusted,\n"
                  "else mono_raw")
      ->type_name("NAME");
  command
      .add_option("--buffer-size", arguments.buffer_size,
                  "Of the kernel's ring for each CPU, as in 16M; default: 8M, less where\n"
                  "memory is scarce")
      ->type_name("SIZE");
  command
      .add_option("--sync", arguments.sync,
                  "How often everything is written to the disk; default: 5s")
      ->type_name("TIME");
}

CLI::App* add_record(CLI::App& app, RecordArguments& arguments, Conditions& conditions) {
  CLI::App* record =
      app.add_subcommand("record", "Record what this machine's kernel does, into a folder");
  record->group(kRecord);
  add_wishes(*record, arguments, conditions);
  record
      ->add_option("-o,--output", arguments.output,
                   "The folder to record into; default: strata-<date>-<time>")
      ->type_name("FOLDER");
  record->add_option("--name", arguments.name, "The session's name, for 'strata session'")
      ->type_name("NAME");
  record->add_option("--duration", arguments.duration, "Stop after this time, as in 30s or 1h30m")
      ->type_name("TIME");
  record
      ->add_option("--keep", arguments.keep,
                   "Record without end, in chunks, and keep the last of it: as in 2h; of a\n"
                   "flight: its snapshots")
      ->type_name("TIME");
  record
      ->add_option("--max-size", arguments.max_size,
                   "The same by size, as in 20G; with --keep, whatever is reached first")
      ->type_name("SIZE");
  record->add_flag("--flight", arguments.flight,
                   "Write nothing, keep what came last: each snapshot is a folder within the\n"
                   "session's; SIGUSR1 or 'strata session snapshot' takes one (docs/flight.md)");
  add_repeated(*record, "--snapshot-on", arguments.snapshot_on,
               "In a flight, take one when this happens: an event that fulfils the kernel's\n"
               "filter, or 'latency(ENTRY, EXIT) > 50ms' of a thread; repeatable")
      ->type_name("'EVENT FILTER'");
  record
      ->add_option("--after", arguments.after,
                   "Take it only when this time has passed after that, as in 5s")
      ->type_name("TIME");
  add_packing(*record, arguments.packing);
  add_choice<CompressWhen>(
      *record, "--compress", arguments.compress,
      {{"end", CompressWhen::End}, {"live", CompressWhen::Live}},
      "When: at the end (default), or live, while it records, by a thread that\n"
      "gives way to everything else, so that finishing takes a moment")
      ->type_name("end|live");
  add_json(*record, arguments.json, "What was recorded, as a JSON object");
  record
      ->add_option("--config", arguments.config,
                   "A TOML file with any of these options, as in profile = \"system\"; what is\n"
                   "said here counts more")
      ->type_name("FILE");
  // They are taken off the command line before, see split_guests(): this is for --help.
  record->add_option("--guest")
      ->description(
          "Record this guest along, by its agent: tcp://HOST[:PORT] (docs/guests.md). Options\n"
          "behind it are that guest's: those above up to --sync, --quota SIZE (what it may\n"
          "write here, default 16G) and --key FILE; without any it records what this machine\n"
          "does; repeatable")
      ->type_name("NAME=ADDRESS");
  record->add_option("COMMAND", arguments.command,
                     "Behind '--': run this, and record until it ends");
  record->footer(
      "Without a command or a duration it records until Ctrl-C.\n\n"
      "Examples:\n"
      "  strata record --duration 10s -o slow && strata info slow\n"
      "  strata record --keep 2h --max-size 20G -o /var/tmp/last\n"
      "  strata record -e sched_switch -e block_rq_issue -F 'bytes > 65536' -- make -j8\n"
      "  strata record -e sched --guest web1=tcp://192.0.2.7 -e sched -e net --guest "
      "db1=tcp://db1\n"
      "  strata record --flight --snapshot-on 'latency(sched_waking, sched_switch) > 50ms'\n"
      "  strata record --app ./shop -e 'shop:*' -e sched_switch -- ./shop\n"
      "  strata record --uprobe '/lib/x86_64-linux-gnu/libc.so.6:malloc size=arg1' -p 1234 "
      "--duration 2s");
  return record;
}

CLI::App* add_agent(CLI::App& app, AgentArguments& arguments) {
  CLI::App* agent = app.add_subcommand(
      "agent", "In a guest: lets hosts that have the key record it (strata record --guest)");
  agent->group(kRecord);
  CLI::Option* init = agent->add_flag(
      "--init", arguments.init,
      "Make a new key, in /etc/strata/key or where --key says, and tell how it comes to\n"
      "the other machines");
  CLI::Option* listen =
      add_repeated(*agent, "--listen", arguments.listen,
                   "Where: tcp://HOST[:PORT] (TLS; * for everywhere), vsock://*[:PORT],\n"
                   "virtio://NAME, unix://PATH; default: vsock://*; repeatable")
          ->type_name("ADDRESS")
          ->excludes(init);
  agent
      ->add_option("--key", arguments.key,
                   "The key; default: /etc/strata/key, the systemd credential strata-key, or\n"
                   "what QEMU was given with -fw_cfg name=opt/strata/key")
      ->type_name("FILE");
  agent->add_option("--max-recordings", arguments.most_recordings, "At once; default: 16")
      ->check(CLI::Range(1, 256).description(""))
      ->type_name("N")
      ->excludes(init);
  agent->add_flag("--recorder", arguments.recorder)->group("")->excludes(init)->excludes(listen);
  agent->footer(
      "It runs until SIGINT or SIGTERM, and tells on standard error who records.\n\n"
      "Examples:\n"
      "  strata agent --init\n"
      "  strata agent --listen tcp://192.0.2.7");
  return agent;
}

CLI::App* add_session(CLI::App& app, SessionArguments& arguments, Conditions& conditions) {
  CLI::App* session = app.add_subcommand("session", "Recordings that are running now");
  session->group(kRecord);
  session->require_subcommand(1);
  using Action = SessionArguments::Action;
  CLI::App* list = session->add_subcommand("list", "Which there are");
  list->callback([&] { arguments.action = Action::List; });
  add_json(*list, arguments.json, "One JSON array");
  list->footer("Example:\n  strata session list");
  CLI::App* stop = session->add_subcommand("stop", "Ends one, as Ctrl-C would, and waits for it");
  stop->callback([&] { arguments.action = Action::Stop; });
  stop->add_option("NAME", arguments.name, "The session")->required();
  add_json(*stop, arguments.json, "What was stopped, as a JSON object");
  stop->footer("Example:\n  strata session stop nightly");
  CLI::App* change = session->add_subcommand(
      "change", "Changes what one records, while it does; the recording tells of it");
  change->callback([&] { arguments.action = Action::Change; });
  change->add_option("NAME", arguments.name, "The session")->required();
  conditions.add_to(*change, "Only those that fulfil this condition, which the kernel decides",
                    "--enable",
                    "From now on also these events (globs; a bare word is a system or an\n"
                    "event), with the -F that follow; one that is recorded already takes\n"
                    "these filters, or none; repeatable");
  add_repeated(*change, "--disable", arguments.disable,
               "No longer these, unless --enable names them; repeatable")
      ->type_name("[SYSTEM:]EVENT");
  CLI::Option* pids = add_repeated(*change, "-p,--pid", arguments.pids,
                                   "From now on only these processes and those they start;\n"
                                   "repeatable, or 1,2,3")
                          ->delimiter(',')
                          ->type_name("PID");
  change->add_flag("--all-pids", arguments.all_pids, "From now on all processes")->excludes(pids);
  add_json(*change, arguments.json, "What was changed, as a JSON object");
  change->footer(
      "All of it is done, or nothing.\n\n"
      "Examples:\n"
      "  strata session change nightly --enable block --disable 'syscalls:*'\n"
      "  strata session change nightly --disable '*' --enable sched_switch -F 'prev_pid == 17'\n"
      "  strata session change nightly --all-pids");
  CLI::App* snapshot =
      session->add_subcommand("snapshot", "Saves what a flight recorder's rings hold, as a folder");
  snapshot->callback([&] { arguments.action = Action::Snapshot; });
  snapshot->add_option("NAME", arguments.name, "The session, one of 'strata record --flight'")
      ->required();
  snapshot
      ->add_option("-o,--output", arguments.output,
                   "The folder to save into; default: <date>-<time> in the session's")
      ->type_name("FOLDER");
  add_json(*snapshot, arguments.json, "What was saved, as a JSON object");
  snapshot->footer("Example:\n  strata session snapshot blackbox -o slow && strata info slow");
  session->footer(
      "Examples:\n  strata session list\n  strata session change nightly --enable block\n"
      "  strata session snapshot blackbox");
  return session;
}

CLI::App* add_setup(CLI::App& app, SetupArguments& arguments) {
  CLI::App* setup =
      app.add_subcommand("setup", "Who may record besides root, and what this machine allows");
  setup->group(kRecord);
  CLI::Option* group =
      setup
          ->add_option("--group", arguments.group,
                       "Let members of this group record ('tracing' is the usual one); it is made\n"
                       "where it is missing. Tells what it changes and what it gives away")
          ->type_name("NAME");
  CLI::Option* undo =
      setup->add_flag("--undo", arguments.undo, "Undo all that --group did, and only that")
          ->excludes(group);
  setup
      ->add_flag("--check", arguments.check,
                 "What kernel, rights, clock, counters and the rest allow here, found out by\n"
                 "trying, and what each missing thing costs")
      ->excludes(group)
      ->excludes(undo);
  setup->callback([&] {
    if (arguments.group.empty() && !arguments.undo && !arguments.check)
      throw CLI::RequiredError("one of --group, --undo and --check");
  });
  arguments.prefix = kernel::kDefaultPrefix;
  setup
      ->add_option("--prefix", arguments.prefix,
                   "Where the group's program is: FOLDER/lib/strata; default: /usr/local")
      ->type_name("FOLDER");
  add_json(*setup, arguments.json, "What was changed, or found, as a JSON object");
  setup->footer(
      "Examples:\n"
      "  strata setup --check\n"
      "  sudo strata setup --group tracing && sudo usermod -aG tracing alice");
  return setup;
}

CLI::App* add_probe(CLI::App& app, ProbeArguments& arguments) {
  using Action = ProbeArguments::Action;
  CLI::App* probe = app.add_subcommand("probe", "Probes that programs have in themselves");
  probe->group(kRecord);
  probe->require_subcommand(1);
  const auto add_action = [&](const char* name, const char* text, Action action) {
    CLI::App* command = probe->add_subcommand(name, text);
    command->callback([&arguments, action] { arguments.action = action; });
    command
        ->add_option("PROGRAM", arguments.program,
                     "A program or library, or the number of a process: all that it has mapped")
        ->required();
    return command;
  };
  CLI::App* list = add_action(
      "list", "Which there are, with their fields; of a process, which are on", Action::List);
  add_json(*list, arguments.json, "One JSON object");
  list->footer("Example:\n  strata probe list ./shop");

  CLI::App* enable = add_action("enable", "Switch some on, until Ctrl-C", Action::Enable);
  enable
      ->add_option("-e,--event", arguments.globs,
                   "Those with such names: PROVIDER:NAME or PROVIDER, with * and ?")
      ->required()
      ->type_name("GLOB");
  enable->add_flag(
      "--force", arguments.force,
      "Also where a process of the program limits its system calls (seccomp) and might "
      "be killed by its first event");
  enable->footer(
      "Examples:\n"
      "  strata probe enable ./shop -e 'shop:order_*'   every process of it, also later ones\n"
      "  strata probe enable 4711 -e shop               this process alone");

  CLI::App* disable = add_action(
      "disable", "Switch off what a killed strata, or the environment, left on", Action::Disable);
  disable
      ->add_option("-e,--event", arguments.globs,
                   "Those with such names: PROVIDER:NAME or PROVIDER, with * and ?; default: all")
      ->type_name("GLOB");
  disable->footer("Example:\n  strata probe disable 4711");
  probe->footer("Example:\n  strata probe list ./shop");
  return probe;
}

CLI::App* add_recover(CLI::App& app, RecoverArguments& arguments) {
  CLI::App* recover = app.add_subcommand("recover", "Finish a recording whose recorder was killed");
  recover->group(kChange);
  CLI::Option* folders = recover->add_option("FOLDER", arguments.paths, "Recordings");
  CLI::Option* core =
      recover
          ->add_option("--core", arguments.core,
                       "Make a recording of what a program's probes told, from its core file")
          ->type_name("FILE")
          ->excludes(folders);
  CLI::Option* output =
      recover->add_option("-o,--output", arguments.output, "The folder of that recording")
          ->type_name("FOLDER")
          ->needs(core);
  core->needs(output);
  recover->callback([&] {
    if (arguments.paths.empty() && arguments.core.empty())
      throw CLI::RequiredError("FOLDER or --core");
  });
  add_packing(*recover, arguments.packing);
  add_json(*recover, arguments.json, "What was done, as a JSON object");
  recover->footer(
      "Examples:\n  strata recover strata-20261115-143005\n"
      "  strata recover --core core.4711 -o shop-died");
  return recover;
}

}  // namespace strata::cli
