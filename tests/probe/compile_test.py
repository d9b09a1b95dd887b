#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the header accepts and what it refuses, with the words it refuses with.

Each case is a program of a few lines; a compiler that is not there is left out.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CXX = [["g++", "-std=c++20"], ["clang++", "-std=c++20"]]
C = [["gcc", "-x", "c", "-std=c11"], ["clang", "-x", "c", "-std=c11"]]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Wshadow", "-Werror"]

DECLARED = """
#include <strata/probe.h>
STRATA_EVENT(app, sent, STRATA_INFO, (u32, size), (string, peer), (f64, seconds));
STRATA_EVENT(app, idle, STRATA_DEBUG);
STRATA_EVENT(app, read, STRATA_INFO, (seq_u32, words), (bytes, raw), (enum, mode, "off=0,on=1"));
STRATA_SPAN_EVENT(app, work, STRATA_INFO, (s64, result));
STRATA_COUNTER(app, depth, STRATA_INFO, u32);
"""

# (what it shows, compilers, statements, the error in any of the compilers' words; None: compiles)
CASES = [
    ("C and C++ take the same", CXX + C, """
        STRATA_TRACE(app, sent, 5, "peer", 0.5);
        STRATA_TRACE_PATCHED(app, idle);
        if (STRATA_ENABLED(app, idle)) STRATA_TRACE(app, idle); else STRATA_TRACE(app, idle);
        uint64_t begin = STRATA_SPAN_BEGIN(app, work);
        STRATA_SPAN_END(app, work, begin, -1);
        STRATA_COUNT(app, depth, 3);""", None),
    ("sequences in C", C, """
        uint32_t words[3] = {1, 2, 3};
        STRATA_TRACE(app, read, ((strata_seq_u32){words, 3}), ((strata_bytes){words, 4}), 1);""",
     None),
    ("too few arguments", CXX, 'STRATA_TRACE(app, sent, 5, "peer");',
     r"too few arguments to function|no matching function for call to 'strata_fire_app__sent'"),
    ("too few arguments", C, 'STRATA_TRACE(app, sent, 5, "peer");', "too few arguments to function"),
    ("too many arguments", CXX + C, "STRATA_TRACE(app, idle, 5);",
     r"too many arguments to function|no matching function for call to 'strata_fire_app__idle'"),
    ("a string for an integer", CXX, 'STRATA_TRACE(app, sent, "5", "peer", 0.5);',
     "strata: this field of the probe is an integer, its argument is not"),
    ("a string for an integer", C, 'STRATA_TRACE(app, sent, "5", "peer", 0.5);',
     "makes integer from pointer|pointer to integer conversion"),
    ("a floating-point number for an integer", CXX, 'STRATA_TRACE(app, sent, 5.0, "peer", 0.5);',
     "strata: this field of the probe is an integer, its argument is not"),
    ("64 bits for 32", CXX, 'STRATA_TRACE(app, sent, 5ull, "peer", 0.5);',
     "strata: the argument is wider than this field of the probe"),
    ("an integer for a string", CXX, "STRATA_TRACE(app, sent, 5, 6, 0.5);",
     "strata: this field of the probe is a string, its argument is not"),
    ("an integer for a string", C, "STRATA_TRACE(app, sent, 5, 6, 0.5);",
     "makes pointer from integer|integer to pointer conversion"),
    ("a string for a number", CXX, 'STRATA_TRACE(app, sent, 5, "peer", "0.5");',
     "strata: this field of the probe is a number, its argument is not"),
    ("elements of another type", CXX, """
        struct { const long* data() const { return nullptr; } size_t size() const { return 0; } } x;
        STRATA_TRACE(app, read, x, strata_bytes(nullptr, 0), 1);""",
     "strata: this field of the probe is a sequence; its argument has no data"),
    ("an event that is not declared", CXX + C, "STRATA_TRACE(app, sennt, 5);",
     "strata_flag_app__sennt"),
]
DECLARATIONS = [
    ("declared twice", CXX + C, "STRATA_EVENT(app, sent, STRATA_INFO, (u64, other));",
     "redefinition of .*strata_probe_app_sent"),
    ("an unknown type", CXX + C, "STRATA_EVENT(app, more, STRATA_INFO, (u33, x));",
     "STRATA_TYPE_u33"),
]


def compile_program(compiler, text):
    command = [*compiler, *WARNINGS, f"-I{ROOT / 'include'}", "-O1", "-c", "-o", "/dev/null", "-"]
    if compiler[0].endswith("++"):
        command.insert(1, "-xc++")
    return subprocess.run(command, input=text, capture_output=True, text=True)


def main():
    programs = [(name, compilers, f"{DECLARED}void f(void);\nvoid f(void) {{ {body} }}\n", error)
                for name, compilers, body, error in CASES]
    programs += [(name, compilers, DECLARED + body, error)
                 for name, compilers, body, error in DECLARATIONS]
    failed = done = 0
    for name, compilers, text, error in programs:
        for compiler in compilers:
            if not shutil.which(compiler[0]):
                continue
            done += 1
            result = compile_program(compiler, text)
            if error is None:
                fine = result.returncode == 0
            else:
                fine = result.returncode != 0 and re.search(error, result.stderr.replace("‘", "'")
                                                            .replace("’", "'"))
            if not fine:
                failed += 1
                print(f"{compiler[0]}: {name}: exit status {result.returncode}\n"
                      f"{result.stderr[:1500]}")
    if not done:
        print("no compiler here")
        return 77
    print(f"{done} programs, {failed} of them not as expected")
    return 1 if failed else 0


sys.exit(main())
