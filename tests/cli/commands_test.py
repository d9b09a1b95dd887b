#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands as a user meets them: arguments, exit statuses, output, errors."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from program import PROGRAM, SAMPLE, lines, run


def objects(*arguments):
    return [json.loads(line) for line in lines("dump", "--json", *arguments)]


class Usage(unittest.TestCase):
    def test_help_of_every_command_has_an_example(self):
        self.assertIn("Look:", "\n".join(lines("--help")))
        for command in ("info", "events", "dump", "query", "trim", "convert", "record", "setup",
                        "stats", "state", "ps", "top", "sync"):
            text = "\n".join(lines(command, "--help"))
            self.assertIn("Example", text)
            self.assertIn("strata " + command, text)
            self.assertIn("--json", text)

    def test_version(self):
        self.assertRegex(lines("--version")[0], r"^strata \d+\.\d+")

    def test_wrong_usage_is_2_and_says_why(self):
        for arguments, word in (
                ([], b"Usage"), (["frob"], b"frob"), (["dump"], b"PATH"),
                (["dump", SAMPLE, "--limit", "x"], b"--limit"),
                (["dump", SAMPLE, "--time", "x"], b"--time"),
                (["events", SAMPLE, "--by", "x"], b"--by"),
                (["dump", SAMPLE, "--cpu", "x"], b"--cpu"),
                (["dump", SAMPLE, "--begin", "30s"], b"+30s"),
                (["dump", SAMPLE, "--time", "wall"], b"time of day"),
                (["dump", SAMPLE, "-F", "pid ="], b"column 5"),
                (["trim", SAMPLE], b"-o"), (["convert", SAMPLE, "-o", "x"], b"--to"),
                (["trim", SAMPLE, "--begin", "+2ms", "--end", "+1ms", "-o", "x"], b"--end"),
                (["stats", SAMPLE, "--by", "x"], b"'x'"), (["state", SAMPLE], b"--at"),
                (["state", SAMPLE, "--at", "30s"], b"+30s"),
                (["info", "--frob", SAMPLE], b"--frob")):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(word, done.stderr, arguments)
            self.assertEqual(done.stdout, b"", arguments)

    def test_a_missing_file_is_1_and_named(self):
        for command in (["info"], ["events"], ["dump"], ["stats"], ["state", "--at", "+1s"], ["ps"],
                        ["trim", "-o", "x"],
                        ["convert", "--to", "tracedat", "-o", "x"]):
            done = run(*command, "no/such.dat")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr,
                             b"strata: no/such.dat: cannot open: No such file or directory\n")

    def test_what_is_no_trace_is_1(self):
        for path in (__file__, "/dev/null", str(pathlib.Path(__file__).parent)):
            done = run("info", path)
            self.assertEqual(done.returncode, 1, path)
            self.assertIn(path.encode(), done.stderr)


class Info(unittest.TestCase):
    def test_json_has_what_is_promised(self):
        info = json.loads(run("info", "--json", SAMPLE).stdout)
        for key in ("events", "lost", "lost_unknown", "begin_ns", "end_ns", "time_base",
                    "event_types", "traces"):
            self.assertIn(key, info)
        self.assertEqual(info["events"], sum(kind["count"] for kind in info["event_types"]))
        trace = info["traces"][0]
        self.assertEqual(trace["path"], str(SAMPLE))
        for key in ("kind", "machine", "clock"):
            self.assertTrue(trace[key])
        self.assertEqual(info["events"], sum(stream["events"] for stream in trace["streams"]))
        for stream in trace["streams"]:
            self.assertLessEqual({"cpu", "events", "lost", "lost_unknown"}, set(stream))

    def test_it_agrees_with_dump(self):
        info = json.loads(run("info", "--json", SAMPLE).stdout)
        events = objects(SAMPLE)
        self.assertEqual(len(events), info["events"])
        self.assertEqual(events[0]["ts_ns"], info["begin_ns"])
        self.assertEqual(events[-1]["ts_ns"], info["end_ns"])

    def test_several_traces_are_added_up(self):
        one = json.loads(run("info", "--json", SAMPLE).stdout)
        two = json.loads(run("info", "--json", SAMPLE, SAMPLE).stdout)
        self.assertEqual(two["events"], 2 * one["events"])
        self.assertEqual(len(two["traces"]), 2)
        self.assertEqual(len(two["event_types"]), len(one["event_types"]))

    def test_a_bad_one_does_not_stop_the_others(self):
        done = run("info", "--json", "no/such.dat", SAMPLE)
        self.assertEqual(done.returncode, 1)
        info = json.loads(done.stdout)
        self.assertEqual(len(info["traces"]), 1)
        self.assertEqual(info["problems"][0]["file"], "no/such.dat")

    def test_text_is_plain_in_a_pipe(self):
        done = run("info", SAMPLE)
        self.assertNotIn(b"\033", done.stdout)
        self.assertIn(b"sched:sched_switch", done.stdout)


