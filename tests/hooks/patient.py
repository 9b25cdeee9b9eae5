"""Runs a hook on a clock that goes slowly: python3 -S -E patient.py run.py <event> [<host>] < event.json

A hook is ended after three seconds on the clock, and waits for git or a lock for less. A machine with more to do than
run tests can stall for longer: that fails no test which is about something else. The time of computing is not changed.
"""

import sys
import time

SLOWER = 20

_clock = time.monotonic
time.monotonic = lambda: _clock() / SLOWER
del sys.argv[0]
with open(sys.argv[0], encoding="utf-8") as file:
    code = compile(file.read(), sys.argv[0], "exec")
exec(code, {"__name__": "__main__", "__file__": sys.argv[0]})
