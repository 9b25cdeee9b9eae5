"""Starts the processes that the fuzzer measures: python3 -S -E launcher.py, a JSON object for each on standard input.

It stays small on purpose: Linux counts the memory of the process that starts another to that other one.
"""

import json
import os
import signal
import sys
import time


def _start(job):
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            os.dup2(os.open(job[name], os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.chdir(job["cwd"])
        os.execve(job["argv"][0], job["argv"], job["env"])
    finally:
        os._exit(127)


def _wait(child, seconds):
    """Return the child's end and what it used; one that outlives the limit is ended, with all it started."""
    end = time.monotonic() + seconds
    pause = 0.001
    while True:
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            return status, usage, False
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            return (*os.wait4(child, 0)[1:], True)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)


def main():
    for line in sys.stdin:
        job = json.loads(line)
        status, usage, hung = _wait(_start(job), job["seconds"])
        code = -(status & 127) if status & 127 else status >> 8
        # Linux counts kilobytes, macOS bytes.
        size = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        print(
            json.dumps({"code": code, "cpu": usage.ru_utime + usage.ru_stime, "memory": size, "hung": hung}), flush=True
        )


main()
