"""A stranger's machine: a copy of the repository, an empty home, the package as others install it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .telling import say

OURS = ("PARTITA_", "VIRTUAL_ENV", "PYTHON", "NEXT_")


@dataclass(frozen=True)
class Stranger:
    """What a stranger has."""

    place: Path
    clone: Path
    surroundings: dict[str, str]

    @property
    def programs(self) -> Path:
        """Where the package's command is, once it is installed."""
        return self.place / "installed" / "bin"


def arrive(root: Path, place: Path, *, as_it_is: bool) -> Stranger:
    """A fresh clone and an empty home; with `as_it_is`, what is not committed comes along."""
    clone, home = place / "partita", place / "home"
    home.mkdir()
    if as_it_is:
        _copy(root, clone)
    else:
        subprocess.run(["git", "clone", "--quiet", str(root), str(clone)], check=True)
    surroundings = {
        **strange(os.environ),
        "HOME": str(home),
        "PARTITA_PORT": "0",
        "NEXT_TELEMETRY_DISABLED": "1",
    }
    return Stranger(place, clone, surroundings)


def _copy(root: Path, clone: Path) -> None:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (root / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, clone / name)


def strange(environment: Mapping[str, str]) -> dict[str, str]:
    """What a stranger has: how to reach the registries, and nothing of ours or of any agent's."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith(OURS) and not name.endswith("_API_KEY")
    }
    own = str(Path(sys.executable).parent)  # `make walk` is run by our own Python
    kept["PATH"] = os.pathsep.join(each for each in kept["PATH"].split(os.pathsep) if each != own)
    return kept


def install(stranger: Stranger) -> Path:
    """Build the wheel and install it into an empty environment; gives the file that pip is constrained by."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    folder = stranger.place / "wheel"
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(stranger.clone)],
        env=stranger.surroundings,
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    say(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    constraints = folder / "constraints.txt"
    known = (stranger.clone / "constraints.txt").read_text("utf-8")
    constraints.write_text(f"{known}partita @ {wheel.as_uri()}\n", "utf-8")
    environment = stranger.programs.parent
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    installing = [str(stranger.programs / "python"), *pip[1:], "install", "-c", str(constraints), "partita"]
    subprocess.run(installing, env=stranger.surroundings, check=True)
    return constraints
