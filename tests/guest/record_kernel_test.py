#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata record --guest`: host and guest in one recording, on one timeline."""

import shutil
import subprocess

import guests
import machine
from guests import Agent, description, guest_of, parts_of

SWITCH = ["-e", "sched_switch"]


def key_of(event):
    """Of a switch: what the kernel says of it, which both recordings have."""
    fields = event["fields"]
    return (event["cpu"], fields["prev_pid"], fields["next_pid"], fields["prev_state"])


def counters(path):
    """Times of switches by the counter that stamped them, each by its place and what it was."""
    return [(event["ts_ns"], key_of(event)) for event in machine.events(path, *SWITCH)]


def one_timeline(folder, agent):
    """The same switch of both recordings has one time, to the bound that the map states."""
    out = folder / "both"
    machine.fine("record", "-o", out, *SWITCH, *agent.at(), *SWITCH, "--", "sleep", "1.5")
    told = description(out)
    assert [one["kind"] for one in told["machines"]] == ["host", "guest"], told["machines"]
    assert "ended" not in guest_of(out), guest_of(out)
    (to_host,) = [one for one in told["maps"] if one["from"] == "guest-web1.tsc"]
    assert to_host["to"] == "host.tsc" and len(to_host["pieces"]) >= 2, to_host
    # It is one counter: where a piece begins, and where it ends, both read the same.
    (tsc,) = [one for one in told["clocks"] if one["name"] == "host.tsc"]
    bounds = []
    for piece, after in zip(to_host["pieces"], to_host["pieces"][1:]):
        bounds.append(piece["bound_ns"])
        run = after["t0"] - piece["t0"]
        for t, u in ((piece["t0"], piece["u0"]),
                     (after["t0"], piece["u0"] + (run * piece["mult"] >> piece["shift"]))):
            assert abs(u - t) * 1e9 / tsc["frequency"] <= piece["bound_ns"], (piece, t, u)
    assert max(bounds) < 1_000_000, bounds
    parts = parts_of(out)
    assert set(parts) >= {"kernel", "state"}, parts
    assert all(part["finished"] for part in parts.values()), parts
    assert parts["kernel"]["file"] == "guest-web1.dat" and parts["state"]["file"] == "guest-web1-state"

    # Between a CPU's switches there are microseconds, so each finds its own.
    host, guest = {}, {}
    for event in machine.events(out, *SWITCH):
        side = guest if event["trace"].endswith("guest-web1.dat") else host
        side.setdefault(key_of(event), []).append(event["ts_ns"])
    apart = []
    for key, times in guest.items():
        if len(times) != len(host.get(key, [])):
            continue  # one of the two began later
        apart += [abs(here - there) for here, there in zip(host[key], times)]
    assert len(apart) > 50, len(apart)
    # Two instances of the tracer stamp a switch one after the other, and something may come between.
    apart.sort()
    worst = apart[len(apart) * 9 // 10]
    assert worst <= max(bounds) + 2000, (worst, bounds)
    print(f"{len(apart)} switches of both, nine tenths apart by at most {worst} ns, "
          f"stated {max(bounds)} ns")
    return out


def everything_opens_it(out):
    """What looks at recordings takes both machines, with no further options."""
    assert set(machine.info(out)["traces"][0]) and len(machine.info(out)["traces"]) == 4
    machine.fine("stats", out)
    machine.fine("state", out, "--at", "+1s")
    machine.fine("dump", out, "--limit", "10")
    # What is in the folder alone tells it: the guest's file by itself, too.
    assert machine.info(out / "guest-web1.dat")["events"] > 50


def other_programs_open_it(out):
    """Stock trace-cmd shows both files on the host's timeline, each event where we do."""
    if shutil.which("trace-cmd") is None:
        return
    report = subprocess.run(
        ["trace-cmd", "report", "-i", out / "host.dat", "-i", out / "guest-web1.dat"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    assert report.returncode == 0, report.stderr
    theirs = {"host": [], "guest": []}
    for line in report.stdout.splitlines():
        words = line.split()
        if "sched_switch:" not in words:
            continue
        side = "guest" if "guest-web1.dat" in words[0] else "host"
        place = words.index("sched_switch:") - 1
        theirs[side].append(words[place].rstrip(":"))
    assert len(theirs["host"]) > 50 and len(theirs["guest"]) > 50, report.stdout[:2000]
    for side, name in (("host", "host.dat"), ("guest", "guest-web1.dat")):
        ours = sorted(event["ts_ns"] for event in machine.events(out, *SWITCH)
                      if event["trace"].endswith(name))
        assert len(ours) == len(theirs[side]), (side, len(ours), len(theirs[side]))
        apart = [abs(round(float(text) * 1e9) - ns) for text, ns in
                 zip(sorted(theirs[side], key=float), ours)]
        assert max(apart) < 2000, (side, max(apart))


def as_the_host(folder, agent):
    """Without options of its own a guest records what the host does; with some, those."""
    out = folder / "as-host"
    machine.fine("record", "-o", out, *SWITCH, "-e", "sched_waking", "--no-state", "--duration",
                 "1s", *agent.at("web1"), *agent.at("db1"), "-e", "sched_process_exit",
                 "--no-state")
    names = {name: {event["event"].split(":")[-1] for event in machine.events(out / f"guest-{name}.dat")}
             for name in ("web1", "db1")}
    assert {"sched_switch", "sched_waking"} <= names["web1"], names
    assert names["db1"] <= {"sched_process_exit"}, names
    assert set(parts_of(out)) - {"cgroups"} == {"kernel"}, parts_of(out)


def wrong_usage(folder, agent):
    for words, text in ((["--guest", "web1"], "NAME=ADDRESS"),
                        (["--guest", "web1=nowhere://x", "--key", agent.key], "nowhere"),
                        ([*agent.at(), *agent.at()], "two guests"),
                        ([*agent.at(), "--duration", "1s"], "come before"),
                        (["--flight", *agent.at()], "--flight"),
                        (["--keep", "1h", *agent.at()], "--keep")):
        done = machine.run("record", "-o", folder / "none", *words)
        assert done.returncode == 2 and text in done.stderr, (words, done.stderr)
        assert not (folder / "none").exists()


def refused(folder, agent):
    """What the guest does not have is said, and the host records all the same."""
    out = folder / "refused"
    done = machine.run("record", "-o", out, *SWITCH, "--duration", "500ms", *agent.at(), "-e",
                       "no_such_event")
    assert done.returncode == 1 and "no_such_event" in done.stderr, done.stderr
    assert machine.info(out / "host.dat")["events"] > 0
    assert "no_such_event" in guest_of(out)["ended"], guest_of(out)


def no_agent(folder, agent):
    out = folder / "none-there"
    done = machine.run("record", "-o", out, *SWITCH, "--duration", "500ms", *agent.at(port=1))
    assert done.returncode == 1 and "web1" in done.stderr, done.stderr
    assert machine.info(out / "host.dat")["events"] > 0 and guest_of(out)["ended"]


def another_key(folder, agent):
    out, other = folder / "other-key", folder / "other"
    machine.fine("agent", "--init", "--key", other)
    words = agent.at()
    words[-1] = other
    done = machine.run("record", "-o", out, *SWITCH, "--duration", "500ms", *words)
    assert done.returncode == 1 and guest_of(out)["ended"], done.stderr
    assert machine.info(out / "host.dat")["events"] > 0


def quota(folder, agent):
    """What a guest may write is bounded, and the host's own part is not harmed."""
    out = folder / "quota"
    done = machine.run("record", "-o", out, *SWITCH, *agent.at(), "-e", "syscalls:*",
                       "--no-state", "--quota", "1M", "--", "sh", "-c",
                       "i=0; while [ $i -lt 300000 ]; do : < /dev/null; i=$((i+1)); done")
    assert done.returncode == 1 and "quota" in done.stderr, done.stderr
    assert "quota" in guest_of(out)["ended"], guest_of(out)
    written = sum(path.stat().st_size for path in out.rglob("guest-*") if path.is_file())
    assert written < 3 << 20, written
    assert machine.info(out / "host.dat")["events"] > 0


with guests.surroundings("strata-guests-") as (folder, tracefs):
    agent = Agent(folder)
    both = one_timeline(folder, agent)
    everything_opens_it(both)
    other_programs_open_it(both)
    for test in (as_the_host, wrong_usage, refused, no_agent, another_key, quota):
        test(folder, agent)
        assert machine.wait_for(lambda: guests.is_clean(tracefs), 20), tracefs.instances()
    agent.stop()
