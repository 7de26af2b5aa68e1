"""Builds the web page into the wheel. Where npm is not there, the build says so, and the start page too."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = Path("src", "partita", "server", "page", "built")
SOURCES = ("web/src", "web/public", "web/index.html", "web/pnpm-lock.yaml")

INSTALL = "exec --yes pnpm@10 -- install --prod --frozen-lockfile"


class PageHook(BuildHookInterface[Any]):
    """Runs before a wheel is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page, unless it is there and newer than what it is made of."""
        if self.target_name != "wheel" or version == "editable":
            return
        root = Path(self.root)
        if _is_fresh(root):
            return
        npm = shutil.which("npm")
        if npm is None:
            self._say("npm is not there, so this build has no web page. Install Node 20 or newer.")
            return
        try:
            for command in (INSTALL, "run build"):
                subprocess.run([npm, *command.split()], cwd=root / "web", check=True)
        except subprocess.CalledProcessError as error:
            self._say(f"the web page could not be built ({error}): this build has none.")
            shutil.rmtree(root / BUILT, ignore_errors=True)

    def _say(self, text: str) -> None:
        self.app.display_warning(f"partita: {text}")


def _is_fresh(root: Path) -> bool:
    start = root / BUILT / "index.html"
    if not start.is_file():
        return False
    built = start.stat().st_mtime
    return all(file.stat().st_mtime <= built for source in SOURCES for file in _files(root / source))


def _files(place: Path) -> list[Path]:
    return [file for file in [place, *place.rglob("*")] if file.is_file()]
