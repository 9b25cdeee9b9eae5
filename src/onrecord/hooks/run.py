"""Answer one event of a coding agent: python3 -S -E run.py <event> [<host>] < event.json"""

import gc
import os
import sys

# The process is gone before collecting its garbage would pay: that saves half a millisecond.
gc.disable()
sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from onrecord.hooks import main  # noqa: E402

if __name__ == "__main__":
    # All is flushed and nothing needs tidying: taking the interpreter down properly would cost a millisecond or two.
    os._exit(main(sys.argv[1:]))
