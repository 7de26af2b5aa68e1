"""The environment of a process that determines which settings files are read."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

FILE: Final = "partita.toml"


class Environment(NamedTuple):
    """The working directory, the home directory and the environment variables."""

    folder: Path | None
    """The working directory; `None` if it was deleted."""
    home: Path | None
    variables: Mapping[str, str]

    @property
    def user_file(self) -> Path:
        """The user's settings file, which may not exist."""
        named = self.variables.get("PARTITA_CONFIG")
        if named:
            return Path(named).expanduser()
        return self.config_folder / FILE

    @property
    def config_folder(self) -> Path:
        """The user's folder for settings of this program."""
        from platformdirs import user_config_path

        return user_config_path("partita", appauthor=False)

    def project_files(self) -> Iterator[Path]:
        """Possible settings files of the project, nearest first, up to the home or repository root."""
        if self.folder is None:
            return
        for folder in (self.folder, *self.folder.parents):
            if folder / FILE != self.user_file:
                yield folder / FILE
            if folder == self.home or (folder / ".git").exists():
                return


def current_environment() -> Environment:
    """The environment of this process."""
    try:
        folder = Path.cwd()
    except OSError:
        folder = None
    try:
        home = Path.home()
    except RuntimeError:  # it cannot be determined
        home = None
    return Environment(folder, home, os.environ)
