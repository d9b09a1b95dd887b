#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs alone, without anything of the kernel: also by a user who has no rights for its tracer."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess

import machine
import programs
from programs import app_parts, go, kept, recorder, told

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
             "--bounding-set=-all", "--inh-caps=-all"]
RUNTIME = pathlib.Path(f"/run/user/{NOBODY}")


def alone(folder, emitter):
    """Nothing of the kernel is in the recording, and nothing of ours in the kernel."""
    out, file = folder / "alone", emitter.file()
    waiting = emitter.start(file, "count", 1000, 1, wait=True)
    recording = recorder(out, "--app", emitter.program)
    assert f"strata-{out.name}" not in tracefs.instances()
    go(waiting)
    assert waiting.wait() == 0
    machine.stop(recording)
    assert sorted(path.name for path in out.iterdir()) == ["app-emitter", "recording.json"]
    (part,) = json.loads((out / "recording.json").read_text())["parts"]
    assert kept(out / "app-emitter") + part["lost"] == 1000, part
    assert [event["ts_ns"] for event in machine.events(out)] == \
        sorted(event["ts_ns"] for event in machine.events(out))
    session = machine.info(out)
    assert session["time_base"] == "epoch", session


def with_the_kernel(folder, emitter):
    """What asks for the kernel's events gets them besides."""
    for name, words in (("event", ["-e", "sched_switch"]), ("profile", ["--profile", "sched"])):
        out = folder / name
        machine.fine("record", "--no-state", "-o", out, "--app", emitter.program, *words, "--",
                     emitter.program, emitter.file(), "count", 100, 1)
        assert (out / "host.dat").exists() and machine.info(out / "host.dat")["events"] > 0
        assert kept(out / "app-emitter") == 100


def nobody_came(folder, emitter):
    """A recording in which no program told anything opens all the same."""
    out = folder / "nobody"
    machine.fine("record", "-o", out, "--app", emitter.program, "--", "true")
    assert app_parts(out) == []
    assert machine.info(out)["events"] == 0
    machine.fine("dump", out)


def wrong_usage(folder, emitter):
    for words in (["-p", "1"], ["--cgroup", "/"]):
        done = machine.run("record", "-o", folder / "none", "--app", emitter.program, *words,
                           "--duration", "1s")
        assert done.returncode == 1 and "kernel's events" in done.stderr, (words, done.stderr)
        assert not (folder / "none").exists()
    recording = recorder(folder / "change", "--app", emitter.program, "-e", "emitter:step")
    done = machine.run("session", "change", "change", "--enable", "sched_switch")
    assert done.returncode == 1 and "programs alone" in done.stderr, done.stderr
    machine.stop(recording)


@contextlib.contextmanager
def runtime_folder():
    """As a login makes it for a user."""
    was_there = RUNTIME.exists()
    RUNTIME.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.chown(RUNTIME, NOBODY, NOBODY)
    try:
        yield
    finally:
        if not was_there:
            shutil.rmtree(RUNTIME)


class Nobody:
    """A user without rights, with a program of strata's and a folder of its own."""

    def __init__(self, folder):
        self.folder = folder / "home"
        self.folder.mkdir()
        shutil.copy(machine.STRATA, self.folder / "program")
        for path in (self.folder, self.folder / "program"):
            os.chown(path, NOBODY, NOBODY)
        folder.chmod(0o755)

    def words(self, *words):
        return [*AS_NOBODY, *map(str, words)]

    def record(self, *words, runtime=RUNTIME):
        return subprocess.Popen(
            self.words(self.folder / "program", "record", *words), text=True,
            env=dict(os.environ, XDG_RUNTIME_DIR=str(runtime)), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def emitter(self, emitter, file, *words):
        os.chown(file, NOBODY, NOBODY)
        return subprocess.Popen(self.words(emitter.program, file, *words), stdin=subprocess.PIPE,
                                env=dict(os.environ, WAIT="1"))


def may_write_flags():
    with contextlib.suppress(OSError):
        scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope").read_text().strip()
        if scope != "0":
            print(f"running programs of another user: left out, kernel.yama.ptrace_scope is {scope}")
            return False
    return True


def another_users_command(folder, emitter, nobody):
    """Behind '--', by the environment, also where a user has no folder of a login's."""
    for runtime in (RUNTIME, nobody.folder):
        out, file = nobody.folder / f"command-{runtime.name}", emitter.file()
        os.chown(file, NOBODY, NOBODY)
        with runtime_folder() if runtime == RUNTIME else contextlib.nullcontext():
            recording = nobody.record("-o", out, "--app", emitter.program, "--", emitter.program,
                                      file, "count", 5000, 2, runtime=runtime)
            said, errors = recording.communicate(timeout=60)
        assert recording.returncode == 0, errors
        (part,) = app_parts(out)
        assert kept(out / part["file"]) + part["lost"] == told(file) == 10000, (part, said)


def another_users_processes(folder, emitter, nobody):
    """Those of the user that run already, by writing their flags; nobody else's."""
    out, files = nobody.folder / "running", [emitter.file() for _ in range(2)]
    roots = emitter.start(files[1], "count", 100, 1, wait=True)
    with runtime_folder():
        done = nobody.record("-o", out, "--app", emitter.program)
        _, errors = done.communicate(timeout=60)
        assert done.returncode == 1 and "no process of this user's" in errors, errors
        own = nobody.emitter(emitter, files[0], "count", 30000, 2)
        assert machine.wait_for(lambda: os.stat(f"/proc/{own.pid}").st_uid == NOBODY and
                                "emitter" in os.readlink(f"/proc/{own.pid}/exe"))
        recording = nobody.record("-o", out, "--app", emitter.program)
        ready = machine.wait_for(lambda: (out / "recording.json").exists() or
                                 recording.poll() is not None)
        assert ready and recording.poll() is None, recording.stderr.read()
        for process in (own, roots):
            go(process)
            assert process.wait() == 0
        recording.send_signal(signal.SIGINT)
        _, errors = recording.communicate(timeout=60)
        assert recording.returncode == 0, errors
    assert "only processes that run already" in errors, errors
    (part,) = app_parts(out)
    assert kept(out / part["file"]) + part["lost"] == told(files[0]) == 60000, part


def another_user(folder, emitter):
    if not shutil.which("setpriv"):
        print("another user: left out, there is no setpriv")
        return
    nobody = Nobody(folder)
    another_users_command(folder, emitter, nobody)
    if may_write_flags():
        another_users_processes(folder, emitter, nobody)


tracefs = machine.Tracefs()
try:
    programs.run(alone, with_the_kernel, nobody_came, wrong_usage, another_user)
finally:
    tracefs.close()
