"""Fixtures of the tests of the documentation."""

import contextlib
import secrets
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from .shell import Shell, install_partita


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the path of a shell, with the `partita` under test."""
    return install_partita(tmp_path_factory.mktemp("path") / "bin")


@pytest.fixture
def shell(tmp_path: Path, programs: Path) -> Generator[Shell, None, None]:
    """A shell with an empty home."""
    home = create_short_folder()
    opened = Shell(home, programs, tmp_path)
    yield opened
    opened.close()
    shutil.rmtree(home)


def create_short_folder() -> Path:
    """Create a folder whose path is as long as `/home/ada`, so that tables are as wide as on the page."""
    while True:
        path = Path("/tmp") / secrets.token_hex(2)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path
