"""Every Python block of the documentation runs, and prints what its comments `# >` show."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from .blocks import Block, all_blocks, blocks_of, pages
from .shell import WITHOUT_OTHER_PLUGINS


@pytest.mark.parametrize("block", [block for block in all_blocks("python") if not block.file], ids=str)
def test_a_block_prints_what_its_comments_show(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PARTITA_STORE", str(tmp_path / "partita.db"))
    write_files(block.page, tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, str(block), "exec"), {"__name__": "__main__"})
    assert printed.getvalue().splitlines() == re.findall(r"^# > ?(.*)$", block.text, re.MULTILINE)


def write_files(page: Path, folder: Path) -> None:
    """Write the files of a page, except those in the home, which Python does not use."""
    for block in blocks_of(page):
        if block.file and not block.file.startswith(("~", "examples/")):
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")


def is_package(page: Path) -> bool:
    return any(block.file == "pyproject.toml" for block in blocks_of(page))


@pytest.mark.parametrize("page", [page for page in pages() if is_package(page)], ids=lambda page: page.name)
def test_the_files_of_a_page_are_a_package_that_passes_its_tests(page: Path, tmp_path: Path) -> None:
    write_files(page, tmp_path)
    install(tmp_path)
    search = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": search, "PYTEST_ADDOPTS": WITHOUT_OTHER_PLUGINS}
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


def install(folder: Path) -> None:
    """Write the metadata of a package, so that its entry points are found as if it were installed."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    metadata = folder / f"{project['name']}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())])
        for group, entries in project["entry-points"].items()
    ]
    (metadata / "entry_points.txt").write_text("\n\n".join(groups))