class Events(unittest.TestCase):
    def test_fields(self):
        text = lines("events", SAMPLE, "-e", "sched_switch")
        self.assertTrue(text[0].startswith("sched:sched_switch  id "))
        self.assertTrue(any(line.split()[:3] == ["prev_pid", "pid_t", "24"] for line in text))

    def test_declaration(self):
        text = lines("events", SAMPLE, "-e", "sched:sched_switch", "--format")
        self.assertEqual(text[0], "name: sched_switch")
        self.assertTrue(text[-1].startswith("print fmt:"))

    def test_json(self):
        kinds = json.loads(run("events", SAMPLE, "--json", "-e", "sched").stdout)
        kinds = kinds["traces"][0]["event_types"]
        self.assertTrue(kinds)
        self.assertEqual({kind["system"] for kind in kinds}, {"sched"})
        switch = next(kind for kind in kinds if kind["name"] == "sched_switch")
        field = next(field for field in switch["fields"] if field["name"] == "next_pid")
        self.assertEqual((field["offset"], field["size"], field["signed"]), (56, 4, True))

    def test_none_is_1(self):
        self.assertEqual(run("events", SAMPLE, "-e", "nothing").returncode, 1)

    def test_by_family_has_every_type_once_below_its_family(self):
        kinds = json.loads(run("events", SAMPLE, "--json").stdout)["traces"][0]["event_types"]
        families = {f"{kind['system']}:{kind['name']}": kind["family"] for kind in kinds}
        self.assertEqual(families["sched:sched_switch"], "processor")
        shown, family = {}, None
        for line in lines("events", SAMPLE, "--by", "family"):
            if line.endswith((" event", " events")):
                family = line.split(":")[0]
            elif line:
                self.assertNotIn(line, shown)
                shown[line] = family
        self.assertEqual(shown, families)

    def test_by_family_with_fields(self):
        for more in (["-v"], ["-e", "sched"]):
            text = lines("events", SAMPLE, "--by", "family", *more)
            self.assertIn("processor: ", "\n".join(text))
            self.assertTrue(any(line.startswith("  prev_pid ") for line in text), more)

    def test_profiles_are_for_the_kernel(self):
        for arguments in (["--profile", "system"], ["--profiles", "x"]):
            done = run("events", *arguments, SAMPLE)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(b"PATH", done.stderr)

    def test_a_profile_that_is_not_there_is_2_and_one_that_is_near_is_told(self):
        done = run("events", "--profile", "sytem")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"did you mean 'system'?", done.stderr)

    def test_an_error_in_a_file_of_profiles_has_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "my.profiles")
            path.write_text("[mine]\ninclude = irq\nevent = sched\n")
            done = run("events", "--profiles", path)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertEqual(done.stderr.decode(),
                             f"strata: {path}: line 3, column 1: 'event' is no setting "
                             "(did you mean 'events'?)\n")
            done = run("events", "--profiles", path.with_name("none"), "--profile", "mine")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"cannot open", done.stderr)


