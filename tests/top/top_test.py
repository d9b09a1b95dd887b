#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata top` as somebody at a terminal meets it: keys in, screen out."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import saved
from terminal import PROGRAM, ROOT, Terminal

FOLDER = tempfile.TemporaryDirectory(prefix="strata-top-")
SAVED = os.path.join(FOLDER.name, "saved.jsonl")
SAMPLE = ROOT / "samples/first.dat"


def second(number):
    return f"2020-09-13 12:26:{40 + number}.000000000 – 12:26:{41 + number}.000000000"


def batch(*arguments, **options):
    done = subprocess.run([PROGRAM, "top", "-b", *map(str, arguments)], timeout=120,
                          env=dict(os.environ, TZ="UTC", COLUMNS=str(options.pop("width", 120))),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class OnATerminal(unittest.TestCase):
    def test_time_goes_back_and_forth_and_jumps(self):
        with Terminal() as terminal:
            terminal.start(SAVED, "--paused")
            screen = terminal.wait(second(0) + " PAUSED")
            self.assertIn("33 processes  33 threads", screen)
            terminal.keys("Right")
            screen = terminal.wait(second(1) + " PAUSED")
            self.assertIn("34 threads (+1)", screen)
            terminal.keys("Right", "Right")
            screen = terminal.wait(second(3))
            self.assertIn("idle", screen)
            terminal.keys("Left")
            terminal.wait(second(2) + " PAUSED -1")
            terminal.type(":@12:26:45.5\n")
            terminal.wait(second(5))
            terminal.keys("Home")
            terminal.wait(second(0))
            terminal.type(":cpu > 40\n")
            screen = terminal.wait(second(4))  # 400 ms of its own and 50 in the kernel
            self.assertIn("exit 7", screen)
            terminal.type(":proc = nobody\n")
            terminal.wait("not found after this period: proc = nobody")
            terminal.wait(second(4))
            terminal.type(":frob > 1\n")
            terminal.wait("there is no 'frob' to compare")
            terminal.keys("End")
            terminal.wait(second(7) + " END")
            terminal.type(":proc = cp\n")
            terminal.wait("not found")
            terminal.type(",")
            terminal.wait(second(4))
            # It goes on, eight times as fast, up to the end.
            terminal.type("+++")
            terminal.wait("speed x8")
            terminal.type(" ")
            terminal.wait(second(7) + " END")

    def test_every_screen_shows_what_is_known(self):
        with Terminal() as terminal:
            terminal.start(SAVED, "--paused")
            terminal.wait("mysqld")
            terminal.type(":@12:26:42\n")
            screen = terminal.wait(second(2))
            # 200 ms of its own, 50 in the kernel, which are an estimate.
            line = next(line for line in screen.splitlines() if "mysqld" in line)
            self.assertRegex(line, r"100 27 +disk +25\.0 +20\.0 +~5\.0 +0 +75\.0")
            self.assertIn("[2J", screen)
            self.assertIn("F10Quit", screen)
            terminal.keys("Enter")
            screen = terminal.wait("200,000,000 ns")
            self.assertIn("~50,000,000 ns", screen)
            self.assertIn("2020-09-13 12:26:40.000000000", screen)
            terminal.keys("F4")
            screen = terminal.wait("I/O 33 by io")
            self.assertIn("4.00M", screen)
            self.assertIn("500us", screen)
            terminal.keys("Enter")
            screen = terminal.wait("descriptors of mysqld 100")
            self.assertIn("/var/lib/mysql/ibdata1", screen)
            terminal.keys("F5")
            screen = terminal.wait("web-vm")
            self.assertIn("60.0", screen)
            terminal.keys("Enter")
            self.assertIn("4.32k", terminal.wait("HLT"))
            terminal.keys("F6")
            self.assertIn("5.00ms", terminal.wait("fsync"))
            terminal.keys("Enter")
            terminal.wait("4.19ms  8.39ms")
            terminal.keys("F7")
            screen = terminal.wait("ibdata1")
            self.assertRegex(screen, r"disk +4\.00M")
            self.assertRegex(screen, r"interface +150k +1\.00M")
            terminal.keys("F3")
            terminal.wait("IPC")
            terminal.keys("F1")
            terminal.wait("jump: time or condition")
            terminal.keys("Escape")
            terminal.keys("F8")
            terminal.wait("Tree 33")
            terminal.type(":proc = cp\n")
            screen = terminal.wait(second(4))
            lines = screen.splitlines()
            nginx = next(i for i, line in enumerate(lines) if line.endswith(" nginx"))
            self.assertTrue(lines[nginx + 1].endswith("└ cp"), screen)

    def test_filters_searches_and_sorts(self):
        with Terminal() as terminal:
            terminal.start(SAVED, "--paused")
            terminal.type("\\web\n")
            screen = terminal.wait("1 of 33")
            self.assertIn("nginx", screen)
            self.assertNotIn("mysqld", screen)
            terminal.keys("BSpace")
            terminal.wait("CPU 33 by cpu")
            terminal.type("/idle2")
            terminal.keys("Enter", "Enter")
            terminal.wait("CPU: idle2")
            terminal.keys("BSpace")
            terminal.wait("CPU 33 by cpu")
            terminal.type("s")
            terminal.wait("sort by")
            terminal.keys("PageUp", "Enter")
            terminal.wait("by pid")
            terminal.type("g")
            screen = terminal.wait("mysqld")
            self.assertLess(screen.index("mysqld"), screen.index("nginx"))
            terminal.type("gI")
            screen = terminal.wait("by pid inverted")
            self.assertNotIn("mysqld", screen)  # 33 lines, and it is the last one
            terminal.type("G")
            terminal.wait("mysqld")

    def test_what_is_saved_opens_again(self):
        with Terminal() as terminal:
            terminal.start(SAVED, "--paused")
            terminal.keys("Right", "Right")
            terminal.wait(second(2))
            terminal.type("wagain.jsonl\n")
            terminal.wait("3 periods saved in again.jsonl")
            shown = terminal.screen()
            terminal.type("q")
            terminal.wait("status=0")
            terminal.start("again.jsonl", "--paused")
            terminal.wait(second(0))
            terminal.keys("Right", "Right")
            again = terminal.wait(second(2))
            self.assertEqual(again.splitlines()[1:5], shown.splitlines()[1:5])
            self.assertEqual(again.splitlines()[6:], shown.splitlines()[6:])

    def test_sizes(self):
        with Terminal(width=200, height=50) as terminal:
            terminal.start(SAVED, "--paused")
            screen = terminal.wait("CONTAINER")
            self.assertIn("idle29", screen)
            line = next(line for line in screen.splitlines() if "nginx" in line)
            self.assertIn(" web ", line)
            for width, height in ((80, 24), (30, 8), (10, 3), (132, 43)):
                terminal.tmux("resize-window", "-x", width, "-y", height)
                terminal.wait_until(lambda screen, height=height, width=width:
                                    len(screen.splitlines()) <= height and
                                    ("F10Quit" in screen.splitlines()[-1] or width < 80) and
                                    screen.splitlines()[-1].startswith("F1Help"[:width]),
                                    f"a screen of {width}x{height}")

    def test_the_mouse(self):
        with Terminal() as terminal:
            terminal.start(SAVED, "--paused")
            screen = terminal.wait("F7Files").splitlines()
            column = screen[-1].index("Files") + 1
            terminal.type(f"\033[<0;{column};{len(screen)}M\033[<0;{column};{len(screen)}m")
            terminal.wait("Files 3 by io")

    def test_the_terminal_is_as_before_however_it_ends(self):
        with Terminal() as terminal:
            terminal.type("stty -a | grep -o '[-]*icanon\\|[-]*isig\\|[-]*echo ' | tr '\\n' ' '\n")
            terminal.wait("isig icanon echo")
            for ending, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130),
                                   (signal.SIGHUP, 129), ("q", 0), ("C-c", 0), ("F10", 0)):
                terminal.start(SAVED, "--paused")
                self.assertEqual(terminal.flags(), ["1", "0", "1"])
                if isinstance(ending, str):
                    terminal.keys(ending)
                else:
                    os.kill(terminal.pid(), ending)
                terminal.wait(f"status={status}")
                self.assertEqual(terminal.flags(), ["0", "1", "0"], ending)
                terminal.type("clear; stty -a | grep -o '[-]*icanon\\|[-]*isig\\|[-]*echo ' | "
                              "tr '\\n' ' '\n")
                terminal.wait("isig icanon echo")

    def test_it_stops_and_goes_on(self):
        with Terminal() as terminal:
            terminal.start(SAVED, "--paused")
            terminal.keys("C-z")
            terminal.wait("Stopped")
            self.assertEqual(terminal.flags(), ["0", "1", "0"])
            terminal.type("fg\n")
            terminal.wait("F1Help")
            self.assertEqual(terminal.flags(), ["1", "0", "1"])
            terminal.keys("Right")
            terminal.wait(second(1))

    def test_colours_are_those_of_the_terminal(self):
        with Terminal() as terminal:
            for environment, has, has_not in (
                    ("TERM=screen", r"\[32m", r"8;5;"),
                    ("TERM=xterm-16color", r"\[32m", r"8;5;"),
                    ("TERM=xterm-256color", r"38;5;", r"\[32m"),
                    ("TERM=screen COLORTERM=truecolor", r"38;5;", r"\[32m"),
                    ("TERM=vt100", r"\[7m", r"[34][0-7]m|8;5;|\[9"),
                    ("NO_COLOR=1 TERM=xterm-256color", r"\[7m", r"[34][0-7]m|8;5;|\[9")):
                terminal.start(SAVED, "--paused", environment=environment)
                screen = terminal.screen(colours=True)
                self.assertRegex(screen, has, environment)
                self.assertNotRegex(screen, has_not, environment)
                terminal.type("q")
                terminal.wait("status=0")
            terminal.start(SAVED, "--paused", environment="LC_ALL=C")
            self.assertTrue(terminal.screen().isascii())
            terminal.type("q")
            terminal.wait("status=0")

    def test_a_terminal_that_cannot_do_it_is_told_so(self):
        with Terminal(width=200) as terminal:
            for name in ("dumb", "frob", ""):
                terminal.start(SAVED, environment=f"TERM={name}", wanted=f"called '{name}' (TERM)")
                terminal.wait("status=1")


