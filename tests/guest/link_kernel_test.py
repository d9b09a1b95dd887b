#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A guest that goes away, and a host that does: the rest is not harmed, and nothing stays behind."""

import os
import pathlib
import signal
import subprocess

import guests
import machine
from guests import Agent, Link, guest_of, parts_of

SWITCH = ["-e", "sched_switch"]


def is_recording(out, name="web1"):
    """Both are: the heads are there, and pages come."""
    return all((out / file).exists() and
               sum(page.stat().st_size for page in out.glob(f"{file}.cpu*")) >= 8192
               for file in ("host.dat", f"guest-{name}.dat"))


def begin(out, *words):
    recorder = machine.start("-o", out, *SWITCH, "--sync", "200ms", *words)
    assert machine.wait_for(lambda: is_recording(out), 30), recorder.poll()
    return recorder


def end(recorder):
    recorder.send_signal(signal.SIGINT)
    _, errors = recorder.communicate(timeout=60)
    return recorder.returncode, errors


def opens(out, least=10):
    """All that came until then is there."""
    assert machine.info(out / "host.dat")["events"] > least
    assert machine.info(out / "guest-web1.dat")["events"] > least
    machine.fine("dump", out, "--limit", "5")
    assert all(part["finished"] for part in parts_of(out).values())
    assert not list(out.glob("*.cpu*"))


def recorder_processes():
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text() == "strata-recorder\n":
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def agent_killed(folder, tracefs):
    agent = Agent(folder)
    out = folder / "agent-killed"
    recorder = begin(out, *agent.at(), *SWITCH, "--sync", "200ms")
    agent.kill()
    assert machine.wait_for(lambda: "ended" in guest_of(out), 20), guest_of(out)
    # What it had in the guest's kernel goes though nobody asks for it.
    assert machine.wait_for(lambda: not guests.in_kernel(tracefs), 20)
    status, errors = end(recorder)
    assert status == 1 and "web1" in errors, (status, errors)
    assert guest_of(out)["ended"]
    opens(out)
    # The next agent removes the folder that was left.
    Agent(folder).stop()
    assert guests.is_clean(tracefs)


def recorder_killed(folder, tracefs):
    """The process in which the agent has it recorded: the agent itself goes on."""
    agent = Agent(folder)
    before = set(recorder_processes())
    out = folder / "recorder-killed"
    recorder = begin(out, *agent.at(), *SWITCH, "--sync", "200ms")
    (process,) = set(recorder_processes()) - before
    os.kill(process, signal.SIGKILL)
    assert machine.wait_for(lambda: "ended" in guest_of(out), 20)
    assert end(recorder)[0] == 1
    opens(out)
    assert machine.wait_for(lambda: guests.is_clean(tracefs), 20)
    machine.fine("record", "-o", folder / "again", *SWITCH, "--duration", "500ms", *agent.at())
    agent.stop()


def host_killed(folder, tracefs):
    """The agent ends what nobody wants any more; what was written opens, and is recovered."""
    agent = Agent(folder)
    out = folder / "host-killed"
    recorder = begin(out, *agent.at(), *SWITCH, "--sync", "200ms")
    recorder.kill()
    recorder.communicate()
    assert machine.wait_for(lambda: guests.is_clean(tracefs), 20), tracefs.instances()
    machine.fine("recover", out)
    opens(out)
    machine.fine("record", "-o", folder / "after", *SWITCH, "--duration", "500ms", *agent.at())
    agent.stop()


def stalled(folder, tracefs):
    """A link that stalls is no dead guest: its part goes on when it answers again."""
    agent = Agent(folder)
    link = Link(agent.port())
    out = folder / "stalled"
    recorder = begin(out, *agent.at(port=link.port), *SWITCH, "--sync", "200ms")
    size = lambda: sum(page.stat().st_size for page in out.glob("guest-web1.dat.cpu*"))
    link.stall()
    assert machine.wait_for(lambda: "no answer since" in guest_of(out).get("ended", ""), 30)
    before = size()
    link.go_on()
    assert machine.wait_for(lambda: size() > before and "ended" not in guest_of(out), 30)
    status, errors = end(recorder)
    assert status == 0 and "answers again" in errors, (status, errors)
    assert "ended" not in guest_of(out)
    opens(out)

    # One that never does again is not waited for.
    out = folder / "stalled-for-good"
    recorder = begin(out, *agent.at(port=link.port), *SWITCH, "--sync", "200ms")
    link.stall()
    status, errors = end(recorder)
    assert status == 1 and "no answer since" in guest_of(out)["ended"], (errors, guest_of(out))
    opens(out)
    link.cut()
    assert machine.wait_for(lambda: guests.is_clean(tracefs), 20), tracefs.instances()
    agent.stop()


def cut(folder, tracefs):
    agent = Agent(folder)
    link = Link(agent.port())
    out = folder / "cut"
    recorder = begin(out, *agent.at(port=link.port), *SWITCH, "--sync", "200ms")
    link.cut()
    assert machine.wait_for(lambda: "ended" in guest_of(out), 20)
    assert end(recorder)[0] == 1
    opens(out)
    assert machine.wait_for(lambda: guests.is_clean(tracefs), 20), tracefs.instances()
    agent.stop()


def agent_asked_to_end(folder, tracefs):
    """What was recorded until then comes along."""
    agent = Agent(folder)
    out = folder / "agent-ended"
    recorder = begin(out, *agent.at(), *SWITCH)
    agent.stop()
    assert machine.wait_for(lambda: "agent was ended" in guest_of(out).get("ended", ""), 20)
    assert end(recorder)[0] == 1
    opens(out)
    assert guests.is_clean(tracefs)


with guests.surroundings("strata-link-") as (folder, tracefs):
    for test in (agent_killed, recorder_killed, host_killed, cut, agent_asked_to_end, stalled):
        print(test.__name__)
        test(folder, tracefs)