class Dump(unittest.TestCase):
    def test_events_by_name_and_system(self):
        switches = objects(SAMPLE, "-e", "sched_switch")
        self.assertTrue(switches)
        self.assertEqual({event["event"] for event in switches}, {"sched_switch"})
        self.assertEqual({event["system"] for event in objects(SAMPLE, "-e", "sched")}, {"sched"})
        both = objects(SAMPLE, "-e", "sched:sched_wak*", "-e", "sys_enter_openat")
        self.assertIn("sys_enter_openat", {event["event"] for event in both})
        self.assertEqual(objects(SAMPLE, "-e", "*:*"), objects(SAMPLE))

    def test_a_filter_before_an_event_is_for_all_and_after_it_is_that_events(self):
        every = objects(SAMPLE, "-e", "sched_switch", "-e", "sys_enter_close")
        for_all = objects(SAMPLE, "-F", "cpu == 0", "-e", "sched_switch", "-e", "sys_enter_close")
        self.assertEqual(for_all, [event for event in every if event["cpu"] == 0])
        own = objects(SAMPLE, "-e", "sched_switch", "-F", "CPU == 0", "-e", "sys_enter_close")
        self.assertEqual(own, [event for event in every
                               if event["cpu"] == 0 or event["event"] == "sys_enter_close"])

    def test_filter(self):
        found = objects(SAMPLE, "-F", 'prev_comm ~ "*" and next_pid != 0')
        self.assertEqual(found, [event for event in objects(SAMPLE)
                                 if event["fields"].get("next_pid", 0) != 0])

    def test_a_misspelt_name_is_told(self):
        for arguments in (["-F", "prev_pidd == 1"], ["--fields", "prev_pidd"], ["-e", "frob"]):
            self.assertIn(b"warning", run("dump", SAMPLE, *arguments).stderr)

    def test_cpu_and_thread(self):
        every = objects(SAMPLE)
        self.assertEqual(objects(SAMPLE, "--cpu", "1"), [e for e in every if e["cpu"] == 1])
        self.assertEqual(objects(SAMPLE, "--cpu", "0-7"), every)
        tids = sorted({event["tid"] for event in every})[:2]
        self.assertEqual(objects(SAMPLE, "--tid", ",".join(map(str, tids))),
                         [event for event in every if event["tid"] in tids])

    def test_period(self):
        every = objects(SAMPLE)
        first, last = every[0]["ts_ns"], every[-1]["ts_ns"]
        self.assertEqual(objects(SAMPLE, "--begin", "+100ms", "--end", "+200ms"),
                         [event for event in every
                          if first + 100_000_000 <= event["ts_ns"] <= first + 200_000_000])
        self.assertEqual(objects(SAMPLE, "--begin", "-50ms"),
                         [event for event in every if event["ts_ns"] >= last - 50_000_000])
        middle = every[len(every) // 2]["ts_ns"]
        self.assertEqual(objects(SAMPLE, "--begin", middle, "--end", middle),
                         [event for event in every if event["ts_ns"] == middle])
        # A time as it is shown finds the event that it was shown for.
        shown = lines("dump", SAMPLE)[7]
        stamp = next(word for word in shown.split() if "." in word and word.endswith(":"))[:-1]
        self.assertIn(shown, lines("dump", SAMPLE, "--begin", stamp, "--end", stamp))

    def test_limit_and_fields(self):
        self.assertEqual(lines("dump", SAMPLE, "--limit", "3"), lines("dump", SAMPLE)[:3])
        self.assertEqual(lines("dump", SAMPLE, "--limit", "0"), [])
        line = lines("dump", SAMPLE, "-e", "sched_switch", "--fields", "next_pid,prev_comm",
                     "--limit", "1")[0]
        self.assertRegex(line, r": sched_switch: +next_pid=\d+ prev_comm=\S+$")
        self.assertEqual(list(objects(SAMPLE, "-e", "sched_switch", "--fields", "next_pid",
                                      "--limit", "1")[0]["fields"]), ["next_pid"])

    def test_times(self):
        self.assertRegex(lines("dump", SAMPLE, "--time", "relative", "--limit", "1")[0],
                         r"\] +0\.000000000: ")
        self.assertRegex(lines("dump", SAMPLE, "--limit", "1")[0], r"\] +\d+\.\d{6}: ")

    def test_order_of_several_traces(self):
        twice = lines("dump", SAMPLE, SAMPLE, "--time", "raw")
        once = lines("dump", SAMPLE)
        self.assertEqual(len(twice), 2 * len(once))
        times = [event["ts_ns"] for event in objects(SAMPLE, SAMPLE)]
        self.assertEqual(times, sorted(times))

    def test_json_lines(self):
        for event in objects(SAMPLE):
            self.assertLessEqual({"ts_ns", "machine", "trace", "cpu", "tid", "comm", "event",
                                  "fields"}, set(event))


class Output(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def test_a_file_holds_what_standard_output_would(self):
        out = self.path / "out.txt"
        self.assertEqual(lines("dump", SAMPLE, "-o", out), [])
        self.assertEqual(out.read_bytes(), run("dump", SAMPLE).stdout)
        lines("convert", SAMPLE, "--to", "json", "-o", out)
        self.assertEqual(out.read_bytes(), run("dump", SAMPLE, "--json").stdout)

    def test_a_pipe_that_closes_early_is_fine(self):
        for arguments in (["dump"], ["dump", "--json"], ["events"], ["info"]):
            read_end, write_end = os.pipe()
            os.close(read_end)
            done = run(*arguments, SAMPLE, stdout=write_end)
            os.close(write_end)
            self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)

    def test_a_full_disk_is_1(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            for arguments in (["dump"], ["info"], ["info", "--json"], ["events"]):
                done = run(*arguments, SAMPLE, stdout=full)
                self.assertEqual(done.returncode, 1, arguments)
                self.assertIn(b"No space left", done.stderr)

    def test_devices_are_not_replaced(self):
        self.assertEqual(run("dump", SAMPLE, "-o", "/dev/null").returncode, 0)
        self.assertEqual(run("trim", SAMPLE, "-o", "/dev/null").returncode, 1)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_an_interrupt_is_130(self):
        # Nobody reads: the program waits in write() once the pipe is full.
        process = subprocess.Popen([PROGRAM, "dump", str(SAMPLE)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertEqual(process.stderr.read(), b"")
        process.stdout.close()
        process.stderr.close()

    def test_trim_and_convert(self):
        out = self.path / "part.dat"
        written = json.loads(run("trim", SAMPLE, "--begin", "+100ms", "--end", "+300ms", "-o",
                                 out, "--json").stdout)
        inside = objects(SAMPLE, "--begin", "+100ms", "--end", "+300ms")
        self.assertEqual(written["events"], len(inside))
        self.assertEqual([event["ts_ns"] for event in objects(out)],
                         [event["ts_ns"] for event in inside])
        for how in ("none", "zstd"):
            lines("convert", SAMPLE, "--to", "tracedat", "--compression", how, "-o", out)
            self.assertEqual(lines("dump", out), lines("dump", SAMPLE))


class BadInput(unittest.TestCase):
    def test_truncated_traces_give_what_is_there_and_an_error(self):
        whole = SAMPLE.read_bytes()
        good = lines("dump", SAMPLE)
        with tempfile.NamedTemporaryFile(suffix=".dat") as cut:
            seen = set()
            for size in range(0, len(whole), max(1, len(whole) // 60)):
                cut.seek(0)
                cut.truncate()
                cut.write(whole[:size])
                cut.flush()
                done = run("dump", cut.name)
                self.assertEqual(done.returncode, 1, size)
                self.assertIn(cut.name.encode(), done.stderr)
                count = len(done.stdout.splitlines())
                self.assertLessEqual(count, len(good))
                seen.add(count > 0)
                info = run("info", "--json", cut.name)
                self.assertEqual(info.returncode, 1, size)
                json.loads(info.stdout)
            self.assertEqual(seen, {False, True})


if __name__ == "__main__":
    unittest.main()
