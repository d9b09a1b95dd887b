#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A member of the group records; nobody else does; and what the group's program is permitted is of
no use for anything else. Users are numbers without accounts."""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time

import machine

GROUP, MEMBER, OTHER = 64900, 64901, 64902
SESSIONS = pathlib.Path("/run/strata")


class Place:
    """The program and its copy for the group, in mounts that nobody else sees."""

    def __init__(self, folder):
        self.folder = folder
        self.program = folder / "bin/strata"
        self.copy = folder / "lib/strata/strata-tracing"
        self.work = folder / "work"
        self.program.parent.mkdir()
        self.work.mkdir()
        shutil.copy(machine.STRATA, self.program)
        self.program.chmod(0o755)
        folder.chmod(0o755)
        os.chown(self.work, MEMBER, MEMBER)

    def root(self, *words):
        return subprocess.run([self.program, *map(str, words)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, cwd=self.folder)

    def started(self, *words, user=MEMBER, group=GROUP, program=None, **options):
        return subprocess.Popen(
            ["setpriv", f"--reuid={user}", f"--regid={user}", f"--groups={group}", "--inh-caps=-all",
             program or self.program, *map(str, words)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd=self.work, **options)

    def user(self, *words, **options):
        process = self.started(*words, **options)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def fine(self, *words, **options):
        done = self.user(*words, **options)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def denied(self, *words, says="Permission denied", **options):
        done = self.user(*words, **options)
        assert done.returncode != 0 and says in done.stderr, (words, done.returncode, done.stderr)
        return done.stderr


def own_run_and_log():
    """Sessions and the system log of this test alone; gives the log."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "strata-test", "/run"], check=True)
    devices = {name: os.stat("/dev/" + name) for name in ("null", "zero", "full", "urandom")}
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "strata-test", "/dev"], check=True)
    for name, found in devices.items():
        os.mknod("/dev/" + name, found.st_mode, found.st_rdev)
        os.chmod("/dev/" + name, 0o666)
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind("/dev/log")
    os.chmod("/dev/log", 0o666)
    log.settimeout(10)
    return log


def set_up(place):
    done = place.root("setup", "--group", GROUP, "--prefix", place.folder)
    if "capabilities" in done.stderr:
        machine.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert "read any process's memory" in done.stdout, done.stdout
    found = place.copy.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (0, GROUP, 0o750), found
    again = place.root("setup", "--group", GROUP, "--prefix", place.folder)
    assert again.returncode == 0, again.stderr
    other = place.root("setup", "--group", OTHER, "--prefix", place.folder)
    assert other.returncode == 1 and "--undo" in other.stderr, other.stderr


def refused(place):
    """Who is no member is told what is missing, and so is who has nothing to be a member of."""
    told = place.denied("record", "--duration", "1s", user=OTHER, group=OTHER,
                        says="may not be used by this user")
    assert f"member of the group '{GROUP}'" in told, told
    alone = place.folder / "strata"
    shutil.copy(place.program, alone)
    if not pathlib.Path("/usr/local/lib/strata/strata-tracing").exists():
        told = place.denied("record", "--duration", "1s", program=alone, says="strata setup --group")
    alone.unlink()
    told = place.denied("--no-new-privs", place.program, "record", "--duration", "1s",
                        program="setpriv", says="may not be used by this user")
    assert "no_new_privs" in told, told
    assert list(place.work.iterdir()) == []


def records(place, log):
    """Everything that root can record, a member can; files are the member's, the log tells."""
    out = place.work / "all"
    words = ("record", "-o", out, "--name", "all", "--profile", "system", "--uprobe",
             machine.libc() + ":getppid", "--counters", "page-faults", "--json", "--", "sh", "-c",
             "grep ^Cap /proc/self/status >caps; for i in 1 2 3; do /bin/true; done")
    told = json.loads(place.fine(*words))
    assert told["finished"] and told["lost"] == 0 and told["events"] > 0, told
    for path in [out, *out.rglob("*")]:
        found = path.stat()
        assert found.st_uid == MEMBER and stat.S_IMODE(found.st_mode) & 0o077 == 0, path
    message = log.recv(4096).decode()
    log.close()  # who logs must not wait for who does not read
    assert f"{MEMBER} records session all into {out}" in message, message
    # The command ran without any capability, also without those that could be raised.
    sets = dict(line.split(":\t") for line in (place.work / "caps").read_text().splitlines())
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(sets[name], 16) == 0, sets
    parts = {part["file"] for part in machine.parts(out)}
    assert parts == {"host.dat", "host-state", "host-counters"}, parts
    # The state of processes that are not the member's: what this one has open.
    state = machine.run("dump", "--json", out / "host-state", "-e", "lttng_statedump_file_descriptor",
                        "-F", f"pid == {os.getpid()}").stdout
    assert '"filename":"socket:' in state, "files of another user's process are missing"
    names = {event["event"] for event in machine.events(out / "host.dat")}
    assert "sched_switch" in names, names


