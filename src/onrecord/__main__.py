"""The entry point of `python -m onrecord` and of the installed `onrecord` command."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the command line. `onrecord mcp` starts with every session of an agent, so it skips `argparse`."""
    name, *rest = sys.argv[1:] or [""]
    if name == "mcp" and (not rest or (len(rest) == 2 and rest[0] == "--project" and os.path.isdir(rest[1]))):
        from onrecord.mcp import server

        return server.serve(*rest[1:])
    from onrecord import cli

    return cli.main()


if __name__ == "__main__":
    raise SystemExit(main())
