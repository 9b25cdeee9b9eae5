"""Answer one event of a coding agent: python3 -S -E hooks/run.py <event> < event.json"""

import os
import sys

sys.path[0] = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")

from recollect.hooks import main  # noqa: E402

raise SystemExit(main(sys.argv[1:]))
