#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of recording that need a kernel, run with Debian 12's own, which has kprobes too."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
ROOT = TESTS.parent
BUILT = pathlib.Path(os.environ.get("STRATA_PROGRAM", ROOT / "build/release/strata")).parent / "tests"
PROGRAMS = ("kernel_kernel_test", "record_kernel_test")
SCRIPTS = ("record_kernel_test.py", "killed_kernel_test.py", "flight_kernel_test.py")

# Debian's Python, wherever another may be installed.
PYTHON = pathlib.Path("/usr/bin/python3").resolve()

# What is timed says nothing here.
INSIDE = f"""set -e
export STRATA_PROGRAM=/usr/bin/strata STRATA_PACE=10 STRATA_KILLS=3 GTEST_BRIEF=1
for test in {" ".join(PROGRAMS)}; do
  echo "== $test"
  $test --gtest_filter=-*InTime
done
cd tests/record
for test in {" ".join(SCRIPTS)}; do
  echo "== $test"
  python3 $test
done
"""

if not PYTHON.exists():
    print("skipped: no Debian's Python to put into the machine")
    sys.exit(77)
library = f"/usr/lib/{PYTHON.name}"
command = [HERE / "run", "--plain", "--kernel", "6.1", "--timeout", "600",
           "--put", f"{PYTHON}:/usr/bin/python3", "--put", f"{library}:{library}",
           "--put", f"{TESTS}/record:tests/record"]
for program in (*(BUILT / name for name in PROGRAMS), "/usr/bin/trace-cmd"):
    command += ["--put", program]
sys.exit(subprocess.run([*command, "--", INSIDE], check=False).returncode)
