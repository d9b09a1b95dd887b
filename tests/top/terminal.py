# SPDX-License-Identifier: Apache-2.0
"""A terminal that `strata top` runs in, and its keys: tmux, with a server of its own."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("STRATA_PROGRAM", str(ROOT / "build/release/strata"))
LIMIT = 60  # seconds that something may take on a machine with much to do


class Terminal:
    """A shell in a terminal; strata top is started in it."""

    def __init__(self, width=80, height=24):
        self.folder = tempfile.mkdtemp(prefix="strata-top-")
        self.socket = os.path.join(self.folder, "tmux")
        environment = dict(os.environ, LC_ALL="C.UTF-8", PS1="$ ", TZ="UTC")
        for name in ("NO_COLOR", "COLORTERM", "TMUX"):
            environment.pop(name, None)
        subprocess.run(
            ["tmux", "-S", self.socket, "-f", "/dev/null", "new-session", "-d",
             "-x", str(width), "-y", str(height), "env ENV= sh"],
            env=environment, check=True, timeout=LIMIT, cwd=self.folder)
        self.tmux("set-option", "-g", "escape-time", "0")

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        try:
            self.end_program()
        finally:
            subprocess.run(["tmux", "-S", self.socket, "kill-server"], timeout=LIMIT,
                           stderr=subprocess.DEVNULL, check=False)
            shutil.rmtree(self.folder, ignore_errors=True)

    def end_program(self):
        """Before its terminal goes: with that comes SIGCONT, and where LeakSanitizer is about to stop
        the program at its end, by ptrace, this takes back the SIGSTOP that it then waits for."""
        pid = self.pid()
        if pid == self.shell():
            return
        os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + LIMIT
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
            time.sleep(0.02)
        if os.path.exists(f"/proc/{pid}"):
            os.kill(pid, signal.SIGKILL)
            raise AssertionError("it does not end")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *map(str, words)], check=True,
                              timeout=LIMIT, stdout=subprocess.PIPE).stdout.decode()

    def start(self, *arguments, environment="", wanted="F1Help"):
        words = " ".join(f"'{word}'" for word in map(str, arguments))
        self.type(f"clear; {environment} {PROGRAM} top {words}; echo status=$?")
        self.keys("Enter")
        if wanted:
            self.wait(wanted)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def screen(self, colours=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def wait(self, text):
        return self.wait_until(lambda screen: text in screen, repr(text))

    def wait_until(self, is_so, what):
        """The screen on which it is so."""
        end = time.monotonic() + LIMIT
        while True:
            screen = self.screen()
            if is_so(screen):
                return screen
            if time.monotonic() > end:
                raise AssertionError(f"{what} never came; on screen is\n{screen}")
            time.sleep(0.05)

    def flags(self):
        """Whether the other screen, the cursor and the mouse are on."""
        return self.tmux("display-message", "-p",
                         "#{alternate_on} #{cursor_flag} #{mouse_any_flag}").split()

    def shell(self):
        return int(self.tmux("display-message", "-p", "#{pane_pid}"))

    def pid(self):
        """Of the program in the foreground."""
        with open(f"/proc/{self.shell()}/stat", encoding="ascii") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[5])  # tpgid
