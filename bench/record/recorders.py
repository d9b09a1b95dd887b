# SPDX-License-Identifier: Apache-2.0
"""The recorders that are compared, all used in the same way.

    with Strata(folder, events) as recorder:  # records when this comes back
        ...the load...
        before = recorder.cpu()
    recorder.total_cpu, recorder.events, recorder.lost, recorder.bytes

None of them starts the load, so that what they used, their children included, is theirs alone.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build/release/bench/record"
STRATA = ROOT / "build/release/strata"
TRACEFS = pathlib.Path("/sys/kernel/tracing")
START_SECONDS = 30
SETTLE_SECONDS = 0.5  # from the first event to when all that belongs to starting is done


class Failed(Exception):
    """A recorder that cannot be used here; says why."""


def cpu_seconds(pid):
    """What a process has used so far, to the nanosecond; the kernel's number for its clock."""
    return time.clock_gettime((~pid << 3) | 2)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


class Recorder:
    """One recording. A subclass says how it is started, and what came of it."""

    name = "?"
    environment = {}

    def __init__(self, folder):
        self.folder = folder
        self.output = folder / self.name.split()[0]
        self.events = self.lost = self.bytes = 0

    def command(self):
        raise NotImplementedError

    def is_recording(self):
        raise NotImplementedError

    def look(self, said):
        """Sets events, lost and bytes."""
        raise NotImplementedError

    def __enter__(self):
        self.remove()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "said"
        self.started = time.time()
        with open(self.log, "wb") as log:
            try:
                self.child = subprocess.Popen(
                    [str(word) for word in self.command()], stdin=subprocess.DEVNULL, stdout=log,
                    stderr=subprocess.STDOUT, env={**os.environ, **self.environment})
            except OSError as error:
                raise Failed(str(error)) from error
        try:
            self._wait_for_start()
        except BaseException:
            self._end()
            self.remove()
            raise
        return self

    def __exit__(self, problem, *_):
        status = self._end()
        try:
            said = self.log.read_text(errors="replace")
            # perf ends itself by the signal that ended the recording.
            if problem is None and status not in (0, -signal.SIGINT):
                raise Failed(f"exit status {status}: {last_line(said)}")
            if problem is None:
                self.look(said)
        finally:
            self.remove()

    def cpu(self):
        """CPU seconds so far of the recorder itself."""
        return cpu_seconds(self.child.pid)

    def _wait_for_start(self):
        deadline = time.monotonic() + START_SECONDS
        while not self.is_recording():
            if os.waitid(os.P_PID, self.child.pid,
                         os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                raise Failed(last_line(self.log.read_text(errors="replace")))
            if time.monotonic() > deadline:
                raise Failed(f"did not start within {START_SECONDS} s")
            time.sleep(0.01)
        time.sleep(SETTLE_SECONDS)

    def _end(self):
        if self.child.returncode is None:
            os.kill(self.child.pid, signal.SIGINT)  # send_signal() would reap it if it has ended
            _, status, usage = os.wait4(self.child.pid, 0)  # with the children it waited for
            self.child.returncode = os.waitstatus_to_exitcode(status)
            self.total_cpu = usage.ru_utime + usage.ru_stime
        return self.child.returncode

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def instance_records(name):
    """Whether an instance of the kernel's tracer has events enabled and records them."""
    folder = TRACEFS / "instances" / name
    try:
        return ((folder / "tracing_on").read_text().strip() == "1"
                and (folder / "events/enable").read_text().strip() != "0")
    except OSError:
        return False


class Strata(Recorder):
    name = "strata record"

    def __init__(self, folder, options, compression="none"):
        super().__init__(folder)
        self.options = options
        self.compression = compression
        self.session = f"bench-record-{os.getpid()}"

    def command(self):
        return [STRATA, "record", "--json", "--compression", self.compression, "-o", self.output,
                "--name", self.session, *self.options]

    def is_recording(self):
        return instance_records(f"strata-{self.session}") and (self.output / "host.dat").exists()

    def look(self, said):
        try:
            report = json.loads(said[said.index("{"):])
        except ValueError as error:
            raise Failed(last_line(said)) from error
        if not report["finished"]:
            raise Failed(last_line(said))
        self.lost, self.bytes = report["lost"], report["bytes"]
        # Of the kernel's events alone: the starting state is told by events too.
        trace = next(trace for trace in info(self.output)["traces"]
                     if trace["path"].endswith("host.dat"))
        if trace["time_base"] != "epoch":
            raise Failed("the recording does not say what time it was")
        self.events, self.begin_ns = trace["events"], trace["begin_ns"]


class Flight(Strata):
    """A flight recorder: it writes only what snapshot() asks it for."""

    def command(self):
        return [*super().command(), "--flight"]

    def is_recording(self):
        return self._ask().returncode == 0

    def snapshot(self):
        """What was saved, and how many nanoseconds copying it took ("copy_ns")."""
        done = self._ask()
        if done.returncode != 0:
            raise Failed(last_line(done.stderr))
        return json.loads(done.stdout)

    def look(self, said):
        pass

    def _ask(self):
        return subprocess.run([STRATA, "session", "snapshot", self.session, "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class TraceCmd(Recorder):
    name = "trace-cmd record"
    environment = {"LD_PRELOAD": str(PROGRAMS / "redirect.so")}

    def __init__(self, folder, systems, compression="none"):
        super().__init__(folder)
        self.systems = systems
        self.compression = compression
        # Not the main buffer, which may be somebody else's.
        self.instance = f"bench-record-{os.getpid()}"

    def command(self):
        events = [word for system in self.systems for word in ("-e", system)]
        return ["trace-cmd", "record", "-B", self.instance, "--compression", self.compression,
                "-o", self.output, *events]

    def is_recording(self):
        return instance_records(self.instance)

    def look(self, said):
        trace = info(self.output)
        self.events, self.lost = trace["events"], trace["lost"]
        self.bytes = self.output.stat().st_size

    def remove(self):
        super().remove()
        folder = TRACEFS / "instances" / self.instance
        if folder.exists():  # it gave up half-way
            folder.rmdir()


class Perf(Recorder):
    name = "perf record"

    def __init__(self, folder, events):
        super().__init__(folder)
        self.selected = events

    def command(self):
        events = [word for event in self.selected for word in ("-e", event)]
        return ["perf", "record", "-a", "-o", self.output, *events]

    def is_recording(self):
        # It says nothing. A head without samples is less than this.
        return self.output.exists() and self.output.stat().st_size > 1 << 16

    def look(self, said):
        counted = subprocess.run([PROGRAMS / "perf_count", self.output], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        if counted.returncode != 0:
            raise Failed(f"{last_line(counted.stderr)}; it said: {last_line(said)}")
        self.events, self.lost = map(int, counted.stdout.split())
        self.bytes = self.output.stat().st_size


class Splice(Recorder):
    name = "bare splice loop"

    def __init__(self, folder, events):
        super().__init__(folder)
        self.selected = events

    def command(self):
        return [PROGRAMS / "splice", self.folder, *self.selected]

    def is_recording(self):
        return "ready" in self.log.read_text()

    def look(self, said):
        self.events, self.lost = map(int, said.split()[-2:])


def info(trace):
    asked = subprocess.run([STRATA, "info", "--json", trace], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    if asked.returncode != 0:
        raise Failed(last_line(asked.stderr))
    return json.loads(asked.stdout)
