#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options from a file, the flight recorder's example of one, and its unit."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import machine

CALLS = 500
LOAD = f"import os\nfor _ in range({CALLS}): os.getppid()"


def written(folder, text):
    path = folder / "some.toml"
    path.write_text(text)
    return path


def records(folder):
    """A file says what the command line leaves open."""
    out = folder / "out"
    path = written(folder, f"""
# a comment
output = "{out}"
name = "not-this"
no-state = true
json = false
e = ["syscalls:sys_enter_getppid",
     "syscalls:sys_exit_getppid"]   # on two lines, and a comment
F = ['common_pid != 1 && common_pid != 2']  # 'one'
compression = "none"
""")
    told = machine.fine("record", "--config", path, "--name", "config", "--", sys.executable, "-S",
                        "-c", LOAD)
    assert told.startswith("recorded "), told
    described = json.loads((out / "recording.json").read_text())
    session = described["sessions"][0]
    assert session["name"] == "config", session
    asked = " ".join(session["asked"])
    assert "-F common_pid != 1 && common_pid != 2" in asked, asked
    assert f"--output {out}" in asked and "--no-state" in asked and "not-this" not in asked, asked
    assert not (out / "host-state").exists()
    events = machine.events(out / "host.dat")
    assert {event["event"] for event in events} == {"sys_enter_getppid", "sys_exit_getppid"}
    assert sum(event["event"] == "sys_enter_getppid" for event in events) >= CALLS


def refuses(folder):
    """What is no option, or no value of one, is wrong usage, with file and line."""
    for text, line, word in (("\nfrob = 1\n", 2, "'frob' is no option"),
                             ("name = 'x'\nno-state = 7\n", 2, "true or false"),
                             ("# c\n[section]\nname = 'x'\n", 2, "section"),
                             ("compression = 'lz9'\n", 1, "lz9"), ("config = 'x'\n", 1, "'config'"),
                             ("name = 'x'\nsync = '1s\n", 2, "not closed"),
                             ("name = 'x'\ne = ['a',\n'b'\n", 2, "not closed")):
        path = written(folder, text)
        done = machine.run("record", "--config", path, "--duration", "1ms", cwd=folder)
        assert done.returncode == 2, (text, done)
        assert f"{path}:{line}: " in done.stderr and word in done.stderr, (text, done.stderr)
    done = machine.run("record", "--config", folder / "none.toml")
    assert done.returncode == 2 and "none.toml: cannot open" in done.stderr, done


def example(folder):
    """The example is right but for what it keeps in the kernel, which is not tried here."""
    text = (machine.ROOT / "data/flight.toml").read_text()
    assert "flight = true\n" in text
    path = written(folder, text.replace("flight = true\n", ""))
    machine.fine("record", "--config", path, "--name", "config-example", "-o", folder / "example",
                 "--duration", "100ms")


def unit(folder):
    if shutil.which("systemd-analyze") is None:
        return
    text = (machine.ROOT / "data/strata-flight.service.in").read_text()
    program = folder / "strata"
    program.symlink_to(machine.STRATA)
    path = folder / "strata-flight.service"
    path.write_text(text.replace("@CMAKE_INSTALL_FULL_BINDIR@", str(folder)))
    done = subprocess.run(["systemd-analyze", "--man=no", "verify", path], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    ours = [line for line in done.stdout.splitlines() if "strata-flight" in line]
    assert not ours, ours


tracefs = machine.Tracefs()
try:
    with tempfile.TemporaryDirectory(prefix="strata-config-") as name:
        folder = pathlib.Path(name)
        records(folder)
        refuses(folder)
        example(folder)
        unit(folder)
finally:
    tracefs.close()