def checks(place, tracefs):
    """What is allowed is told for who asks, and nothing stays of finding it out."""
    before = tracefs.instances(), tracefs.read("uprobe_events")
    for user, group, allowed in ((MEMBER, GROUP, True), (OTHER, OTHER, False)):
        done = place.user("setup", "--check", "--json", user=user, group=group)
        found = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        assert done.returncode == (0 if allowed else 1), done
        for name in ("rights", "tracer", "instances", "events"):
            assert found[name]["available"] == allowed, found[name]
            assert ("cost" in found[name]) != allowed, found[name]
    assert (tracefs.instances(), tracefs.read("uprobe_events")) == before
    assert "prev_comm" in place.fine("events", "-e", "sched:sched_switch")


def all_threads(pid):
    return [dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines()
                 if line.startswith(("Cap", "Name")))
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]


def recording(place, name, tracefs, *more):
    recorder = place.started("record", "-o", place.work / name, "--name", name, "-e",
                             "sched:sched_switch", *more)
    instance = tracefs.path / f"instances/strata-{name}@{MEMBER}/tracing_on"
    on = machine.wait_for(lambda: instance.exists() and instance.read_text() == "1\n")
    assert on or recorder.kill(), recorder.communicate()
    return recorder


def at_rest(place, tracefs):
    """While it records nothing is in effect, and its user cannot get at what it holds."""
    recorder = recording(place, "rest", tracefs)
    try:
        assert machine.wait_for(lambda: all(int(thread["CapEff"], 16) == 0
                                            for thread in all_threads(recorder.pid)))
        assert any(int(thread["CapPrm"], 16) != 0 for thread in all_threads(recorder.pid))
        look = place.user("-c", f"ls /proc/{recorder.pid}/fd; cat </proc/{recorder.pid}/mem",
                          program="/bin/sh")
        assert look.stdout == "" and look.stderr.count("ermission denied") == 2, look
        listed = json.loads(place.fine("session", "list", "--json"))
        assert [entry["name"] for entry in listed] == ["rest"], listed
        assert json.loads(place.fine("session", "list", "--json", user=OTHER)) == []
        listed = json.loads(place.root("session", "list", "--json").stdout)
        assert [entry["name"] for entry in listed] == [f"rest@{MEMBER}"], listed
        place.denied("session", "stop", "rest", user=OTHER, says="no session named")
        place.fine("session", "stop", "rest")
        assert recorder.wait(timeout=60) == 0
    finally:
        recorder.kill()
        recorder.communicate()


def without_descriptors(place, tracefs):
    """A file of the tracer never becomes what complaints are written to."""
    recorder = place.started(
        "-c", f"exec {place.program} record -o bare --name bare -e sched_switch <&- >&- 2>&-",
        program="/bin/sh")
    try:
        instance = f"strata-bare@{MEMBER}"
        assert machine.wait_for(lambda: instance in tracefs.instances())
        standard = [os.readlink(f"/proc/{recorder.pid}/fd/{number}") for number in range(3)]
        assert all(path.startswith("/dev/") for path in standard), standard
        place.fine("session", "stop", "bare")
    finally:
        recorder.kill()
        recorder.communicate()


def killed(place, tracefs):
    """One second after kill -9 nothing is left: the watcher has what it takes to clean up."""
    recorder = recording(place, "killed", tracefs, "--uprobe", machine.libc() + ":getpid")
    recorder.kill()
    recorder.communicate()
    time.sleep(1)
    assert not [name for name in tracefs.instances() if f"@{MEMBER}" in name], tracefs.instances()
    assert f"strata_killed_40{MEMBER}" not in tracefs.read("uprobe_events")
    assert not machine.watchers(place.work / "killed")
    # Without the watcher it is the next recording that does.
    recorder = recording(place, "orphan", tracefs)
    for watcher in machine.watchers(place.work / "orphan"):
        os.kill(watcher, signal.SIGKILL)
    recorder.kill()
    recorder.communicate()
    assert f"strata-orphan@{MEMBER}" in tracefs.instances()
    place.fine("record", "--duration", "100ms", "-e", "sched_switch", "-o", place.work / "next")
    assert f"strata-orphan@{MEMBER}" not in tracefs.instances()
    assert list((SESSIONS / str(MEMBER)).iterdir()) == []


