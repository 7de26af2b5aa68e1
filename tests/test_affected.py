"""Selection of the tests that `make check` runs."""

from pathlib import Path

import pytest

from tests.affected import ROOT, affected_tests, nearest

TREE = {
    "package/__init__.py": "",
    "package/base.py": "",
    "package/middle.py": "from . import base",
    "package/registry.py": "PLACES = ['package.middle:THING']",
    "package/alone.py": "",
    "checks/conftest.py": "import package.alone",
    "checks/test_base.py": "from package.base import thing",
    "checks/test_registry.py": "from package import registry",
    "checks/below/test_other.py": "def test() -> None: ...",
    "checks/below/data.json": "{}",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in TREE.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def affected(tree: Path, *names: str) -> dict[str, int]:
    packages = {"package": tree / "package", "checks": tree / "checks"}
    found = affected_tests([tree / name for name in names], packages)
    return {file.name: distance for file, distance in found.items()}


def test_tests_are_found_through_imports_and_module_names(tree: Path) -> None:
    assert affected(tree, "package/base.py") == {"test_base.py": 1, "test_registry.py": 3}
    assert affected(tree, "package/registry.py") == {"test_registry.py": 1}


def test_a_conftest_affects_every_test_below_it(tree: Path) -> None:
    every = {"test_base.py": 2, "test_registry.py": 2, "test_other.py": 2}
    assert affected(tree, "package/alone.py") == every


def test_a_changed_test_and_the_tests_next_to_a_changed_file_are_affected(tree: Path) -> None:
    assert affected(tree, "checks/test_base.py") == {"test_base.py": 0}
    assert affected(tree, "checks/below/data.json") == {"test_other.py": 1}


def test_the_nearest_tests_are_selected_up_to_the_time_limit() -> None:
    near, far, changed = (
        ROOT / "tests" / name for name in ("test_near.py", "test_far.py", "test_changed.py")
    )
    affected = {far: 2, near: 1, changed: 0}
    assert nearest(affected, {}) == [changed, near, far]
    assert nearest(affected, {"tests/test_near.py": 1e6}) == [changed, far]
    assert nearest(affected, {"tests/test_changed.py": 1e6}) == [changed]
