# SPDX-License-Identifier: Apache-2.0
"""Cgroups with a CPU limit, for tests; what they make they remove, and what was left by others."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import machine

# Runs for a second of wall time, much longer than its cgroup lets it.
BURN = """
import sys, time
sys.stdin.readline()
end = time.monotonic() + 1
while time.monotonic() < end:
    pass
"""


def hierarchy():
    """Where cgroups with a CPU limit can be made, and whether that is version 2."""
    version_2 = None
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        before, after = line.split(" - ")
        kind, _, options = after.split(" ", 2)
        path = pathlib.Path(before.split()[4])
        if kind == "cgroup" and "cpu" in options.split(","):
            return path, False
        if kind == "cgroup2":
            version_2 = path
    if version_2 is None:
        machine.skip("no cgroups are mounted")
    if "cpu" not in (version_2 / "cgroup.subtree_control").read_text().split():
        machine.skip("the CPU controller of cgroups is not in use")
    return version_2, True


def set_quota(path, microseconds):
    """Of 100,000, the period; "" for no limit."""
    if (path / "cpu.max").exists():
        (path / "cpu.max").write_text(microseconds or "max")
    else:
        (path / "cpu.cfs_quota_us").write_text(microseconds or "-1")


def remove(path):
    """A cgroup, and what runs in it: which ends sooner without the limit."""
    set_quota(path, "")

    def is_empty():
        left = (path / "cgroup.procs").read_text().split()
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        return not left

    assert machine.wait_for(is_empty, 60), (path / "cgroup.procs").read_text()
    path.rmdir()


def remove_leftovers():
    """What a test that was killed has left would be in all later recordings of this machine."""
    for path in hierarchy()[0].glob("strata-throttling-*"):
        maker = pathlib.Path("/proc", path.name.split("-")[2], "cmdline")
        try:
            is_left = "_kernel_test.py" not in maker.read_text()
        except FileNotFoundError:
            is_left = True
        if is_left:
            print(f"{path.name} was left behind")
            remove(path)


class Cgroup:
    """A cgroup of its own, with a twentieth of a CPU."""

    def __init__(self, name):
        parent, self.is_version_2 = hierarchy()
        self.name = f"/strata-throttling-{os.getpid()}-{name}"
        self.path = parent / self.name[1:]
        try:
            self.path.mkdir()
        except OSError as error:
            machine.skip(f"no cgroup can be made: {error}")

    def limit(self):
        set_quota(self.path, "5000")

    @contextlib.contextmanager
    def burning(self):
        """A process in it, which waits for a line before it burns."""
        load = subprocess.Popen([sys.executable, "-S", "-c", BURN], stdin=subprocess.PIPE)
        (self.path / "cgroup.procs").write_text(str(load.pid))
        try:
            yield load
            assert load.returncode == 0
        finally:
            load.kill()
            load.wait()

    def burn(self):
        with self.burning() as load:
            load.communicate(b"\n", timeout=120)

    def stat(self):
        """As an event of the recording tells it."""
        lines = (self.path / "cpu.stat").read_text().splitlines()
        told = {name: int(value) for name, value in map(str.split, lines)}
        throttled = told["throttled_usec"] * 1000 if self.is_version_2 else told["throttled_time"]
        return {"cgroup": self.name, "nr_periods": told["nr_periods"],
                "nr_throttled": told["nr_throttled"], "throttled_ns": throttled}

    def wait_until_quiet(self):
        """The kernel counts on for a period or two when nothing runs any more."""
        seen = [None]

        def is_quiet():
            time.sleep(0.5)
            seen.append(self.stat())
            return seen[-1] == seen[-2]

        assert machine.wait_for(is_quiet, 60), seen
        return seen[-1]

    def samples(self, trace):
        return [event["fields"] for event in machine.events(trace, "-e", "cgroup_cpu_stat")
                if event["fields"]["cgroup"] == self.name]

    def close(self):
        remove(self.path)
