#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strata sync: what Trace Compass finds of two hosts, a guest put where it ran, and the folder."""

import json
import pathlib
import tempfile
import unittest

import program
from program import lines, run

CTF = program.CORPUS / "ctf"
SOURCE = CTF / "tracecompass/synctraces/scp_src"
DESTINATION = CTF / "tracecompass/synctraces/scp_dest"
GUEST = CTF / "nested-kvm/guest"
HOST = CTF / "nested-kvm/host"


class Sync(unittest.TestCase):
    def test_two_hosts_as_trace_compass_has_them(self):
        found = json.loads("\n".join(lines("sync", SOURCE, DESTINATION, "--json")))
        self.assertEqual(found["by"], "tcp")
        self.assertEqual(found["matches"], 46)
        line, = found["lines"]
        self.assertEqual(line["slope"], 0.9999413783703139)
        self.assertEqual(line["offset_ns"], 79796507913179.33)
        self.assertGreater(line["bound_ns"], 0)

    def test_text_tells_the_same(self):
        text = "\n".join(lines("sync", SOURCE, DESTINATION))
        self.assertIn("46 TCP segments that both saw", text)
        self.assertIn("0.9999413783703139 x t + 79796507913179.33 ns", text)

    def test_folder_has_both_in_the_order_of_cause_and_effect(self):
        with tempfile.TemporaryDirectory() as folder:
            both = pathlib.Path(folder) / "both"
            lines("sync", SOURCE, DESTINATION, "-o", both)
            events = [json.loads(line) for line in
                      lines("dump", both, "-e", "inet_sock_local_*", "--json")]
            self.assertEqual(len(events), 100)
            times = [event["ts_ns"] for event in events]
            self.assertEqual(times, sorted(times))
            sent = {}
            pairs = 0
            for event in events:
                key = tuple(event["fields"][name] for name in ("seq", "ack_seq", "flags"))
                if event["event"].endswith("_out"):
                    sent.setdefault(key, event["machine"])
                elif sent.get(key, event["machine"]) != event["machine"]:
                    pairs += 1
            self.assertEqual(pairs, 46, "every segment was sent before it arrived")
            # A folder that is there is not written over.
            self.assertEqual(run("sync", SOURCE, DESTINATION, "-o", both).returncode, 1)

    def test_guest_and_host_in_either_order(self):
        for pair in ((GUEST, HOST), (HOST, GUEST)):
            found = json.loads("\n".join(lines("sync", *pair, "--json")))
            self.assertEqual(found["by"], "guest")
            line, = found["lines"]
            self.assertAlmostEqual(line["slope"], 1, delta=1e-4)
            self.assertLess(line["bound_ns"], 60_000)

    def test_what_cannot_be_told_is_told_with_the_reason(self):
        done = run("sync", SOURCE, GUEST)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"has no events that tell TCP segments", done.stderr)
        self.assertEqual(run("sync", SOURCE, "/nonexistent").returncode, 1)
        self.assertEqual(run("sync", SOURCE).returncode, 2)


if __name__ == "__main__":
    if not CTF.is_dir():
        program.skip("no real traces here; STRATA_CORPUS would say where they are")
    unittest.main()
