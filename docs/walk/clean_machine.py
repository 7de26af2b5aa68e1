"""A machine of a new user: a clone of the repository, an empty home, and the installed package."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .progress import report

OWN_VARIABLES = ("PARTITA_", "VIRTUAL_ENV", "PYTHON", "NEXT_", "GIT_")
REPOSITORY = "https://github.com/partita-dev/partita"
"""The address in the guides. Git clones the clone of this machine instead."""


@dataclass(frozen=True)
class CleanMachine:
    """A folder with a clone of the repository, and an environment without our own settings."""

    folder: Path
    clone: Path
    environment: dict[str, str]

    @property
    def programs(self) -> Path:
        """The folder with the command of the package, once it is installed."""
        return self.folder / "installed" / "bin"


def create_machine(root: Path, folder: Path, *, uncommitted: bool) -> CleanMachine:
    """Clone the repository next to an empty home. With `uncommitted`, the files are copied as they are."""
    clone, home = folder / "partita", folder / "home"
    home.mkdir()
    if uncommitted:
        _copy(root, clone)
        git = ["git", "-C", str(clone), "-c", "user.name=walk", "-c", "user.email=walk@localhost"]
        for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "Uncommitted"]):
            subprocess.run([*git, *command], check=True)
    else:
        subprocess.run(["git", "clone", "--quiet", str(root), str(clone)], check=True)
    environment = {
        **clean_environment(os.environ),
        "HOME": str(home),
        "PARTITA_PORT": "0",
        "NEXT_TELEMETRY_DISABLED": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{clone.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": REPOSITORY,
    }
    return CleanMachine(folder, clone, environment)


def _copy(root: Path, clone: Path) -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (root / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, clone / name)


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of an environment without our settings, our Python, and keys of providers."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith(OWN_VARIABLES) and not name.endswith("_API_KEY")
    }
    own = str(Path(sys.executable).parent)  # `make walk` runs the Python of this repository
    kept["PATH"] = os.pathsep.join(each for each in kept["PATH"].split(os.pathsep) if each != own)
    return kept


def install_package(machine: CleanMachine) -> Path:
    """Build the wheel and install it into a new environment. Return the constraints file for pip."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    folder = machine.folder / "wheel"
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(machine.clone)],
        env=machine.environment,
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    report(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    constraints = machine.clone / "constraints.txt"
    subprocess.run([sys.executable, "-m", "venv", str(machine.programs.parent)], check=True)
    install = [str(machine.programs / "python"), *pip[1:], "install", "-c", str(constraints), str(wheel)]
    subprocess.run(install, env=machine.environment, check=True)
    return constraints
