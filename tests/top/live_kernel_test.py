#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata top` on this machine: the figures of a load are those that the kernel accounts for it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from terminal import LIMIT, PROGRAM, Terminal

# Runs for a while and then says what the kernel charged it: user and system time, in nanoseconds.
BURN = """
import os, resource, sys, time
end = time.monotonic() + 2.5
while time.monotonic() < end:
    sum(range(20000))
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, flush=True)
"""


class Watched:
    """strata top --json beside something, and its periods."""

    def __init__(self, *arguments, by=()):
        self.file = tempfile.NamedTemporaryFile()
        with open(self.file.name, "ab") as out:  # with a position of its own
            self.child = subprocess.Popen(
                [*by, PROGRAM, "top", "--json", "-d", "500ms", *arguments], stdout=out,
                stderr=subprocess.PIPE)
        end = time.monotonic() + LIMIT
        while not self.periods():
            if self.child.poll() is not None or time.monotonic() > end:
                raise AssertionError(self.child.stderr.read().decode())
            time.sleep(0.05)

    def periods(self):
        self.file.seek(0)
        lines = self.file.read().split(b"\n")
        return [json.loads(line) for line in lines[:-1]]

    def wait_past(self, moment_ns):
        """All periods, up to one that ends behind a moment."""
        end = time.monotonic() + LIMIT
        while True:
            periods = self.periods()
            if periods and periods[-1]["end_ns"] > moment_ns:
                return periods
            if time.monotonic() > end:
                raise AssertionError("no period has that moment")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.child.send_signal(signal.SIGINT)
        self.child.wait(LIMIT)
        self.child.stderr.close()
        self.file.close()


def tasks(periods, pid):
    return [task for period in periods for machine in period["machines"]
            for task in machine.get("tasks", []) if task.get("pid") == pid]


ON_CPU = ("running_ns", "user_ns", "syscall_ns", "trap_ns", "virt_ns", "kernel_ns", "exiting_ns")


def on_cpu(rows):
    return sum(row.get(column, 0) for row in rows for column in ON_CPU)


# Somebody who may use the kernel's tracer, but not eBPF.
WITHOUT_EBPF = ("setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin",
                "--inh-caps=-bpf,-perfmon,-sys_admin")


def own_folders(pid):
    return [name for name in os.listdir("/run/strata") if name.startswith(f"{pid}.top-")]


class ByRings(unittest.TestCase):
    def test_where_ebpf_is_refused_the_kernels_rings_tell_the_same(self):
        with Watched(by=WITHOUT_EBPF) as watched:
            with subprocess.Popen([sys.executable, "-c", BURN], stdout=subprocess.PIPE) as load:
                charged = float(load.stdout.read())
                load.wait()
            periods = watched.wait_past(time.time_ns())
            self.assertEqual({period["source"] for period in periods}, {"trace"})
            self.assertTrue(own_folders(watched.child.pid))
            for before, after in zip(periods, periods[1:]):
                self.assertEqual(before["end_ns"], after["begin_ns"])
            # Its cost is told: its own, and that of others by the number of events.
            machines = [machine for period in periods for machine in period["machines"]]
            self.assertGreater(sum(machine["observer_ns"] for machine in machines), 0)
            self.assertIn("observing_ns", machines[-1]["estimated"]["machine"])
            rows = tasks(periods, load.pid)
            seen = sum(row.get(column, 0) for row in rows
                       for column in (*ON_CPU, "irq_ns", "softirq_ns")) / 1e9
            # How exact the engine is others test; here somebody else's time may be among it, where
            # the kernel left out a switch.
            self.assertAlmostEqual(seen, charged, delta=0.25 * charged + 0.02)
        self.assertFalse(own_folders(watched.child.pid))

    def test_one_that_is_killed_leaves_a_folder_at_most_and_the_next_one_removes_it(self):
        with Watched(by=WITHOUT_EBPF) as watched:
            killed = watched.child.pid
            watched.child.kill()
        end = time.monotonic() + LIMIT
        while f"top-{killed}" in subprocess.run([PROGRAM, "session", "list"], check=True,
                                                stdout=subprocess.PIPE, text=True).stdout:
            self.assertLess(time.monotonic(), end, "its recorder goes on")
            time.sleep(0.1)
        with Watched(by=WITHOUT_EBPF):
            self.assertFalse(own_folders(killed))


