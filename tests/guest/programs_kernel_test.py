#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs in a guest tell by their probes comes along, to the last event."""

import guests
import machine
import programs
from guests import Agent, guest_of, parts_of

COUNT, THREADS = 20000, 2

programs.own_socket()
with guests.surroundings("strata-guest-programs-") as (folder, tracefs):
    emitter = programs.Emitter(folder)
    agent = Agent(folder)
    out, file = folder / "both", emitter.file()
    machine.fine("record", "-o", out, "-e", "sched_switch", *agent.at(), "--app", emitter.program,
                 "-e", "emitter:*", "-e", "sched_switch", "--", emitter.program, file, "count", COUNT,
                 THREADS)
    assert "ended" not in guest_of(out), guest_of(out)
    part = parts_of(out)["application"]
    assert part["file"] == "guest-web1-app-emitter" and part["clock"] == "guest-web1.tsc", part
    told = programs.told(file)
    assert told == COUNT * THREADS, told
    events = [event for event in machine.events(out) if event["event"].startswith("emitter:")
              or event.get("system") == "emitter"]
    assert len(events) + part["lost"] == told, (len(events), part["lost"], told)
    # Among the events of both kernels, on the same timeline.
    times = [event["ts_ns"] for event in machine.events(out)]
    assert times == sorted(times)
    assert machine.wait_for(lambda: guests.is_clean(tracefs), 20)
    agent.stop()
