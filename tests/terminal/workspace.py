"""A folder to run commands in, with an empty home directory and a minimal environment."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.processes import Ended, Piped, Terminal

EMPTY: Mapping[str, str] = {}


class Workspace:
    """Starts commands in a folder, on terminals or with pipes."""

    def __init__(self, folder: Path, sample_data: Path | None = None) -> None:
        self.folder = folder / "workspace"
        if sample_data is None:
            self.folder.mkdir()
        else:
            shutil.copytree(sample_data, self.folder)
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
        environment: Mapping[str, str] = EMPTY,
    ) -> Terminal:
        """Start a command on a terminal, with additional environment variables."""
        return Terminal(
            *arguments,
            environment={**self.environment, **environment},
            folder=self.folder,
            columns=columns,
            rows=rows,
            cold=cold,
        )

    def run_on_terminal(self, *arguments: str) -> Ended:
        """Run a command on a terminal and return its output."""
        with self.terminal(*arguments) as terminal:
            return terminal.end()

    def piped(
        self,
        *arguments: str,
        given: bytes | None = b"",
        reads: bool = True,
        cold: bool = False,
    ) -> Piped:
        """Start a command with pipes. With `given=None`, its standard input stays open."""
        return Piped(
            *arguments,
            environment=self.environment,
            folder=self.folder,
            given=given,
            reads=reads,
            cold=cold,
        )
