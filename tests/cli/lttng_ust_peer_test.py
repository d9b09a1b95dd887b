#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program instrumented with LTTng-UST, traced for real: strata reads what babeltrace2 reads."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import program

PROVIDER = r"""
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER strata_test
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./provider.h"
#if !defined(PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PROVIDER_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(strata_test, numbers,
  LTTNG_UST_TP_ARGS(int, i, double, d, const char*, s),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer(int, i, i)
    lttng_ust_field_integer_hex(unsigned long, x, (unsigned long)i * 0x10001)
    lttng_ust_field_float(double, d, d)
    lttng_ust_field_string(s, s)
    lttng_ust_field_integer(short, after, (short)-i)))
LTTNG_UST_TRACEPOINT_EVENT(strata_test, sequence,
  LTTNG_UST_TP_ARGS(const int*, values, unsigned, count),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_sequence(int, values, values, unsigned, count)
    lttng_ust_field_array(int, three, values, 3)))
#endif
#include <lttng/tracepoint-event.h>
"""

MAIN = r"""
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "provider.h"
int main(void) {
  int values[8] = {1, -2, 3, -4, 5, -6, 7, -8};
  for (int i = 0; i < 5000; ++i) {
    lttng_ust_tracepoint(strata_test, numbers, i, i / 8.0, i % 3 ? "some text" : "\"quoted\" it's what?\n");
    lttng_ust_tracepoint(strata_test, sequence, values, (unsigned)(i % 9));
  }
  return 0;
}
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stdout.decode(errors='replace')}")
    return done.stdout


def record(folder):
    """The trace's folder."""
    (folder / "provider.h").write_text(PROVIDER)
    (folder / "main.c").write_text(MAIN)
    run("gcc", "-I.", "main.c", "-llttng-ust", "-ldl", "-o", "instrumented", cwd=folder)
    home = dict(os.environ, LTTNG_HOME=str(folder), HOME=str(folder))
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--quiet"], env=home,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            if subprocess.run(["lttng", "list"], env=home, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0:
                break
            time.sleep(0.1)
        trace = folder / "trace"
        run("lttng", "create", "strata", "--output", trace, env=home)
        run("lttng", "enable-channel", "-u", "wide", "--subbuf-size", "1M", "--num-subbuf", "4",
            env=home)
        run("lttng", "enable-event", "-u", "-c", "wide", "strata_test:*", env=home)
        run("lttng", "add-context", "-u", "-t", "vtid", "-t", "procname", env=home)
        run("lttng", "start", env=home)
        run(folder / "instrumented", env=home)
        run("lttng", "stop", env=home)
        run("lttng", "destroy", env=home)
        return trace
    finally:
        daemon.terminate()
        daemon.wait()


for tool in ("lttng", "lttng-sessiond", "babeltrace2", "gcc"):
    if shutil.which(tool) is None:
        program.skip("no " + tool)
if subprocess.run(["lttng", "list"], stdout=subprocess.DEVNULL,
                  stderr=subprocess.DEVNULL).returncode == 0:
    program.skip("somebody's lttng-sessiond is running")
with tempfile.TemporaryDirectory() as name:
    try:
        trace = record(pathlib.Path(name))
    except RuntimeError as why:
        program.skip("LTTng-UST cannot trace here: " + str(why).replace("\n", " "))
    theirs = subprocess.run(["babeltrace2", trace], env=dict(os.environ, TZ="UTC"),
                            stdout=subprocess.PIPE, timeout=60, check=True).stdout
    ours = program.run("dump", "--style", "babeltrace", trace)
    assert ours.returncode == 0, ours.stderr
    a, b = (sorted(text.decode().split("strata_test:", 1)[1] for text in out.splitlines())
            for out in (theirs, ours.stdout))
    assert len(a) == 10000, len(a)
    assert a == b, next((x, y) for x, y in zip(a, b) if x != y)
    assert [line.split()[0] for line in theirs.splitlines()] == [
        line.split()[0] for line in ours.stdout.splitlines()], "times differ"
