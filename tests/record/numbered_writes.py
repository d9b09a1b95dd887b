#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that tests record: numbered writes, so that each can be found again.

numbered_writes.py COUNT [IN_A_ROW PAUSE]: after a line on its input, writes of 7 bytes to /dev/null
at the positions 0, 1, ...; with a pause, in seconds, after so many. COUNT 0: until it is killed, or
whoever started it is.
"""

import itertools
import os
import sys
import time

COUNT = int(sys.argv[1])
IN_A_ROW = int(sys.argv[2]) if len(sys.argv) > 2 else 0
PAUSE = float(sys.argv[3]) if len(sys.argv) > 3 else 0

parent = os.getppid()
sys.stdin.readline()
null = os.open(os.devnull, os.O_WRONLY)
for position in range(COUNT) if COUNT else itertools.count():
    os.pwrite(null, b"strata\n", position)
    if IN_A_ROW and position % IN_A_ROW == IN_A_ROW - 1:
        time.sleep(PAUSE)
        if os.getppid() != parent:
            sys.exit(1)
