#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The header of libstrata is C99 and C++, without a warning, beside that of the probe; what it
declares is what the library exports."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Werror"]
ALONE = "#include <strata/strata.h>\n"
BESIDE = "#include <strata/probe.h>\n#include <strata/strata.h>\n"
COMPILERS = [
    (["gcc", "-x", "c", "-std=c99"], ALONE),
    (["clang", "-x", "c", "-std=c99"], ALONE),
    (["gcc", "-x", "c", "-std=c11", "-Wstrict-prototypes"], BESIDE),
    (["clang", "-x", "c", "-std=c11", "-Wstrict-prototypes"], BESIDE),
    (["g++", "-x", "c++", "-std=c++11"], ALONE),
    (["clang++", "-x", "c++", "-std=c++11"], ALONE),
    (["g++", "-x", "c++", "-std=c++20"], BESIDE),
    (["clang++", "-x", "c++", "-std=c++20"], BESIDE),
]
# The example at the header's top, in a function, and something of all that it declares.
PROGRAM = """
#include <stdio.h>
#include <unistd.h>
int show(void);
int show(void) {{
{example}
  return strata_row_certainty(strata_table_row(NULL, 0, STRATA_ROW_CPU, 0), 0) == STRATA_UNKNOWN;
}}
"""


def main():
    header = (ROOT / "include/strata/strata.h").read_text()
    failed = done = 0
    example = "\n".join(line[2:] for line in header.splitlines() if line.startswith(" *     "))
    for compiler, includes in COMPILERS:
        if not shutil.which(compiler[0]):
            continue
        done += 1
        result = subprocess.run(
            [*compiler, *WARNINGS, f"-I{ROOT / 'include'}", "-O1", "-c", "-o", "/dev/null", "-"],
            input=includes + PROGRAM.format(example=example), capture_output=True, text=True)
        if result.returncode != 0 or result.stderr:
            failed += 1
            print(f"{' '.join(compiler)}: {result.stderr[:1500]}")
    if not done:
        print("no compiler here")
        return 77

    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    declared = set(re.findall(r"\b(strata_\w+)\(", code)) - {"strata_table_row"}  # inline
    exported = set(re.findall(r"^ {4}(\w+);", (ROOT / "src/lib/exported.map").read_text(),
                              re.MULTILINE))
    if len(declared) < 20 or declared != exported:
        failed += 1
        print(f"declared or exported, and not both: {sorted(declared ^ exported)}")
    print(f"{done} compilers, {len(declared)} functions, {failed} failures")
    return 1 if failed else 0


sys.exit(main())
