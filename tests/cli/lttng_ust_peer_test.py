#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program instrumented with LTTng-UST, traced for real: strata reads what babeltrace2 reads, when
the trace is done and while it is being written."""

import collections
import contextlib
import json
import os
import pathlib
import shutil
import socket
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


# Of a program that loads a library with event types of its own when it is told to.
FOLLOWED_PROVIDER = r"""
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER strata_NAME
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./NAME.h"
#if !defined(NAME_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define NAME_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(strata_NAME, number, LTTNG_UST_TP_ARGS(int, i),
  LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, i, i)))
#endif
#include <lttng/tracepoint-event.h>
"""

FOLLOWED_MAIN = r"""
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "early.h"
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  for (int i = 0; i < 100; ++i) lttng_ust_tracepoint(strata_early, number, i);
  getchar();
  void* library = dlopen("./late.so", RTLD_NOW);
  void (*trace)(int) = (void (*)(int))dlsym(library, "trace");
  for (int i = 0; i < 100; ++i) trace(i);
  getchar();
  return 0;
}
"""

FOLLOWED_LIBRARY = r"""
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "late.h"
void trace(int i) { lttng_ust_tracepoint(strata_late, number, i); }
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stdout.decode(errors='replace')}")
    return done.stdout


@contextlib.contextmanager
def session_daemon(folder):
    """The environment to use it with."""
    home = dict(os.environ, LTTNG_HOME=str(folder), HOME=str(folder))
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--quiet"], env=home,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            if subprocess.run(["lttng", "list"], env=home, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0:
                break
            time.sleep(0.1)
        yield home
    finally:
        daemon.terminate()
        daemon.wait()


def record(folder, home):
    """The trace's folder."""
    (folder / "provider.h").write_text(PROVIDER)
    (folder / "main.c").write_text(MAIN)
    run("gcc", "-I.", "main.c", "-llttng-ust", "-ldl", "-o", "instrumented", cwd=folder)
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


def check_recorded(trace):
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


def wait_for(what, condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(what)


@contextlib.contextmanager
def relay_daemon(folder, home):
    """Writes a live session's data below the folder as they come. Its ports: control, data."""
    ports = []
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            free = stack.enter_context(socket.socket())
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    urls = [f"tcp://127.0.0.1:{port}" for port in ports]
    daemon = subprocess.Popen(["lttng-relayd", "-o", folder, "-C", urls[0], "-D", urls[1], "-L",
                               urls[2]], env=home, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        yield urls[:2]
    finally:
        daemon.terminate()
        daemon.wait()


def create_live_session(urls, home):
    for attempt in range(50):  # until the relay daemon listens
        try:
            return run("lttng", "create", "followed", "--live=100000", "--ctrl-url", urls[0],
                       "--data-url", urls[1], env=home)
        except RuntimeError:
            if attempt == 49:
                raise
            time.sleep(0.1)


def check_follow(folder, home, urls, trace):
    """A folder is followed from before there is anything in it. Event types come when a program
    loads a library, another trace comes with another program."""
    for name in ("early", "late"):
        (folder / (name + ".h")).write_text(FOLLOWED_PROVIDER.replace("NAME", name))
    (folder / "followed.c").write_text(FOLLOWED_MAIN)
    (folder / "late.c").write_text(FOLLOWED_LIBRARY)
    run("gcc", "-I.", "followed.c", "-llttng-ust", "-ldl", "-o", "followed", cwd=folder)
    run("gcc", "-I.", "-shared", "-fPIC", "late.c", "-llttng-ust", "-ldl", "-o", "late.so",
        cwd=folder)
    create_live_session(urls, home)
    run("lttng", "enable-channel", "-u", "often", "--buffers-pid", env=home)
    run("lttng", "enable-event", "-u", "-c", "often", "strata_*", env=home)
    run("lttng", "start", env=home)

    def start():
        return subprocess.Popen(["./followed"], cwd=folder, stdin=subprocess.PIPE,
                                env=dict(home, LTTNG_UST_REGISTER_TIMEOUT="-1"))

    def poke(process):
        process.stdin.write(b"\n")
        process.stdin.flush()

    def counts():
        events = (json.loads(line) for line in (folder / "seen").read_bytes().splitlines(True)
                  if line.endswith(b"\n"))
        return collections.Counter((event["trace"], event["system"]) for event in events)

    processes = []
    with open(folder / "seen", "wb") as seen:
        dump = subprocess.Popen([program.PROGRAM, "dump", "--json", "--follow", trace], stdout=seen,
                                stderr=subprocess.PIPE)
        try:
            assert b"waiting" in dump.stderr.readline()
            processes.append(start())
            wait_for("the first events", lambda: sorted(counts().values()) == [100])
            poke(processes[0])
            wait_for("a library's events", lambda: sorted(counts().values()) == [100, 100])
            processes.append(start())
            wait_for("another program's", lambda: sorted(counts().values()) == [100] * 3)
            poke(processes[1])
            wait_for("all", lambda: sorted(counts().values()) == [100] * 4)
            assert dump.poll() is None
            for process in processes:
                poke(process)
                process.wait()
        finally:
            dump.terminate()
            dump.wait()
    run("lttng", "stop", env=home)
    run("lttng", "destroy", env=home)
    assert {system for _, system in counts()} == {"strata_early", "strata_late"}, counts()
    theirs = run("babeltrace2", trace).splitlines()
    assert len(theirs) == 400, len(theirs)


for tool in ("lttng", "lttng-sessiond", "lttng-relayd", "babeltrace2", "gcc"):
    if shutil.which(tool) is None:
        program.skip("no " + tool)
if subprocess.run(["lttng", "list"], stdout=subprocess.DEVNULL,
                  stderr=subprocess.DEVNULL).returncode == 0:
    program.skip("somebody's lttng-sessiond is running")
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    with session_daemon(folder) as home:
        try:
            trace = record(folder, home)
        except RuntimeError as why:
            program.skip("LTTng-UST cannot trace here: " + str(why).replace("\n", " "))
        check_recorded(trace)
        followed = folder / "live"
        followed.mkdir()
        with relay_daemon(followed, home) as urls:
            check_follow(folder, home, urls, followed)
