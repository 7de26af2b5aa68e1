"""Fixtures: the sample data, and a workspace with a copy of it."""

from pathlib import Path

import pytest

from .sample_data import create_sample_data
from .workspace import Workspace


@pytest.fixture(scope="session")
def sample_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample_data")
    create_sample_data(folder)
    return folder


@pytest.fixture
def workspace(sample_data: Path, tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, sample_data)
