"""Every Python block of the documentation runs, and prints what it says after `# >`."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
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


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for match in COMMAND.findall(page.read_text()):
        assert (match[0] or match[1]) in targets
