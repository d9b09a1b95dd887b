// SPDX-License-Identifier: Apache-2.0
#include "cli/top_arguments.h"

#include "cli/options.h"

namespace strata::cli {

CLI::App* add_top(CLI::App& app, TopArguments& arguments) {
  CLI::App* top =
      app.add_subcommand("top", "This machine or a recording on a console, with its past at hand");
  top->group(kLook);
  top->add_option("PATH", arguments.paths,
                  "Traces, or one file of saved lines (w, --json); without any, this machine");
  top->add_option("-d,--delay", arguments.delay, "How long a period is (1s)")
      ->type_name("DURATION");
  top->add_option("-n,--count", arguments.count, "End after so many periods")->type_name("N");
  CLI::Option* batch = top->add_flag("-b,--batch", arguments.batch,
                                     "Text instead of a screen: every period, all lines");
  top->add_flag("--json", arguments.json, "One JSON object a line for each period, to be read back")
      ->excludes(batch);
  add_repeated(*top, "--screens", arguments.screens,
               "What to open at first, and to watch: cpu (default), perf, io, vm, latency,\n"
               "files, tree. Each costs the machine that is watched")
      ->delimiter(',')
      ->check(
          CLI::IsMember({"cpu", "perf", "io", "vm", "latency", "files", "tree"}).description(""))
      ->type_name("SCREEN,...");
  add_repeated(*top, "--counters", arguments.counters,
               "The performance counters that the screen perf shows, by the names of record\n"
               "--counters: cycles,page-faults,... Unless told, those of the processor, or where\n"
               "it has none, of the kernel")
      ->delimiter(',')
      ->type_name("NAME,...");
  add_repeated(*top, "-p,--pid", arguments.pids, "Only these processes; repeatable, or 1,2,3")
      ->delimiter(',')
      ->type_name("PID");
  top->add_option("-F,--filter", arguments.filter,
                  "Only lines with this word, or that fulfil this condition on columns:\n"
                  "'user = www-data and cpu > 5'")
      ->type_name("WORD|EXPR");
  top->add_option("--sort", arguments.sort, "By this column; the menu of 's' has all names")
      ->type_name("COLUMN");
  top->add_flag("-t,--threads", arguments.threads, "Threads instead of processes");
  top->add_option("--history", arguments.history,
                  "How much of the past is kept, at most: 10m,64M unless told")
      ->type_name("TIME[,SIZE]");
  top->add_option("--speed", arguments.speed, "How fast a recording is played: 2 is twice as fast")
      ->check(CLI::Range(1.0 / 1024, 1024.0).description(""))
      ->type_name("X");
  top->add_flag("--flight", arguments.flight,
                "Keep the last events in memory besides: w saves them, too, as a recording");
  top->add_flag("--paused", arguments.paused, "Do not play a recording, step by step");
  top->footer(
      "F1 shows all keys. Space pauses, left and right go back and forth in time, : jumps.\n\n"
      "Examples:\n"
      "  strata top\n"
      "  strata top recording --screens io --paused\n"
      "  strata top -b -n 3 -F 'cpu > 5'\n"
      "  strata top --screens perf --counters page-faults,context-switches\n"
      "  strata top --json -d 10s > night.jsonl");
  return top;
}

}  // namespace strata::cli
