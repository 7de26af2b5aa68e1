"""Every Python block of the documentation runs, and prints what it says after `# >`."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!http)([^)#]+)")
COMMAND = re.compile(r"^make (\w+)|`make (\w+)`", re.MULTILINE)


def blocks() -> dict[str, str]:
    return {
        f"{page.relative_to(ROOT)}-{number}": block
        for page in PAGES
        for number, block in enumerate(BLOCK.findall(page.read_text()), 1)
    }


@pytest.mark.parametrize("name", blocks())
def test_a_block_prints_what_it_says(name: str) -> None:
    block = blocks()[name]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, name, "exec"), {"__name__": "__main__"})
    assert printed.getvalue().splitlines() == re.findall(r"^# > ?(.*)$", block, re.MULTILINE)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if FILE.search(page.read_text())], ids=lambda page: page.name
)
def test_the_files_of_a_page_are_a_package_that_passes_its_tests(page: Path, tmp_path: Path) -> None:
    for name, text in FILE.findall(page.read_text()):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    install(tmp_path)
    search = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": search, "PYTEST_ADDOPTS": ""}
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


def install(folder: Path) -> None:
    """Let the entry points of a package be found, as if it were installed."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    place = folder / f"{project['name']}-{project['version']}.dist-info"
    place.mkdir()
    (place / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())])
        for group, entries in project["entry-points"].items()
    ]
    (place / "entry_points.txt").write_text("\n\n".join(groups))


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for match in COMMAND.findall(page.read_text()):
        assert (match[0] or match[1]) in targets
