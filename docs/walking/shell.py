"""A stranger's terminal: the bash of the tests, with nothing of ours on its path, and more patience."""

import os
import select
import shutil
import signal
from pathlib import Path

from tests.docs.conftest import short_folder
from tests.docs.shell import Shell

from .telling import Stumble

PATIENCE = 600.0


class Terminal(Shell):
    """One bash, in a home of its own."""

    def __init__(self, programs: Path, outputs: Path, surroundings: dict[str, str]) -> None:
        self._surroundings = surroundings
        super().__init__(short_folder(), programs, outputs)

    @property
    def here(self) -> Path:
        """The folder that the stranger is in."""
        return Path(self.run('echo "$PWD"').output.strip().replace("/home/ada", str(self.home), 1))

    def put(self, name: str, text: str) -> None:
        """A file of the page, where the stranger is; of an example, as if it were one's own."""
        if name.startswith("~/"):
            self.write(name, text)
            return
        own = Path(*Path(name).parts[2:]) if name.startswith("examples/") else Path(name)
        path = self.here / own
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._here(text), "utf-8")

    def close(self) -> None:
        """Stop what still runs, and leave nothing behind."""
        super().close()
        shutil.rmtree(self.home, ignore_errors=True)

    def _environment(self, programs: Path) -> dict[str, str]:
        chosen = super()._environment(programs)
        path = os.pathsep.join([str(programs), self._surroundings["PATH"]])
        return {**self._surroundings, **chosen, "PATH": path}

    def _answer(self, command: str) -> int:
        ready, _, _ = select.select([self._answers], [], [], PATIENCE)
        if not ready:
            os.killpg(self._bash.pid, signal.SIGKILL)
            raise Stumble(f"$ {command}\ndid not end")
        answer = os.read(self._answers, 64)
        if not answer:
            raise Stumble(f"$ {command}\nended the shell")
        return int(answer)
