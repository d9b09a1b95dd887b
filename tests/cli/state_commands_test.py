#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata stats`, `state` and `ps`: what they say adds up, and does not depend on their cache."""

import csv
import io
import json
import os
import pathlib
import tempfile
import unittest

from program import CORPUS, run

TRACES = ["dat/lisa_sched_load.dat", "dat/trace2.dat", "ctf/lttng-ref-traces/basic-kernel-analysis"]
CACHE = tempfile.TemporaryDirectory(prefix="strata-cache-")
os.environ["XDG_CACHE_HOME"] = CACHE.name


def fine(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.decode()


def told(*arguments):
    return json.loads(fine(*arguments, "--json"))


@unittest.skipUnless(CORPUS.is_dir(), "no real traces here; STRATA_CORPUS would say where they are")
class OfRealTraces(unittest.TestCase):
    def setUp(self):
        self.traces = [str(CORPUS / name) for name in TRACES]

    def test_statistics_add_up_however_they_are_told_apart(self):
        for trace in self.traces:
            info = told("info", trace)
            whole = told("stats", trace)
            self.assertEqual(sum(row["cpu_ns"] for row in whole["rows"]), whole["cpu_ns"])
            self.assertEqual(sum(row["count"] for row in whole["rows"]), info["events"])
            self.assertEqual(whole["span_ns"], info["end_ns"] - info["begin_ns"])
            for keys in ("mode", "cpu,mode", "tid,comm", "event", "mode,submode,event"):
                rows = told("stats", trace, "--by", keys)["rows"]
                self.assertEqual(sum(row["cpu_ns"] for row in rows), whole["cpu_ns"], keys)
                self.assertEqual(sum(row["count"] for row in rows), info["events"], keys)
                self.assertTrue(all(row["machine"] is None for row in rows), keys)

    def test_counts_by_event_are_those_of_info(self):
        for trace in self.traces:
            counted = {}
            for row in told("stats", trace, "--by", "event")["rows"]:
                if row["event"] is not None:
                    counted[row["event"]] = row["count"]
            for kind in told("info", trace)["event_types"]:
                name = f"{kind['system']}:{kind['name']}" if kind["system"] else kind["name"]
                self.assertEqual(counted.pop(name), kind["count"])
            self.assertEqual(counted, {})

    def test_a_period_and_the_rest_are_the_whole(self):
        for trace in self.traces:
            info = told("info", trace)
            middle = (info["begin_ns"] + info["end_ns"]) // 2

            def by_mode(*period):
                rows = told("stats", trace, "--by", "mode", *period)["rows"]
                return {row["mode"]: row["cpu_ns"] for row in rows}

            whole = by_mode()
            first = by_mode("--end", str(middle))
            second = by_mode("--begin", str(middle))
            for mode, ns in whole.items():
                self.assertEqual(first.get(mode, 0) + second.get(mode, 0), ns, (trace, mode))

    def test_csv_has_what_json_has(self):
        trace = self.traces[0]
        rows = list(csv.DictReader(io.StringIO(fine("stats", trace, "--csv", "--by", "comm,mode"))))
        expected = told("stats", trace, "--by", "comm,mode")["rows"]
        self.assertEqual([(row["comm"], row["mode"], int(row["cpu_ns"])) for row in rows],
                         [(row["comm"] or "", row["mode"], row["cpu_ns"]) for row in expected])

    def test_a_filter_chooses_rows(self):
        trace = self.traces[2]
        rows = told("stats", trace, "--by", "comm,mode", "-F", "comm~cc* and not mode=USER")["rows"]
        self.assertTrue(rows)
        every = told("stats", trace, "--by", "comm,mode")["rows"]
        self.assertEqual(rows, [row for row in every
                                if (row["comm"] or "").startswith("cc") and row["mode"] != "USER"])
        done = run("stats", trace, "-F", "colour=red")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"colour", done.stderr)

    def test_io_is_told_by_file_device_and_interface(self):
        trace = self.traces[2]
        told_of = told("stats", trace, "--io")["machines"][0]
        # A disk's requests are those of its partition, too.
        self.assertEqual([disk["requests"] for disk in told_of["devices"]
                          if disk["name"] in ("vda", "vda1")], [93, 93])
        for disk in told_of["devices"]:
            self.assertLessEqual(disk["busy_ns"], told_of["span_ns"])
            self.assertEqual(sum(disk["service_histogram"]), disk["requests"])
        self.assertTrue(told_of["interfaces"])
        self.assertGreater(sum(file["read_bytes"] for file in told_of["files"]), 0)
        text = fine("stats", trace, "--io", "--limit", "3")
        self.assertIn("block device", text)
        self.assertIn("more (--limit 0 shows all)", text)

    def test_a_table_says_how_much_it_leaves_out(self):
        text = fine("stats", self.traces[2], "--by", "tid,comm", "--limit", "3")
        self.assertIn("more (--limit 0 shows all)", text)

    def test_state_is_the_same_with_a_damaged_cache_and_without_any(self):
        trace = self.traces[2]
        indexed = told("state", trace, "--at", "+2s")
        files = list(pathlib.Path(CACHE.name).rglob("*.history"))
        self.assertTrue(files)
        for index in files:
            data = bytearray(index.read_bytes())
            data[len(data) // 2] ^= 0xFF
            data[-20] ^= 0xFF
            index.write_bytes(bytes(data))
        self.assertEqual(told("state", trace, "--at", "+2s"), indexed)
        # Nowhere to put it: the events themselves are asked.
        os.environ["XDG_CACHE_HOME"] = "/dev/null"
        try:
            done = run("state", trace, "--at", "+2s", "--json")
        finally:
            os.environ["XDG_CACHE_HOME"] = CACHE.name
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"no index", done.stderr)
        replayed = json.loads(done.stdout)["machines"][0]
        self.assertEqual({cpu["cpu"]: cpu["mode"] for cpu in replayed["cpus"]},
                         {cpu["cpu"]: cpu["mode"] for cpu in indexed["machines"][0]["cpus"]})

    def test_a_dump_tells_the_state_at_each_event(self):
        trace = self.traces[2]
        modes = {}
        for line in fine("dump", trace, "--json", "--with", "proc,mode,vm").splitlines():
            event = json.loads(line)
            key = (event["mode"] or "").split()[0]
            modes[key] = modes.get(key, 0) + 1
            self.assertIsNone(event["vm"])
            if event["event"].startswith("syscall_exit_") and key == "SYSCALL":
                self.assertEqual(event["mode"].split()[1], event["event"].split("_", 2)[2])
        counted = {row["mode"]: row["count"] for row in told("stats", trace, "--by", "mode")["rows"]}
        self.assertEqual(modes, {mode: count for mode, count in counted.items() if count > 0})
        plain = fine("dump", trace, "--limit", "50").splitlines()
        shown = fine("dump", trace, "--limit", "50", "--with", "mode").splitlines()
        self.assertTrue(all(line.endswith(bare.strip()) for line, bare in zip(shown, plain)))
        self.assertEqual(run("dump", trace, "--with", "mode", "--follow").returncode, 2)

    def test_ps_shows_children_below_their_parents(self):
        trace = self.traces[2]
        tasks = told("ps", trace, "--all")["machines"][0]["tasks"]
        seen = set()
        for task in tasks:
            parents = {other["tid"] for other in tasks}
            if task["parent"] in parents and task["parent"] != task["tid"]:
                self.assertIn(task["parent"], seen, task)
            seen.add(task["tid"])
        self.assertIn("cc1", {task["comm"] for task in tasks})


if __name__ == "__main__":
    unittest.main()
