# SPDX-License-Identifier: Apache-2.0
"""What a program that watches the machine costs: itself, and in the kernel, where others pay for it."""

import contextlib
import pathlib
import re
import subprocess

STATISTICS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")


@contextlib.contextmanager
def sleeping(number):
    """That many processes which do nothing."""
    children = [subprocess.Popen(["sleep", "86400"]) for _ in range(number)]
    try:
        yield
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.wait()


def of_threads(pid, file, pattern):
    """The sum of a number that the kernel prints for each thread."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        found = re.search(pattern, (task / file).read_text(), re.MULTILINE)
        total += int(found[1]) if found else 0
    return total


def cpu_and_wakeups(pid):
    """CPU time in nanoseconds, and how often it went to sleep, so far."""
    return (of_threads(pid, "schedstat", r"^(\d+)"),
            of_threads(pid, "status", r"^voluntary_ctxt_switches:\s*(\d+)"))


def in_kernel_ns(pid):
    """CPU time of the eBPF programs that a process has loaded, in whoever they ran."""
    total = 0
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found = re.search(r"^run_time_ns:\s*(\d+)", info.read_text(), re.MULTILINE)
            total += int(found[1]) if found else 0
    return total


@contextlib.contextmanager
def kernel_statistics():
    """The kernel measures how long eBPF programs take, which slows them."""
    was = STATISTICS.read_text()
    try:
        STATISTICS.write_text("1\n")
        yield
    finally:
        STATISTICS.write_text(was)
