"""Node, and the npm packages that the tests run in it: `tests/package.json`."""

import shutil
from pathlib import Path

PACKAGES = Path(__file__).parent / "node_modules"


def node() -> str:
    """Return the path of Node, and check that Node and the packages are installed."""
    found = shutil.which("node")
    if found is None:
        raise RuntimeError("no `node` on the PATH: the tests need Node 20 or newer")
    if not PACKAGES.is_dir():
        raise RuntimeError("the npm packages of the tests are not installed: run make setup")
    return found