class WithoutATerminal(unittest.TestCase):
    def test_no_terminal_is_an_error_that_names_the_way_out(self):
        done = subprocess.run([PROGRAM, "top", SAVED], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--batch", done.stderr)

    def test_batch_prints_all_lines_of_every_period(self):
        status, out, errors = batch(SAVED)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(out.count("host1 2020-09-13"), 8)
        self.assertEqual(out.count(" idle29\n"), 8)
        self.assertNotIn("\x1b", out)
        self.assertNotIn("\x07", out)
        status, out, _ = batch(SAVED, "-n", 2, "--screens", "io,vm", "-F", "mysql", "-p", "100")
        self.assertEqual(out.count("descriptors"), 0)
        self.assertEqual(out.count(" mysqld\n"), 2)
        self.assertEqual(out.count("VM 1 of 2"), 2)

    def test_json_is_what_was_read(self):
        done = subprocess.run([PROGRAM, "top", SAVED, "--json"], stdout=subprocess.PIPE,
                              timeout=60, check=True)
        with open(SAVED, encoding="ascii") as file:
            wanted = [json.loads(line) for line in file]
        got = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(got), 8)
        for each, other in zip(got, wanted):
            for task in other["machines"][0]["tasks"]:  # what is 0 is left out
                self.assertIn({name: value for name, value in task.items() if value != 0 or
                               name == "user"}, each["machines"][0]["tasks"])
        done = subprocess.run([PROGRAM, "top", SAMPLE, "--json", "-d", "100ms"],
                              stdout=subprocess.PIPE, timeout=60, check=True)
        stats = subprocess.run([PROGRAM, "stats", SAMPLE, "--json", "--period", "100ms"],
                               stdout=subprocess.PIPE, timeout=60, check=True)
        self.assertEqual(done.stdout, stats.stdout)

    def test_what_is_damaged_is_told_behind_what_could_be_read(self):
        damaged = os.path.join(FOLDER.name, "damaged.jsonl")
        with open(SAVED, encoding="ascii") as whole, open(damaged, "w", encoding="ascii") as file:
            file.write(whole.readline() + whole.readline()[:100])
        status, out, errors = batch(damaged)
        self.assertEqual(status, 1)
        self.assertIn(second(0), out)
        self.assertIn("damaged.jsonl: at byte", errors)

    def test_wrong_usage_is_2_and_says_why(self):
        for arguments, word in ((["-d", "x"], "--delay"), (["-d", "0s"], "--delay"),
                                (["--screens", "frob"], "--screens"), (["-F", "cpu >"], "--filter"),
                                (["--history", "10"], "--history"), (["--sort", "x"], "--sort"),
                                (["--history", "10m,x"], "--history")):
            status, out, errors = batch(SAVED, *arguments)
            self.assertEqual((status, out), (2, ""), arguments)
            self.assertIn(word, errors)
        self.assertEqual(batch("/nowhere")[0], 1)


if __name__ == "__main__":
    if shutil.which("tmux") is None:
        print("skipped: there is no tmux (scripts/install-deps check)")
        sys.exit(77)
    saved.write(SAVED)
    unittest.main()
