"""What the tests of the documentation share."""

import contextlib
import secrets
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from .shell import Shell, programs


@pytest.fixture(scope="session")
def on_the_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `partita` is the one under test."""
    return programs(tmp_path_factory.mktemp("path") / "bin")


@pytest.fixture
def shell(tmp_path: Path, on_the_path: Path) -> Generator[Shell, None, None]:
    """An empty home with a shell in it."""
    home = short_folder()
    opened = Shell(home, on_the_path, tmp_path)
    yield opened
    opened.close()
    shutil.rmtree(home)


def short_folder() -> Path:
    """A new folder, its path as long as `/home/ada`: so tables that show it are as wide as on the page."""
    while True:
        path = Path("/tmp") / secrets.token_hex(2)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path
