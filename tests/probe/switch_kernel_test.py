#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strata probe enable and disable: what they do in programs that run, and in those that start."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATA = os.environ["STRATA_PROGRAM"]
LIBRARY = pathlib.Path(STRATA).parent / "src/probe/libstrata-probe.a"
SITES = 51
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
             "--bounding-set=-all", "--inh-caps=-all"]


def fail(text):
    sys.exit(f"FAILED: {text}")


def expect(found, wanted, what):
    if found != wanted:
        fail(f"{what}: found {found}, wanted {wanted}")


class Program:
    """One that runs and answers."""

    def __init__(self, path, words=(), environment=None):
        self.process = subprocess.Popen([*words, str(path)], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, bufsize=0,
                                        env={**os.environ, **(environment or {})})
        self.pid = self.process.pid
        self.ask("n")  # it runs, and as whom it should

    def ask(self, command):
        self.process.stdin.write(command)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            fail(f"the program is gone: {self.process.wait()}")
        return int(answer)

    def becomes(self, flags):
        for _ in range(1000):
            if self.ask("n") == flags:
                return
            time.sleep(0.001)
        fail(f"{self.ask('n')} flags are set, not {flags}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def enabled(*words, strata=(STRATA,), says=None):
    """strata probe enable, from the moment that they are on; gives the process."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([*strata, "probe", "enable", *map(str, words)], text=True,
                                   stdout=subprocess.PIPE, stderr=errors)
        line = process.stdout.readline()
        if "on, until Ctrl-C" not in line or (says and says not in line):
            errors.seek(0)
            fail(f"enable {words} says '{line}' {errors.read()}")
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait()


def refused(*words, strata=(STRATA,)):
    result = subprocess.run([*strata, "probe", "enable", *map(str, words)], text=True,
                            capture_output=True, timeout=60)
    expect(result.returncode, 1, f"enable {words}")
    return result.stderr


def strata_probe(*words, strata=(STRATA,)):
    result = subprocess.run([*strata, "probe", *map(str, words)], text=True, capture_output=True)
    expect(result.returncode, 0, f"probe {words}: {result.stderr}")
    return result.stdout


def who_has_it_on(pid, strata=(STRATA,)):
    files = json.loads(strata_probe("list", "--json", pid, strata=strata))["files"]
    probes = {probe["name"]: probe for probe in files[0]["probes"]}
    on = probes["fires"]["on"]
    return on["kernel"], on["environment"], on["collectors"]


def test_running_and_later_ones(program, _):
    with Program(program) as running:
        with enabled(program, "-e", "switched"):
            expect(running.ask("n"), SITES, "flags of a running program")
            expect(who_has_it_on(running.pid), (True, False, 0), "who has it on")
            with Program(program) as later:
                expect(later.ask("n"), SITES, "flags of a program that starts later")
        expect(running.ask("n"), 0, "flags when it has ended")
        with Program(program) as other, enabled(other.pid, "-e", "switched"):
            expect(who_has_it_on(other.pid), (True, False, 0), "who has it on")
            expect(who_has_it_on(running.pid), (False, False, 0), "the other process")
            with enabled(program, "-e", "switched:fires"):
                expect(running.ask("n"), 1, "flags of another tracer")
            expect(other.ask("n"), SITES, "flags when the other tracer has left")
        with enabled(program, "-e", "switched:site_1?", "-e", "switched:fires"):
            expect(running.ask("n"), 11, "flags of those named")


def test_none_is_missed_that_starts_meanwhile(program, _):
    started = []
    stop = threading.Event()

    def start():
        while not stop.is_set() and len(started) < 60:
            started.append(Program(program))

    thread = threading.Thread(target=start)
    thread.start()
    try:
        for _ in range(3):
            with enabled(program, "-e", "switched"):
                for one in list(started):
                    expect(one.ask("n"), SITES, "flags of one that started meanwhile")
        stop.set()
        thread.join()
        for one in started:
            expect(one.ask("n"), 0, "flags at the end")
    finally:
        stop.set()
        thread.join()
        for one in started:
            one.__exit__()


def test_killed(program, _):
    with Program(program) as running, enabled(program, "-e", "switched") as process:
        expect(running.ask("n"), SITES, "flags")
        process.kill()
        process.wait()
        running.becomes(0)


def test_ends_with_the_process(program, _):
    with Program(program) as running:
        with enabled(running.pid, "-e", "switched") as process:
            running.__exit__()
            expect(process.wait(10), 0, "exit status when the process has ended")


def test_wrong_names(program, _):
    if "no probe 'shop'" not in refused(program, "-e", "switched", "-e", "shop"):
        fail("a name that is not there is not told")


def test_filters(program, _):
    with Program(program) as filtered:
        expect(filtered.ask("s"), 0, "a filter")
        said = refused(program, "-e", "switched")
        if "seccomp" not in said or str(filtered.pid) not in said:
            fail(f"the filter is not told: {said}")
        expect(filtered.ask("n"), 0, "flags of the one with a filter")
        with enabled(filtered.pid, "-e", "switched"):
            expect(filtered.ask("n"), SITES, "by number")
        with enabled(program, "-e", "switched", "--force"):
            expect(filtered.ask("n"), SITES, "by force")


def test_patched(_, program):
    with Program(program) as running, Program(program) as second:
        expect(running.ask("f"), 0, "evaluated while it is off")
        with enabled(program, "-e", "switched:fires"):
            expect(running.ask("f"), 1, "evaluated while it is on")
            expect(second.ask("f"), 1, "of another process")
            with enabled(running.pid, "-e", "switched:fires"):
                pass
            expect(running.ask("f"), 2, "when one of two tracers has left")
            with Program(program) as later:
                expect(later.ask("f"), 1, "of a process that starts later")
        expect(running.ask("f"), 2, "when all have left")
        with enabled(running.pid, "-e", "switched:fires") as process:
            process.kill()
            process.wait()
            running.becomes(0)
        expect(running.ask("f"), 2, "when it was killed")
        strata_probe("disable", program)  # the code too
        with Program(program, environment={"STRATA_PROBE": "switched:fires"}) as other:
            expect(who_has_it_on(other.pid), (False, True, 0), "who has it on")
            strata_probe("disable", other.pid)
            expect(who_has_it_on(other.pid), (False, False, 0), "who has it on then")
            expect(other.ask("f"), 0, "then")


def test_another_user(flag, patched):
    """Without any rights, in programs of its own: by writing the flags there."""
    if not shutil.which("setpriv"):
        print("another user: skipped, there is no setpriv")
        return
    with contextlib.suppress(OSError):
        scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope").read_text().strip()
        if scope != "0":
            print(f"another user: skipped, kernel.yama.ptrace_scope is {scope}")
            return
    own = flag.parent / "strata"
    shutil.copy(STRATA, own)
    strata = (*AS_NOBODY, str(own))
    for program in (flag, patched):
        with Program(program, AS_NOBODY) as running, Program(program) as roots:
            with enabled(program, "-e", "switched", strata=strata, says="that runs now"):
                expect(running.ask("n"), SITES, "flags of one's own program")
                expect(running.ask("f"), 1, "evaluated")
                expect(roots.ask("n"), 0, "flags of root's")
                with enabled(running.pid, "-e", "switched:fires", strata=strata):
                    expect(who_has_it_on(running.pid, strata), (False, False, 2), "who has it on")
                expect(running.ask("n"), SITES, "flags when one of two has left")
            expect(running.ask("n"), 0, "flags when both have left")
            expect(running.ask("f"), 1, "evaluated then")
            with enabled(running.pid, "-e", "switched", strata=strata) as process:
                process.kill()
                process.wait()
            expect(running.ask("n"), SITES, "flags that nobody took back")
            strata_probe("disable", running.pid, strata=strata)
            expect(running.ask("n"), 0, "flags when they were taken back")
            said = refused(roots.pid, "-e", "switched", strata=strata)
            if "Permission denied" not in said and "STRATA_PROBE" not in said:
                fail(f"root's program as another user: {said}")


def build(folder, name, *options):
    program = folder / name
    subprocess.run(["gcc", "-O2", *options, f"-I{ROOT / 'include'}",
                    str(ROOT / "tests/probe/switched.c"), str(LIBRARY), "-o", str(program)],
                   check=True)
    return program


def main():
    if not LIBRARY.exists() or not shutil.which("gcc"):
        print("libstrata-probe is not built, or there is no gcc")
        sys.exit(77)
    if os.geteuid() != 0:
        print("this needs root")
        sys.exit(77)
    os.environ["STRATA_PROBE_SOCKET"] = "/nowhere"  # nobody's collector is troubled
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        flag = build(folder, "flag")
        patched = build(folder, "patched", "-DSTRATA_PROBE_PATCHED")
        for test_name, test in list(globals().items()):
            if test_name.startswith("test_"):
                print(test_name, flush=True)
                test(flag, patched)


main()
