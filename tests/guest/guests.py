# SPDX-License-Identifier: Apache-2.0
"""What the tests of guests share: an agent on this machine, as if it were a guest of itself.

Host and guest have one kernel and one counter then: the true offset of their clocks is 0, and the
same switch of a task is in both recordings.
"""

import atexit
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "record"))

import machine  # noqa: E402


class Agent:
    """strata agent, over TLS at a port that the kernel chose."""

    def __init__(self, folder, *words):
        self.key = folder / "key"
        if not self.key.exists():
            machine.fine("agent", "--init", "--key", self.key)
        self.log = folder / f"agent-{len(list(folder.glob('agent-*')))}"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [machine.STRATA, "agent", "--key", self.key, "--listen", "tcp://127.0.0.1:0",
                 *words], stderr=log)
        atexit.register(self.process.kill)
        assert machine.wait_for(lambda: self.port() is not None, 30), self.log.read_text()

    def port(self):
        found = re.search(r"listens at tcp://127\.0\.0\.1:(\d+)", self.log.read_text())
        return int(found.group(1)) if found else None

    def at(self, name="web1", port=None):
        """The words that record it."""
        return ["--guest", f"{name}=tcp://127.0.0.1:{port or self.port()}", "--key", self.key]

    def stop(self):
        self.process.terminate()
        assert self.process.wait(timeout=30) == 0, self.log.read_text()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Link:
    """A way to a port that can be stalled and cut."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.process = os.fork()
        if self.process == 0:
            try:
                self.serve(port)
            finally:
                os._exit(0)
        atexit.register(self.cut)

    def serve(self, port):
        import selectors
        selector = selectors.DefaultSelector()
        selector.register(self.listener, selectors.EVENT_READ)
        while True:
            for ready, _ in selector.select():
                if ready.fileobj is self.listener:
                    here, _ = self.listener.accept()
                    there = socket.create_connection(("127.0.0.1", port))
                    for one, other in ((here, there), (there, here)):
                        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        selector.register(one, selectors.EVENT_READ, other)
                    continue
                data = b""
                with contextlib.suppress(OSError):
                    data = ready.fileobj.recv(1 << 18)
                with contextlib.suppress(OSError):
                    ready.data.sendall(data)
                if not data:
                    selector.unregister(ready.fileobj)
                    with contextlib.suppress(OSError):
                        ready.data.shutdown(socket.SHUT_WR)

    def stall(self):
        os.kill(self.process, 19)  # SIGSTOP

    def go_on(self):
        os.kill(self.process, 18)  # SIGCONT

    def cut(self):
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process, 9)
            os.waitpid(self.process, 0)
            self.process = None
        self.listener.close()


def description(out):
    return json.loads((out / "recording.json").read_text())


def guest_of(out, name="web1"):
    (found,) = [one for one in description(out)["machines"] if one["name"] == name]
    assert found["kind"] == "guest"
    return found


def parts_of(out, name="web1"):
    return {part["what"]: part for part in description(out)["parts"] if part["machine"] == name}


def in_kernel(tracefs):
    """What recorders of agents have there."""
    return [name for name in tracefs.instances() if re.fullmatch(r"strata-agent-\d+-\d+", name)]


def is_clean(tracefs):
    """Nothing of a recorder of an agent is left in the kernel, and no folder of one."""
    folder = pathlib.Path("/run/strata-agent")
    return not in_kernel(tracefs) and not (folder.exists() and list(folder.iterdir()))


@contextlib.contextmanager
def surroundings(prefix):
    """A folder, and the kernel's tracer as others see it."""
    tracefs = machine.Tracefs()
    try:
        with tempfile.TemporaryDirectory(prefix=prefix) as name:
            yield pathlib.Path(name), tracefs
    finally:
        tracefs.close()
