#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What trim and convert write is read by trace-cmd with the same lines."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from program import CORPUS, SAMPLE, lines, normalised, run, skip

TRACES = [SAMPLE] + sorted((CORPUS / "dat").glob("*.dat"))


def report(path):
    done = subprocess.run(["trace-cmd", "report", "-i", str(path)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=250, check=True)
    return [line for line in normalised(done.stdout) if not line.startswith(b"cpus=")]


class Rewritten(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name) / "out.dat"

    def tearDown(self):
        self.folder.cleanup()

    def test_convert_keeps_every_line(self):
        for trace in TRACES:
            for how in ("none", "zstd"):
                with self.subTest(trace=trace.name, compression=how):
                    lines("convert", trace, "--to", "tracedat", "--compression", how, "-o",
                          self.out)
                    self.assertEqual(report(self.out), report(trace))

    def test_trim_keeps_what_lies_in_the_period(self):
        for trace in TRACES:
            with self.subTest(trace=trace.name):
                info = json.loads(run("info", "--json", trace).stdout)
                third = (info["end_ns"] - info["begin_ns"]) // 3
                begin, end = info["begin_ns"] + third, info["end_ns"] - third
                written = run("trim", trace, "--begin", begin, "--end", end, "-o", self.out,
                              "--json")
                self.assertEqual(written.returncode, 0, written.stderr)
                inside = [json.loads(line)["ts_ns"] for line in lines("dump", "--json", trace)]
                inside = [ts for ts in inside if begin <= ts <= end]
                self.assertEqual(json.loads(written.stdout)["events"], len(inside))
                # Names of threads may be learnt from events that were cut away.
                ours = [line.split(b"-", 1)[-1] for line in normalised(run("dump",
                                                                           self.out).stdout)]
                theirs = [line.split(b"-", 1)[-1] for line in report(self.out)]
                self.assertEqual(ours, theirs)


if __name__ == "__main__":
    if not shutil.which("trace-cmd"):
        skip("trace-cmd is not installed")
    unittest.main()