def files(place):
    """What a user names is opened as that user."""
    closed = place.folder / "closed"
    closed.mkdir(mode=0o700)
    secret = closed / "secret"
    secret.write_text("[secret]\nevents = the-secret\n")
    public = place.folder / "public"
    public.mkdir(mode=0o755)
    (place.work / "link").symlink_to(public)
    (place.work / "secret").symlink_to(secret)
    for out in (closed / "x", public / "x", place.work / "link", place.work / "link/x"):
        place.denied("record", "--duration", "100ms", "-o", out)
    for option in ("--profiles", "--config"):
        for path in (secret, place.work / "secret"):
            told = place.denied("record", "--duration", "100ms", option, path)
            assert "the-secret" not in told, told
    hidden = closed / "program"
    shutil.copy("/bin/true", hidden)
    place.denied("record", "--duration", "100ms", "--uprobe", f"{hidden}:main")
    assert sorted(path.name for path in closed.iterdir()) == ["program", "secret"]
    assert list(public.iterdir()) == []
    # A line of its own would be a command to the kernel.
    place.denied("record", "--duration", "100ms", "--uprobe",
                 machine.libc() + ":getpid\n-:somebody/else", says="strata:")
    # The loader takes nothing from the environment.
    for program, heeded in ((place.program, True), (place.copy, False)):
        told = place.fine("-c", f"LD_SHOW_AUXV=1 exec {program} --version", program="/bin/sh")
        assert ("AT_SECURE" in told) == heeded, told


def note(name, process, user):
    return json.dumps({"name": name, "process": process, "user": user, "user_name": "", "folder": "",
                       "begin_ns": 1})


def forged(place, tracefs):
    """A note about somebody else's session, or process, harms neither."""
    recorder = subprocess.Popen([place.program, "record", "-o", place.folder / "roots", "--name",
                                 "roots", "-e", "sched:sched_switch"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
    victim = subprocess.Popen(["sleep", "600"])
    try:
        assert machine.wait_for(lambda: "strata-roots" in tracefs.instances())
        path = SESSIONS / str(MEMBER) / "roots.session"
        path.write_text(note("roots", recorder.pid, 0))
        os.chown(path, MEMBER, MEMBER)
        place.fine("record", "--duration", "100ms", "-o", place.work / "forged", "-e", "sched_switch")
        assert "strata-roots" in tracefs.instances()
        path.write_text(note("roots", victim.pid, 0))
        os.chown(path, MEMBER, MEMBER)
        with open(path) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            done = place.root("session", "stop", f"roots@{MEMBER}")
            assert done.returncode == 1 and "not of its user" in done.stderr, done
        done = place.root("record", "--duration", "100ms", "-o", place.folder / "second", "-e",
                          "sched_switch")
        assert done.returncode == 0, done.stderr
        assert "strata-roots" in tracefs.instances() and not path.exists()
        assert victim.poll() is None and recorder.poll() is None
        place.denied("session", "stop", "roots", says="no session named")
    finally:
        victim.kill()
        victim.wait()
        machine.stop(recorder)


def own_group(place):
    """A group that is missing is made, and is gone when it is undone; one that was there stays."""
    if shutil.which("groupadd") is None:
        return
    shutil.copytree("/etc", place.folder / "etc", symlinks=True, ignore_dangling_symlinks=True)
    subprocess.run(["mount", "--bind", place.folder / "etc", "/etc"], check=True)
    groups = pathlib.Path("/etc/group")
    for made in (True, False):
        if not made:
            subprocess.run(["groupadd", "strata-test"], check=True)
        done = place.root("setup", "--group", "strata-test", "--prefix", place.folder)
        assert done.returncode == 0 and ("made the group" in done.stdout) == made, done
        assert "strata-test:" in groups.read_text()
        undone(place)
        assert ("strata-test:" in groups.read_text()) != made
    done = place.root("setup", "--group", "-x", "--prefix", place.folder)
    assert done.returncode != 0 and not place.copy.exists(), done
    subprocess.run(["umount", "/etc"], check=True)


def undone(place):
    done = place.root("setup", "--undo", "--prefix", place.folder)
    assert done.returncode == 0 and str(place.copy) in done.stdout, done
    assert not place.copy.parent.exists()
    done = place.root("setup", "--undo", "--prefix", place.folder)
    assert done.returncode == 0 and "nothing to undo" in done.stdout, done


if os.geteuid() != 0 or shutil.which("setpriv") is None:
    machine.skip("needs root and setpriv")
tracefs = machine.Tracefs()
try:
    with tempfile.TemporaryDirectory(prefix="strata-group-") as name:
        log = own_run_and_log()
        place = Place(pathlib.Path(name))
        set_up(place)
        refused(place)
        records(place, log)
        checks(place, tracefs)
        at_rest(place, tracefs)
        without_descriptors(place, tracefs)
        killed(place, tracefs)
        files(place)
        forged(place, tracefs)
        undone(place)
        own_group(place)
finally:
    tracefs.close()
