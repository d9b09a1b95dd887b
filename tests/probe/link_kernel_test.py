#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A declaration in a header that several files include is one site, however the program is linked."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATA = os.environ["STRATA_PROGRAM"]
LIBRARY = pathlib.Path(STRATA).parent / "src/probe/libstrata-probe.a"

FILES = {
    "events.h": """
#include <strata/probe.h>
STRATA_EVENT(m, one, STRATA_INFO, (u32, x));
STRATA_EVENT(m, two, STRATA_INFO, (string, x));
""",
    "main.cc": """
#include "events.h"
void other();
int main() { STRATA_TRACE(m, one, 1); STRATA_TRACE_PATCHED(m, two, "x"); other(); }
""",
    "other.cc": """
#include "events.h"
inline void inlined() { STRATA_TRACE_PATCHED(m, two, "y"); }
void other() { STRATA_TRACE(m, one, 2); inlined(); }
""",
}
WAYS = [
    ["g++", "-O2"],
    ["g++", "-O0"],
    ["g++", "-O2", "-flto"],
    ["g++", "-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
    ["g++", "-O2", "-static"],
    ["g++", "-O2", "-no-pie", "-fno-pie"],
    ["g++", "-O2", "-fuse-ld=gold"],
    ["clang++", "-O2"],
    ["clang++", "-O2", "-fuse-ld=lld"],
]


def usable(way):
    linker = next((word.partition("=")[2] for word in way if word.startswith("-fuse-ld=")), "")
    return shutil.which(way[0]) and (not linker or shutil.which(f"ld.{linker}"))


def main():
    if not LIBRARY.exists():
        print("libstrata-probe is not built")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text)
        for way in filter(usable, WAYS):
            subprocess.run([*way, "-std=c++20", f"-I{ROOT / 'include'}", "main.cc", "other.cc",
                            str(LIBRARY), "-o", "program"], cwd=folder, check=True)
            # Nobody traces it, or it finds nobody who does: it runs all the same.
            for environment in ({}, {"STRATA_PROBE": "m", "STRATA_PROBE_SOCKET": "/nowhere"}):
                subprocess.run(["./program"], cwd=folder, check=True,
                               env={**os.environ, **environment})
            result = subprocess.run([STRATA, "probe", "list", "--json", f"{folder}/program"],
                                    capture_output=True, text=True, check=True)
            probes = [(probe["name"], probe["patched"])
                      for probe in json.loads(result.stdout)["files"][0]["probes"]]
            if sorted(probes) != [("one", 0), ("two", 2)]:
                sys.exit(f"{' '.join(way)}: found {probes}")
            print(f"{' '.join(way)}: fine")


main()
