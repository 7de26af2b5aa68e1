"""Links, `make` targets and modules that the pages name exist."""

import os
import re
from functools import cache
from pathlib import Path

from docs.generator.markdown import slug
from docs.generator.pages import PAGES
from tests.tables import each_row

from .blocks import ROOT, pages

WRITTEN = [*pages(), *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "llms.txt"))]
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/partita-dev/partita"
OURS = re.compile(
    rf"({REPOSITORY}/(?:blob|raw)/main/|https://raw\.githubusercontent\.com/partita-dev/partita/main/)"
    r"([^)\s\"#]+)(?:#([^)\s\"]*))?"
)
"""Absolute addresses of files of this repository, which also work on a package index."""
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ +(.*?) *(?:\{.*\})?$", re.MULTILINE)
FENCED = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r"`((?:[\w.-]+/)+(?:[\w-]+\.(?:py|tsx?))?)`")
COMMAND = re.compile(r"`make ([\w-]+)`")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def page_text(name: str) -> str:
    """Return the text of a page below `docs`, generated if it is not a file."""
    return PAGES[name]() if name in PAGES else (DOCS / name).read_text("utf-8")


def anchors(page: str) -> set[str]:
    """Return the names of a page's headings, as they are in links."""
    text = FENCED.sub("", page_text(page))
    return {slug(heading) for heading in HEADING.findall(text)} | set(re.findall(r'id="([^"]+)"', text))


def broken_links(page: Path, text: str) -> list[str]:
    """Return the links of a page to files and headings that do not exist."""
    broken: list[str] = []
    for path, anchor in LINK.findall(FENCED.sub("", text)):
        target = (page.parent / path).resolve() if path else page
        name = os.path.relpath(target, DOCS)
        is_page = name in PAGES or target.suffix == ".md"
        # Pages outside of `docs`, such as README, are read in the repository, which has no generated pages.
        exists = target.exists() or (name in PAGES and page.is_relative_to(DOCS))
        if not exists or (anchor and is_page and anchor not in anchors(name)):
            broken.append(f"{path}#{anchor}" if anchor else path)
    for _, path, anchor in OURS.findall(text):
        if not (ROOT / path).exists() or (
            anchor and anchor not in anchors(os.path.relpath(ROOT / path, DOCS))
        ):
            broken.append(f"{path}#{anchor}" if anchor else path)
    return broken


@each_row("page", WRITTEN, ids=name_of)
def test_links_are_not_broken(page: Path) -> None:
    assert broken_links(page, page.read_text("utf-8")) == []


@each_row("page", [ROOT / "README.md", ROOT / "llms.txt"], ids=name_of)
def test_links_also_work_outside_of_the_repository(page: Path) -> None:
    """A package index shows the README, and resolves no relative link or picture."""
    text = FENCED.sub("", page.read_text("utf-8"))
    assert LINK.findall(text) == []
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert [one for one in pictures if not one.startswith("https://")] == []


@each_row("page", WRITTEN, ids=name_of)
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for target in COMMAND.findall(page.read_text("utf-8")):
        assert target in targets


@each_row("page", [DOCS / "design.md", ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_modules_exist(page: Path) -> None:
    places = (ROOT, ROOT / "src" / "partita")
    named = MODULE.findall(FENCED.sub("", page.read_text("utf-8")))
    ours = [path for path in named if any((place / path.partition("/")[0]).is_dir() for place in places)]
    assert [path for path in ours if not any((place / path).exists() for place in places)] == []
