"""A place to run commands in: a folder of its own, an empty home, and nothing of our environment."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.processes import Ended, Piped, Terminal

NOTHING: Mapping[str, str] = {}


class Desk:
    """Starts commands in a folder, on terminals or in pipes."""

    def __init__(self, folder: Path, material: Path | None = None) -> None:
        self.folder = folder / "desk"
        if material is None:
            self.folder.mkdir()
        else:
            shutil.copytree(material, self.folder)
        home = folder / "home"
        home.mkdir()
        self.environment: Mapping[str, str] = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PAGER": "cat",
            "CI": "1",  # no browser is opened
            "PARTITA_STORE": str(self.folder / "store.db"),
        }

    def terminal(
        self,
        *arguments: str,
        columns: int = 100,
        rows: int = 30,
        cold: bool = False,
        environment: Mapping[str, str] = NOTHING,
    ) -> Terminal:
        """A command at work in a terminal, with more in its environment."""
        return Terminal(
            *arguments,
            environment={**self.environment, **environment},
            folder=self.folder,
            columns=columns,
            rows=rows,
            cold=cold,
        )

    def shown(self, *arguments: str) -> Ended:
        """What a command shows in a terminal until it ends."""
        with self.terminal(*arguments) as terminal:
            return terminal.end()

    def piped(
        self,
        *arguments: str,
        given: bytes | None = b"",
        reads: bool = True,
        cold: bool = False,
    ) -> Piped:
        """A command at work in pipes. Without input it waits for some."""
        return Piped(
            *arguments,
            environment=self.environment,
            folder=self.folder,
            given=given,
            reads=reads,
            cold=cold,
        )
