"""Builds the web UI into the wheel. Without npm, the build prints a warning, and the wheel has no web UI."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = Path("src", "partita", "server", "page", "built")
SOURCES = ("web/src", "web/public", "web/index.html", "web/pnpm-lock.yaml")

INSTALL = "exec --yes pnpm@10 -- install --prod --frozen-lockfile"


class PageHook(BuildHookInterface[Any]):
    """Runs before a wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the web UI unless it is newer than its sources."""
        if self.target_name != "wheel" or version == "editable":
            return
        root = Path(self.root)
        if _is_up_to_date(root):
            return
        npm = shutil.which("npm")
        if npm is None:
            self._warn("npm was not found, so this build has no web UI. Install Node 20 or newer.")
            return
        try:
            for command in (INSTALL, "run build"):
                subprocess.run([npm, *command.split()], cwd=root / "web", check=True)
        except subprocess.CalledProcessError as error:
            self._warn(f"the web UI could not be built ({error}), so this build has none.")
            shutil.rmtree(root / BUILT, ignore_errors=True)

    def _warn(self, text: str) -> None:
        self.app.display_warning(f"partita: {text}")


def _is_up_to_date(root: Path) -> bool:
    index = root / BUILT / "index.html"
    if not index.is_file():
        return False
    built = index.stat().st_mtime
    return all(file.stat().st_mtime <= built for source in SOURCES for file in _files(root / source))


def _files(path: Path) -> list[Path]:
    return [file for file in [path, *path.rglob("*")] if file.is_file()]
