"""Where a program is run: the folder, the home and the environment, which say which files count."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

FILE: Final = "partita.toml"


class Surroundings(NamedTuple):
    """What decides which files are read."""

    folder: Path | None
    """Where one is; nowhere, when the folder has been removed."""
    home: Path | None
    environment: Mapping[str, str]

    @property
    def own(self) -> Path:
        """The user's own file, whether it exists or not."""
        named = self.environment.get("PARTITA_CONFIG")
        if named:
            return Path(named).expanduser()
        return self.config_folder / FILE

    @property
    def config_folder(self) -> Path:
        """The folder that the system has for the user's settings of this program."""
        from platformdirs import user_config_path

        return user_config_path("partita", appauthor=False)

    def project_files(self) -> Iterator[Path]:
        """Where the file of a project may be, nearest first, up to the home or the root of a repository."""
        if self.folder is None:
            return
        for folder in (self.folder, *self.folder.parents):
            if folder / FILE != self.own:
                yield folder / FILE
            if folder == self.home or (folder / ".git").exists():
                return


def here() -> Surroundings:
    """The surroundings of this process."""
    try:
        folder = Path.cwd()
    except OSError:
        folder = None
    try:
        home = Path.home()
    except RuntimeError:  # nobody says where it is
        home = None
    return Surroundings(folder, home, os.environ)
