"""The site is built without warnings, and loads nothing from other hosts. `make full` runs this."""

import json
import re
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config.base import load_config  # pyright: ignore[reportUnknownVariableType] # takes any option

ROOT = Path(__file__).parents[2]
LOADED = re.compile(
    r"<(?:script|img|iframe|source)[^>]+src=\"(https?:[^\"]+)|<link[^>]+href=\"(https?:[^\"]+)"
)
IN_STYLE = re.compile(r"url\([\"']?(https?:[^)]+)|@import")


def test_the_site_is_complete_and_loads_nothing_from_other_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True))
    pages = {path: path.read_text("utf-8") for path in tmp_path.rglob("*.html")}
    assert tmp_path / "reference" / "formats.html" in pages
    assert {path.name: found for path, text in pages.items() if (found := LOADED.findall(text))} == {}
    styles = [path for path in tmp_path.rglob("*.css") if IN_STYLE.search(path.read_text("utf-8"))]
    assert styles == []
    index = json.loads((tmp_path / "search" / "search_index.json").read_text("utf-8"))
    assert any(entry["location"].startswith("reference/errors.html#") for entry in index["docs"])
    start = pages[tmp_path / "apps" / "start.html"]
    assert '<span class="filename">examples/chat/server/main.py</span>' in start, (
        "the title of a block is its file"
    )
