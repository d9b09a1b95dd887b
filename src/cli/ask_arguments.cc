// SPDX-License-Identifier: Apache-2.0
#include "cli/ask_arguments.h"

#include "cli/options.h"

namespace strata::cli {

CLI::App* add_stats(CLI::App& app, StatsArguments& arguments) {
  CLI::App* stats = app.add_subcommand(
      "stats", "Where CPU time went: by process, mode, system call, interrupt, virtual machine");
  stats->group(kAsk);
  stats->add_option("PATH", arguments.paths, "Traces, taken together")->required();
  add_repeated(*stats, "--by", arguments.by,
               "Told apart by these: machine, cpu, pid, tid, comm, vm, vcpu, user, container,\n"
               "cgroup, mode, submode (which system call, interrupt, exit reason), event")
      ->delimiter(',')
      ->type_name("KEY,...");
  stats
      ->add_option("-F,--filter", arguments.filter,
                   "Only what fulfils this condition on those keys (docs/filter.md)")
      ->type_name("EXPR");
  add_period(*stats, arguments.begin, arguments.end);
  stats->add_option("--limit", arguments.limit, "Rows of a table (20); 0: all")->type_name("N");
  add_json(*stats, arguments.json, "One JSON object");
  stats->add_flag("--csv", arguments.csv, "Lines of values with commas")->excludes("--json");
  stats
      ->add_flag(
          "--exits", arguments.exits,
          "Virtual CPUs instead: their states, why they left their guests, and how long the\n"
          "kernel and the emulating program then took")
      ->excludes("--by", "--csv");
  stats
      ->add_flag("--io", arguments.input_output,
                 "What went through files, sockets, block devices and network interfaces instead")
      ->excludes("--by", "--csv", "--exits");
  stats
      ->add_option("--period", arguments.period,
                   "One table after the other, each of this long: what every CPU, task, virtual\n"
                   "CPU, file and device did in it. With --json a line for each (docs/period.md)")
      ->excludes("--by", "--csv", "--exits", "--io", "-F")
      ->type_name("DURATION");
  stats->footer(std::string(kTimeHelp) +
                "\n\nExamples:\n"
                "  strata stats trace.dat\n"
                "  strata stats trace.dat --by cpu,mode\n"
                "  strata stats trace.dat --period 1s\n"
                "  strata stats recording -F 'vm=web1/0 and mode=VIRT' --by submode\n"
                "  strata stats recording --begin +2s --end +3s --by comm,submode --json");
  return stats;
}

CLI::App* add_state(CLI::App& app, StateArguments& arguments) {
  CLI::App* state =
      app.add_subcommand("state", "What every CPU, task and virtual CPU was doing at a moment");
  state->group(kAsk);
  state->add_option("PATH", arguments.paths, "Traces, taken together")->required();
  CLI::Option* at = state->add_option("--at", arguments.at, "The moment")->type_name("TIME");
  state
      ->add_flag("--follow", arguments.follow,
                 "As it is now, each second, of a running session: PATH is its name or folder.\n"
                 "Meanwhile its index grows, and others who ask about it find it there")
      ->excludes(at);
  state->add_flag("--all", arguments.all, "Tasks that ended, or of which nothing is known, too");
  add_json(*state, arguments.json, "One JSON object");
  state->footer(std::string(kTimeHelp) +
                "\n\nExamples:\n  strata state trace.dat --at +1.5s\n"
                "  strata state nightly --follow");
  return state;
}

CLI::App* add_ps(CLI::App& app, PsArguments& arguments) {
  CLI::App* ps = app.add_subcommand("ps", "The processes of a trace, as a tree");
  ps->group(kAsk);
  ps->add_option("PATH", arguments.paths, "Traces, taken together")->required();
  ps->add_option("--at", arguments.at, "As they were at this moment (the end)")->type_name("TIME");
  ps->add_flag("-T,--threads", arguments.threads, "Their threads, too");
  ps->add_flag("--files", arguments.files,
               "The descriptors that they have open, with what went through each");
  ps->add_flag("--all", arguments.all, "Those that ended, too");
  add_json(*ps, arguments.json, "One JSON object");
  ps->footer(std::string(kTimeHelp) +
             "\n\nExamples:\n  strata ps trace.dat\n  strata ps recording --at +2s -T\n"
             "  strata ps recording --files --at -1s");
  return ps;
}

CLI::App* add_query(CLI::App& app, QueryArguments& arguments) {
  CLI::App* query = app.add_subcommand("query", "Traces as tables that SQL can be asked about");
  query->group(kAsk);
  query
      ->add_option("PATH", arguments.words,
                   "Traces; and what is asked of them: a statement of SQL, or a command such as\n"
                   ".schema. Without any it is read from standard input; on a terminal, typed at\n"
                   "a prompt")
      ->required();
  CLI::Option* csv = query->add_flag("--csv", arguments.csv, "Comma-separated values");
  query->add_flag("--json", arguments.json, "An array of JSON objects")->excludes(csv);
  query->footer(
      "Tables: event (with every field as a column), event_type, trace; cpu, cpu_state,\n"
      "sched_slice, irq, process, thread, state, syscall, wakeup, migration, fd, block_io,\n"
      "vm, vcpu, vcpu_state, vm_exit, fused_cpu, fused_state. .schema tells all their\n"
      "columns. at('+2s') is a time, said as in --begin of other commands.\n\n"
      "Examples:\n"
      "  strata query trace.dat 'SELECT name, count(*) FROM event GROUP BY name'\n"
      "  strata query trace.dat \"SELECT time, next_comm FROM event WHERE name = 'sched_switch'\n"
      "    AND time BETWEEN at('+2s') AND at('+3s') AND cpu = 0\"\n"
      "  strata query trace.dat .schema\n"
      "  strata query trace.dat");
  return query;
}

}  // namespace strata::cli
