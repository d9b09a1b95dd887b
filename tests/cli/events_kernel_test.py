#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strata events without a path: the events and profiles of the running kernel."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from program import PROGRAM, lines, run, skip

PROFILES = ["system", "sched", "io", "net", "mem", "irq", "power", "lock", "vm", "all"]
NOBODY = 65534


def as_json(*arguments):
    done = run("events", "--json", *arguments)
    assert done.returncode == 0, (arguments, done.stderr)
    return json.loads(done.stdout)


def full_names(answer):
    return [f"{kind['system']}:{kind['name']}" for kind in answer["event_types"]]


class KernelEvents(unittest.TestCase):
    def test_names_sorted_one_a_line(self):
        names = lines("events")
        self.assertIn("sched:sched_switch", names)
        pairs = [tuple(name.split(":")) for name in names]
        self.assertEqual(pairs, sorted(set(pairs)))
        self.assertEqual(names, full_names(as_json()))

    def test_fields_when_asked_for(self):
        for arguments in (["-e", "sched_switch"], ["-v", "--profile", "sched"]):
            text = lines("events", *arguments)
            self.assertTrue(any(line.startswith("sched:sched_switch  id ") for line in text))
            self.assertTrue(any(line.split()[:2] == ["prev_pid", "pid_t"] for line in text))
        text = lines("events", "-e", "sched:sched_switch", "--format")
        self.assertEqual(text[0], "name: sched_switch")
        self.assertTrue(text[-1].startswith("print fmt:"))

    def test_json_tells_kernel_fields_and_family(self):
        answer = as_json("-e", "sched_switch")
        self.assertEqual(answer["kernel"], os.uname().release)
        (switch,) = answer["event_types"]
        self.assertEqual((switch["system"], switch["family"]), ("sched", "processor"))
        self.assertIn("prev_pid", [field["name"] for field in switch["fields"]])

    def test_by_family_loses_none(self):
        text = lines("events", "--by", "family")
        headings = [line for line in text if line.endswith((" event", " events"))]
        self.assertIn("processor", [line.split(":")[0] for line in headings])
        self.assertEqual(sum(int(line.split()[-2].replace(",", "")) for line in headings),
                         len(lines("events")))
        self.assertEqual(sorted(line for line in text if line and line not in headings),
                         sorted(lines("events")))

    def test_a_pattern_that_matches_nothing_is_1_and_named(self):
        done = run("events", "-e", "sched", "-e", "sched_swich")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"'sched_swich' (did you mean 'sched_switch'?)", done.stderr)

    def test_without_rights_it_is_1_and_says_what_is_missing(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become somebody without rights")
        with tempfile.TemporaryDirectory() as folder:  # where that one may look
            os.chmod(folder, 0o755)
            program = pathlib.Path(folder, "strata")
            program.write_bytes(pathlib.Path(PROGRAM).read_bytes())
            program.chmod(0o755)
            done = subprocess.run([program, "events"], user=NOBODY, group=NOBODY,
                                  extra_groups=[], cwd="/", capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"tracing", done.stderr)


class KernelProfiles(unittest.TestCase):
    def test_list(self):
        text = lines("events", "--profiles")
        self.assertEqual([line.split()[0] for line in text[1:]], PROFILES)
        for line in text[1:]:
            name, count, about = line.split(maxsplit=2)
            self.assertEqual(int(count.replace(",", "")),
                             len(lines("events", "--profile", name)), name)
            self.assertTrue(about)
        listed = as_json("--profiles")["profiles"]
        self.assertEqual([profile["name"] for profile in listed], PROFILES)
        self.assertTrue(all(profile["built_in"] for profile in listed))

    def test_one_of_them(self):
        names = lines("events", "--profile", "system")
        self.assertIn("sched:sched_waking", names)
        self.assertNotIn("sched:sched_wakeup", names)
        self.assertEqual(names, full_names(as_json("--profile", "system")))

    def test_several_together_and_a_part(self):
        names = lines("events", "--profile", "irq", "--profile", "sched")
        self.assertLessEqual({"irq:softirq_entry", "sched:sched_switch"}, set(names))
        self.assertEqual(full_names(as_json("--profile", "sched", "-e", "sched_wakeup*")),
                         ["sched:sched_wakeup_new"])
        self.assertEqual(run("events", "--profile", "irq", "-e", "sched_switch").returncode, 1)

    def test_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "my.profiles")
            path.write_text("[mine]\ndescription = my own\n"
                            "events = no_such:* irq:softirq_* !irq:softirq_raise\n")
            self.assertRegex(lines("events", "--profiles", path)[-1], r"^mine +2  my own$")
            arguments = ("--profiles", path, "--profile", "mine")
            self.assertEqual(lines("events", *arguments),
                             ["irq:softirq_entry", "irq:softirq_exit"])
            self.assertEqual(as_json(*arguments)["missing"], ["no_such:*"])
            mine = as_json("--profiles", path)["profiles"][-1]
            self.assertEqual((mine["name"], mine["built_in"], mine["events"]), ("mine", False, 2))


if __name__ == "__main__":
    checked = run("events", "--profiles")
    if checked.returncode != 0:
        skip(checked.stderr.decode().strip())
    unittest.main()
