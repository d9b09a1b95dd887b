#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strata query's prompt on a terminal of its own: statements, history, Ctrl-C, the end."""

import os
import pathlib
import pty
import re
import select
import tempfile
import termios
import time
import unittest

from program import PROGRAM, SAMPLE

PATIENCE = 60  # seconds until something that should come counts as missing


class Terminal:
    """A program on a terminal: what it shows, and keys that are pressed."""

    def __init__(self, arguments, **environment):
        self.shown = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(environment, TERM="xterm", LC_ALL="C.UTF-8")
            os.execv(arguments[0], arguments)

    def press(self, keys):
        """When it listens to single keys: what is typed before that may be lost or meant otherwise."""
        end = time.monotonic() + PATIENCE
        while termios.tcgetattr(self.terminal)[3] & termios.ICANON:
            if time.monotonic() > end:
                raise AssertionError("it does not listen; shown: %r" % self.shown[-1000:])
            time.sleep(0.01)
        os.write(self.terminal, keys.encode())

    def interrupt(self):
        os.write(self.terminal, b"\x03")

    def read(self, seconds):
        """More of what it shows; False at the end."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # it has ended
            return False
        # Without what moves the cursor and colours.
        self.shown += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r", "", data.decode())
        return bool(data)

    def expect(self, text):
        """Waits for it, and forgets what came up to it."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown:
            if time.monotonic() > end or not self.read(1):
                raise AssertionError("%r did not come; shown: %r" % (text, self.shown[-1000:]))
        before, self.shown = self.shown.split(text, 1)
        return before

    def status(self):
        end = time.monotonic() + PATIENCE
        while self.read(1):
            if time.monotonic() > end:
                raise AssertionError("it did not end; shown: %r" % self.shown[-1000:])
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Prompt(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self):
        terminal = Terminal([PROGRAM, "query", str(SAMPLE)], XDG_STATE_HOME=self.folder.name)
        terminal.expect("query> ")
        return terminal

    def test_statements_over_several_lines_and_the_end(self):
        terminal = self.start()
        terminal.press("SELECT 6 * 7\n")
        terminal.expect("     > ")
        terminal.press("AS answer;\n")
        terminal.expect("answer\n    42\n")
        terminal.expect("query> ")
        terminal.press("SELECT nonsense;\n")
        terminal.expect("no such column: nonsense")
        terminal.expect("query> ")
        terminal.press(".mode line\n")
        terminal.expect("query> ")
        terminal.press("SELECT 1 AS one;\n")
        terminal.expect("one = 1\n")
        terminal.expect("query> ")
        terminal.press("\x04")
        self.assertEqual(terminal.status(), 0)

    def test_quit(self):
        terminal = self.start()
        terminal.press(".quit\n")
        self.assertEqual(terminal.status(), 0)

    def test_ctrl_c_ends_a_statement_and_leaves_the_prompt(self):
        terminal = self.start()
        shown = ""
        patience = 0.2
        while "interrupted" not in shown:
            # More rows than anybody waits for, of which none fulfils the condition, as only looking
            # at each of them shows. Ctrl-C also drops what was typed and not read yet: then it is
            # typed again, and waited for longer.
            terminal.press("SELECT 1 FROM event a, event b, event c, event d "
                           "WHERE a.cpu + b.cpu + c.cpu + d.cpu < 0;\n")
            end = time.monotonic() + patience
            while time.monotonic() < end:
                terminal.read(0.05)
            patience *= 2
            terminal.interrupt()
            shown = terminal.expect("query> ")
        terminal.press("SELECT 'still ' || 'there' AS it;\n")
        terminal.expect("still there\n")
        terminal.press(".quit\n")
        self.assertEqual(terminal.status(), 0)

    def test_ctrl_c_forgets_what_was_typed(self):
        terminal = self.start()
        terminal.press("SELECT 1,\n")
        terminal.expect("     > ")
        terminal.press("2, 3\x03")
        terminal.expect("query> ")
        terminal.press("SELECT 4 AS four;\n")
        terminal.expect("four\n   4\n")
        terminal.press(".quit\n")
        self.assertEqual(terminal.status(), 0)

    def test_the_history_is_kept(self):
        terminal = self.start()
        terminal.press("SELECT 'remember me' AS it;\n")
        terminal.expect("remember me\n")
        terminal.expect("query> ")
        terminal.press("\x04")
        self.assertEqual(terminal.status(), 0)
        kept = pathlib.Path(self.folder.name) / "strata" / "query_history"
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        terminal = self.start()
        terminal.press("\x1b[A\n")  # the key upwards
        terminal.expect("it\nremember me\n")
        terminal.press(".quit\n")
        self.assertEqual(terminal.status(), 0)


if __name__ == "__main__":
    unittest.main()
