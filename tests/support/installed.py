# SPDX-License-Identifier: Apache-2.0
"""What the tests of installed parts share: the build that they install from, and running programs."""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["STRATA_PROGRAM"]).parent


def run(*command, **more):
    """What it prints to its standard output; the test ends where it fails."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {result.returncode}\n"
                 f"{result.stdout}{result.stderr}")
    return result.stdout


def install(component, prefix, *files):
    """Installs a part of the build, and skips the test where these files of it are not built."""
    if not all((BUILD / file).exists() for file in files):
        print(f"{component} is not built")
        sys.exit(77)
    if not shutil.which("pkg-config"):
        print("pkg-config is needed")
        sys.exit(77)
    run("cmake", "--install", BUILD, "--component", component, "--prefix", prefix)
