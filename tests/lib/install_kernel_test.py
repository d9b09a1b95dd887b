#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed is enough to build programs on libstrata: the example, by find_package and by
pkg-config, wherever it was put. It shows a recording as `strata stats` does."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installed import ROOT, install, run  # noqa: E402

STRATA = os.environ["STRATA_PROGRAM"]
SAMPLE = ROOT / "samples/first.dat"
RUNNING = ["running_ns", "user_ns", "syscall_ns", "trap_ns", "virt_ns", "kernel_ns", "exiting_ns"]


def expected():
    """The lines that the example shows of the sample, from what `strata stats` says of it."""
    for line in run(STRATA, "stats", SAMPLE, "--period", "1s", "--json").splitlines():
        table = json.loads(line)
        machine = table["machines"][0]
        seconds = (table["end_ns"] - table["begin_ns"]) / 1e9
        idle = sum(cpu.get("idle_ns", 0) for cpu in machine["cpus"]) / 1e9
        all_cpus = seconds * len(machine["cpus"])
        processes = {}
        for task in machine["tasks"]:
            if task["tid"] == 0:
                continue
            pid = task.get("pid", task["tid"])
            processes[pid] = processes.get(pid, 0) + sum(task.get(name, 0) for name in RUNNING)
        most = max(processes.values()) / 1e6
        yield f"{(all_cpus - idle) / all_cpus * 100:3.0f} %", f"{most:.1f} ms"


def check_lines(output):
    lines = output.splitlines()
    wanted = list(expected())
    if not wanted or len(lines) != len(wanted):
        sys.exit(f"{len(wanted)} lines should be there:\n{output}")
    for line, (busy, most) in zip(lines, wanted):
        if f"cpu {busy}" not in line or not line.endswith(f" {most}"):
            sys.exit(f"'{line}' should say {busy} and {most}")


def check_symbols(library):
    """What the library exports is what the version script says, and no more."""
    shown = set()
    for line in run("nm", "-D", "--defined-only", library).splitlines():
        name = line.split()[-1]
        if not name.startswith("STRATA_0."):
            shown.add(name.split("@")[0])
    wanted = set(re.findall(r"^ {4}(\w+);", (ROOT / "src/lib/exported.map").read_text(),
                            re.MULTILINE))
    if shown != wanted:
        sys.exit(f"exported or wanted, and not both: {sorted(shown ^ wanted)[:20]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # Installed, and then moved: nothing in it knows where it was.
        install("library", folder / "first", "src/lib/libstrata.so")
        prefix = folder / "moved"
        (folder / "first").rename(prefix)
        library = next(prefix.glob("lib*/**/libstrata.so")).parent
        check_symbols(library / "libstrata.so")

        run("cmake", "-S", ROOT / "examples/status_bar", "-B", folder / "example",
            f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", folder / "example")
        check_lines(run(folder / "example/status_bar", SAMPLE))
        run(folder / "example/proc_bar", "-n", "1", "-t")

        flags = run("pkg-config", "--cflags", "--libs", "strata",
                    env={**os.environ, "PKG_CONFIG_PATH": str(library / "pkgconfig")}).split()
        run("gcc", "-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror",
            ROOT / "examples/status_bar/status_bar.c", "-o", folder / "status_bar", *flags)
        where = {**os.environ, "LD_LIBRARY_PATH": str(library)}
        check_lines(run(folder / "status_bar", SAMPLE, env=where))

        nothing = subprocess.run([folder / "status_bar", "/nowhere"], env=where,
                                 capture_output=True, text=True)
        if nothing.returncode != 1 or "/nowhere" not in nothing.stderr:
            sys.exit(f"of nothing: exit status {nothing.returncode}, {nothing.stderr}")

        # Of the parts of the package this one alone is installed.
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(asks LANGUAGES C)\n"
            "find_package(strata REQUIRED COMPONENTS probe)\n")
        asked = subprocess.run(["cmake", "-S", folder, "-B", folder / "asks",
                                f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True)
        if asked.returncode == 0 or "the part 'probe' of strata is not" not in asked.stderr:
            sys.exit(f"the probe was not installed, and is found:\n{asked.stderr}")
    print("the example builds and shows the sample")
    return 0


sys.exit(main())
