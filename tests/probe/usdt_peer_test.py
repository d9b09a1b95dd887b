#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Events that are USDT probes too: readelf and perf see them, bpftrace attaches to them."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = pathlib.Path(os.environ["STRATA_PROGRAM"]).parent / "src/probe/libstrata-probe.a"


def readelf_sees(program):
    notes = subprocess.run(["readelf", "--notes", "--wide", program], capture_output=True,
                           text=True, check=True).stdout
    found = re.search(r"Provider: switched\s+Name: fires\s+Location: (\S+), Base: \S+, "
                      r"Semaphore: (\S+)\s+Arguments: (.*)", notes)
    if not found or int(found[1], 16) == 0 or int(found[2], 16) == 0:
        sys.exit(f"readelf: {notes}")
    if not re.fullmatch(r"4@\S+ 8@\S+ -8@\S+ ?", found[3]):
        sys.exit(f"readelf: its arguments are '{found[3]}'")
    print("readelf: fine")


def perf_sees(program, folder):
    perf = ["perf", "--buildid-dir", f"{folder}/buildids"]
    subprocess.run([*perf, "buildid-cache", "--add", program], capture_output=True)
    listed = subprocess.run([*perf, "list", "sdt"], capture_output=True, text=True)
    if "buildid" in listed.stderr or listed.returncode != 0:
        print(f"perf: skipped: {listed.stderr}")
    elif "sdt_switched:fires" not in listed.stdout:
        sys.exit(f"perf: {listed.stdout}")
    else:
        print("perf: fine")


def bpftrace_attaches(program):
    script = (f'usdt:{program}:switched:fires '
              '{ printf("told %d %s %d\\n", arg0, str(arg1), arg2); exit(); }')
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as traced, \
            subprocess.Popen(["bpftrace", "-e", script], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True) as bpftrace:
        deadline = time.monotonic() + 120
        while bpftrace.poll() is None and time.monotonic() < deadline:
            traced.stdin.write(b"f")
            traced.stdin.flush()
            time.sleep(0.05)
        bpftrace.kill()
        said = bpftrace.stdout.read()
        traced.stdin.close()
    if "told 1 told -7" in said:
        print("bpftrace: fine")
    elif "Attaching" in said:
        sys.exit(f"bpftrace: {said}")
    else:
        print(f"bpftrace: skipped, it does not work here: {said}")


def main():
    if not LIBRARY.exists() or not shutil.which("gcc") or not shutil.which("readelf"):
        print("libstrata-probe is not built, or there is no gcc or readelf")
        sys.exit(77)
    os.environ["STRATA_PROBE_SOCKET"] = "/nowhere"  # nobody's collector is troubled
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/switched"
        subprocess.run(["gcc", "-O2", "-DSTRATA_PROBE_USDT", f"-I{ROOT / 'include'}",
                        str(ROOT / "tests/probe/switched.c"), str(LIBRARY), "-o", program],
                       check=True)
        readelf_sees(program)
        if shutil.which("perf"):
            perf_sees(program, folder)
        if shutil.which("bpftrace") and os.geteuid() == 0:
            bpftrace_attaches(program)


main()
