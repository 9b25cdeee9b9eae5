"""Reply to one event of a coding agent: python3 -S -E run.py <event> [<host>] < event.json"""

import gc
import os
import sys

# The process is too short for garbage collection to be useful: this saves half a millisecond.
gc.disable()
sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from onrecord.hooks import main  # noqa: E402

if __name__ == "__main__":
    # Everything is flushed: a regular exit of the interpreter would cost one or two milliseconds.
    os._exit(main(sys.argv[1:]))
