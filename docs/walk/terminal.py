"""The terminal of a new user: the shell of the tests with a clean environment and longer timeouts."""

import os
import shutil
from pathlib import Path

from tests.docs.conftest import create_short_folder
from tests.docs.shell import Shell


class Terminal(Shell):
    """One bash process with an empty home."""

    timeout = 600.0

    def __init__(self, programs: Path, outputs: Path, environment: dict[str, str]) -> None:
        self._clean_environment = environment
        super().__init__(create_short_folder(), programs, outputs)

    @property
    def current_folder(self) -> Path:
        """The folder that the shell is in."""
        return Path(self.run('echo "$PWD"').output.strip().replace("/home/ada", str(self.home), 1))

    def save(self, name: str, text: str) -> None:
        """Write a file of a page, in the current folder. The folder of an example is left out."""
        if name.startswith("~/"):
            self.write(name, text)
            return
        relative = Path(*Path(name).parts[2:]) if name.startswith("examples/") else Path(name)
        path = self.current_folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.localized(text), "utf-8")

    def close(self) -> None:
        """Stop all processes and remove the home."""
        super().close()
        shutil.rmtree(self.home, ignore_errors=True)

    def _environment(self, programs: Path) -> dict[str, str]:
        path = os.pathsep.join([str(programs), self._clean_environment["PATH"]])
        return {**self._clean_environment, **super()._environment(programs), "PATH": path}