class Live(unittest.TestCase):
    def test_cpu_time_is_what_the_kernel_charges(self):
        with Watched() as watched:
            with subprocess.Popen([sys.executable, "-c", BURN], stdout=subprocess.PIPE) as load:
                charged = float(load.stdout.read())
                load.wait()
            periods = watched.wait_past(time.time_ns())
            rows = tasks(periods, load.pid)
            seen = on_cpu(rows) / 1e9
            # The kernel also charges interrupts to whom they interrupt; the table does not.
            interrupts = sum(row.get("irq_ns", 0) + row.get("softirq_ns", 0) for row in rows) / 1e9
            # Where kernels leave out a switch without a word, which the table counts, up to a slice
            # of time is somebody else's.
            missed = sum(machine.get("missed_switches", 0) for period in periods
                         for machine in period["machines"])
            self.assertAlmostEqual(seen + interrupts, charged,
                                   delta=0.01 * charged + 0.005 + 0.006 * missed)
            self.assertEqual([row["exit_code"] for row in rows if row.get("ended_here")], [0])

    def test_what_lives_for_a_moment_is_there_with_how_it_ended(self):
        with Watched() as watched:
            ended = {}
            for code in (0, 3, 77):
                child = subprocess.Popen(["/bin/sh", "-c", f"exit {code}"])
                child.wait()
                ended[child.pid] = code
            killed = subprocess.Popen(["sleep", "1000"])
            killed.kill()
            killed.wait()
            periods = watched.wait_past(time.time_ns())
            for pid, code in ended.items():
                ends = [row for row in tasks(periods, pid) if row.get("ended_here")]
                self.assertEqual([row.get("exit_code") for row in ends], [code])
                self.assertEqual({row.get("parent") for row in ends}, {os.getpid()})
                self.assertGreater(on_cpu(tasks(periods, pid)), 0)
            ends = [row for row in tasks(periods, killed.pid) if row.get("ended_here")]
            self.assertEqual([row.get("exit_signal") for row in ends], [9])

    def test_on_a_terminal_time_can_stand_still_while_the_machine_goes_on(self):
        with Terminal(width=120) as terminal:
            terminal.start("-d", "200ms", wanted="LIVE")
            terminal.type("p")
            terminal.wait("PAUSED -2")
            shown = terminal.screen().splitlines()[0].split("PAUSED")[0]
            terminal.wait("PAUSED -4")
            self.assertEqual(terminal.screen().splitlines()[0].split("PAUSED")[0], shown)
            # Meanwhile something lived that is nowhere else.
            terminal.type(":name = strata-moment\n")
            terminal.wait("waiting until name = strata-moment")
            with tempfile.TemporaryDirectory() as folder:
                moment = os.path.join(folder, "strata-moment")
                os.symlink("/bin/true", moment)
                subprocess.run([moment], check=True)
            screen = terminal.wait("name = strata-moment: now")
            self.assertIn("PAUSED", screen)
            terminal.type("\\strata-moment\n")
            self.assertIn("exit 0", terminal.wait("1 of"))
            terminal.type(" ")
            terminal.wait("LIVE")
            terminal.type("q")
            terminal.wait("status=0")

    def test_the_counters_that_were_chosen_are_told_and_the_menu_chooses_others(self):
        load = [sys.executable, "-S", "-c", "import mmap\nwhile True: mmap.mmap(-1, 8192)[0] = 1"]
        with subprocess.Popen(load) as faulting, Terminal(width=120) as terminal:
            terminal.start("-d", "200ms", "--screens", "perf", "--counters",
                           "page-faults,node-prefetches", "-p", faulting.pid, wanted="LIVE")
            terminal.wait("'node-prefetches' ")  # is not there, or has no column
            screen = terminal.wait("PGFLT/s")
            self.assertNotIn("CSW/s", screen)
            terminal.type("\\pagefaults > 10\n")
            terminal.wait("1 of 1")
            # From the end of the menu upwards: switches between cgroups, the first is not asked for.
            terminal.type("C")
            terminal.keys(*["Down"] * 80, "Enter", "Escape")
            screen = terminal.wait("CGSW/s")
            self.assertIn("PGFLT/s", screen)
            faulting.kill()
            terminal.type("q")
            terminal.wait("status=0")

    @unittest.skipIf(shutil.which("perf") is None, "there is no perf")
    def test_a_refresh_is_a_handful_of_system_calls(self):
        with Terminal(width=87, height=57) as terminal:
            terminal.start("-d", "500ms", wanted="LIVE")
            pid = terminal.pid()
            time.sleep(1)
            done = subprocess.run(["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "-p",
                                   str(pid), "--", "sleep", "4"], capture_output=True, text=True,
                                  timeout=LIMIT, check=True)
            calls = int(done.stderr.split(",", 1)[0])
            self.assertGreater(calls, 8, done.stderr)  # it did refresh
            self.assertLessEqual(calls / 8, 24, done.stderr)
            terminal.type("q")
            terminal.wait("status=0")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: only root is sure to be allowed to use eBPF")
        sys.exit(77)
    unittest.main()
