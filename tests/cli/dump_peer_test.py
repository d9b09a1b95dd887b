#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strata dump gives, for every trace.dat of the corpus, the lines of trace-cmd report."""

import collections
import shutil
import subprocess
import sys
import unittest

from program import CORPUS, SAMPLE, lines, normalised, run, skip

TRACES = [SAMPLE] + sorted((CORPUS / "dat").glob("*.dat"))


def report(*arguments):
    """trace-cmd's lines without its first, cpus=N. It warns on standard error of what is fine."""
    done = subprocess.run(["trace-cmd", "report", *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=250, check=True)
    return [line for line in normalised(done.stdout) if not line.startswith(b"cpus=")]


class DumpAsTraceCmd(unittest.TestCase):
    def compare(self, ours, theirs):
        for number, (our, their) in enumerate(zip(ours, theirs), 1):
            self.assertEqual(our, their, "line %d" % number)
        self.assertEqual(len(ours), len(theirs))

    def test_every_line_of_every_trace(self):
        for trace in TRACES:
            with self.subTest(trace=trace.name):
                ours = run("dump", trace)
                self.assertEqual(ours.returncode, 0, ours.stderr)
                self.compare(normalised(ours.stdout), report("-i", trace))

    def test_one_cpu(self):
        for trace in TRACES:
            with self.subTest(trace=trace.name):
                # trace-cmd learns names from the lines it shows, so threads may stay unnamed that
                # we, who see all events of that CPU, know as well: the same here.
                ours = run("dump", trace, "--cpu", "1")
                self.compare(normalised(ours.stdout), report("-i", trace, "--cpu", "1"))

    def test_counts_of_info_are_those_of_the_report(self):
        import json
        for trace in TRACES:
            with self.subTest(trace=trace.name):
                info = json.loads(run("info", "--json", trace).stdout)
                events = [line for line in report("-i", trace) if b"] " in line and b": " in line]
                shown = collections.Counter()
                for line in events:
                    words = line.split(b"] ", 1)[1].split(b": ")
                    if len(words) > 1:
                        shown[words[1].split(b":")[0].strip().decode()] += 1
                for kind in info["event_types"]:
                    self.assertEqual(kind["count"], shown[kind["name"]], kind)

    def test_several_traces_have_the_lines_of_each(self):
        pair = [CORPUS / "dat" / name for name in ("pair-host.dat", "pair-guest.dat")]
        if not all(trace.exists() for trace in pair):
            self.skipTest("no corpus")
        ours = lines("dump", "--time", "raw", *pair)
        for trace in pair:
            own = [line.split(": ", 1)[1] for line in ours if line.strip().startswith(trace.name)]
            self.compare([b" ".join(line.encode().split()) for line in own],
                         report("-i", trace))


if __name__ == "__main__":
    if not shutil.which("trace-cmd"):
        skip("trace-cmd is not installed")
    print("traces: " + " ".join(trace.name for trace in TRACES), file=sys.stderr)
    unittest.main()
