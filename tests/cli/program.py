# SPDX-License-Identifier: Apache-2.0
"""Running the program under test, for the tests beside this file."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("STRATA_PROGRAM", str(ROOT / "build/release/strata"))
CORPUS = pathlib.Path(os.environ.get("STRATA_CORPUS", ROOT.parent / "shared/corpus"))
SAMPLE = ROOT / "samples/first.dat"


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def run(*arguments, env=None, **options):
    """The finished program: returncode, stdout and stderr as bytes."""
    environment = dict(os.environ, TZ="UTC", **(env or {}))
    return subprocess.run([PROGRAM, *map(str, arguments)], env=environment,
                          stdout=options.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, timeout=250, **options)


def lines(*arguments):
    """The lines of standard output of a run that must go well."""
    done = run(*arguments)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    assert done.stderr == b"", (arguments, done.stderr)
    return done.stdout.decode(errors="surrogateescape").splitlines()


def normalised(text):
    """Lines with white space as trace-cmd and we may differ in it."""
    return [b" ".join(line.split()) for line in text.splitlines()]
