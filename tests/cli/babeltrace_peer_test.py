#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`dump --style babeltrace` against the real babeltrace2, line by line."""

import os
import re
import shutil
import subprocess

import program

CTF = program.CORPUS / "ctf"
SUCCEED = "babeltrace-2.1/ctf-traces/1/succeed/"
TRACES = ["lttng-ref-traces/basic-kernel-analysis", "lttng-ref-traces/picotrace", "nested-kvm",
          "tracecompass/context-switches", "tracecompass/ros2", "tracecompass/perf-taskset2",
          "tracecompass/cyg-profile", "tracecompass/ctf-sequence-empty", "lttng-analyses-synth/irq",
          SUCCEED + "lttng-tracefile-rotation", SUCCEED + "trace-with-index",
          SUCCEED + "wk-heartbeat-u", SUCCEED + "multi-domains", SUCCEED + "lttng-crash",
          SUCCEED + "sequence", SUCCEED + "succeed1", SUCCEED + "array-align-elem"]


def same_but_for_empty_strings(theirs, ours):
    """Babeltrace 2.0.4 shows an empty string as the string that stood there before."""
    if theirs == ours:
        return True
    pattern = re.escape(ours).replace('""', '"[^"]*"')
    return '""' in ours and re.fullmatch(pattern, theirs) is not None


if not CTF.is_dir():
    program.skip("no corpus of traces ($STRATA_CORPUS)")
if shutil.which("babeltrace2") is None:
    program.skip("no babeltrace2")
for name in TRACES:
    done = subprocess.run(["babeltrace2", CTF / name], env=dict(os.environ, TZ="UTC"),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    theirs = done.stdout.decode(errors="surrogateescape").splitlines()
    ours = program.lines("dump", "--style", "babeltrace", CTF / name)
    assert len(theirs) == len(ours) > 0, (name, len(theirs), len(ours))
    for number, (a, b) in enumerate(zip(theirs, ours)):
        assert same_but_for_empty_strings(a, b), (name, number, a, b)
