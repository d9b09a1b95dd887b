#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strata query counts what trace-cmd and babeltrace2 show."""

import collections
import json
import re
import shutil
import subprocess
import sys
import unittest

from program import CORPUS, SAMPLE, run, skip

CTF = ["lttng-ref-traces/basic-kernel-analysis", "tracecompass/context-switches", "nested-kvm/guest"]


def counts(trace):
    """How many events of each name, in SQL."""
    done = run("query", "--json", trace, "SELECT name, count(*) AS n FROM event GROUP BY name")
    assert done.returncode == 0, done.stderr
    return {row["name"]: row["n"] for row in json.loads(done.stdout)}


def shown_by(command, pattern):
    """How many lines for each name that the pattern finds in what the command shows."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=250, check=True)
    found = collections.Counter()
    for line in done.stdout.decode(errors="replace").splitlines():
        if match := re.search(pattern, line):
            found[match.group(1)] += 1
    return found


class Counts(unittest.TestCase):
    def test_as_trace_cmd(self):
        for trace in [SAMPLE] + sorted((CORPUS / "dat").glob("*.dat")):
            with self.subTest(trace=trace.name):
                self.assertEqual(counts(trace), shown_by(["trace-cmd", "report", "-R", "-i", trace],
                                                         r"^.*?\[\d+\][^:]*?[\d.]+: +(\w+):"))

    def test_as_babeltrace(self):
        if not shutil.which("babeltrace2"):
            self.skipTest("babeltrace2 is not installed")
        for name in CTF:
            trace = CORPUS / "ctf" / name
            if not trace.exists():
                self.skipTest("no corpus")
            with self.subTest(trace=name):
                self.assertEqual(counts(trace),
                                 shown_by(["babeltrace2", trace], r"\(\+[?.\d]+\) (?:\S+ )?(?:\w+:)?(\w+): \{"))


if __name__ == "__main__":
    if not shutil.which("trace-cmd"):
        skip("trace-cmd is not installed")
    unittest.main()
