# SPDX-License-Identifier: Apache-2.0
"""A KVM host of tests/vm/run that carries out a script."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def run_script(folder, script, *options, timeout):
    """What the script leaves in `out`. The emulator, rarely, hangs: then once more."""
    (folder / "host.sh").write_text(script)
    for _ in range(2):
        done = subprocess.run(
            [HERE / "run", "--put", folder / "host.sh", *options, "--get", f"out:{folder}/out",
             "--timeout", str(timeout), "--", "sh", "host.sh"],
            stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, end="", flush=True)
        if done.returncode not in (124, 125):
            break
    if done.returncode == 77:
        sys.exit(77)
    assert done.returncode == 0, done.returncode
    return folder / "out"
