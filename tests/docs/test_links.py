"""What a page leads to is there."""

import re
from pathlib import Path

from tests.tables import each_row

from .blocks import ROOT, pages

WRITTEN = [*pages(), ROOT / "CONTRIBUTING.md"]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ +(.*?) *(?:\{.*\})?$", re.MULTILINE)
FENCED = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"`make ([\w-]+)`")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as they are in links."""
    text = FENCED.sub("", page.read_text("utf-8"))
    return {slug(heading) for heading in HEADING.findall(text)} | set(re.findall(r'id="([^"]+)"', text))


def slug(heading: str) -> str:
    words = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"\s+", "-", words)


@each_row("page", WRITTEN, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(FENCED.sub("", page.read_text("utf-8"))):
        target = page.parent / path if path else page
        assert target.exists(), path
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{path}#{anchor}"


@each_row("page", WRITTEN, ids=name_of)
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for target in COMMAND.findall(page.read_text("utf-8")):
        assert target in targets
