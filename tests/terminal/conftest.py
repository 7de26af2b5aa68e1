"""One folder of material for all tests here."""

from pathlib import Path

import pytest

from .desk import Desk
from .material import lay_out


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("material")
    lay_out(folder)
    return folder


@pytest.fixture
def desk(material: Path, tmp_path: Path) -> Desk:
    return Desk(tmp_path, material)
