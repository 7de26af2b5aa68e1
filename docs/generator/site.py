"""The hook of `mkdocs.yml`: adds the generated reference pages and adapts the other pages to the site.

The other pages are also read in the repository. They link to files outside of `docs`, choose pictures by the
colour scheme of the system, and have file names and test options after the language of a code block.
"""

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# MkDocs loads a hook by its path, not as a module of a package.
sys.path.insert(0, str(Path(__file__).parents[2]))

from docs.generator.pages import PAGES, fill_formats

ROOT = Path(__file__).parents[2]
OUTSIDE = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "policy.md",
    "llms.txt": "llms.txt",
}
"""Files outside of `docs` that the site contains."""

HOME = {"README.md": "index.md"}

_FENCE = re.compile(r"^( *```+)(\w+)((?: +[\w-]+(?:=\S+)?)+) *$", re.MULTILINE)
_OPTION = re.compile(r"(\w+)=(\S+)")
_PICTURE = re.compile(r"<picture>(.*?)</picture>", re.DOTALL)
_DARK = re.compile(r'srcset="([^"]+)"')
_LIGHT = re.compile(r'<img alt="([^"]*)" src="([^"]+)"')
_BLOCK = re.compile(r"^( *```+).*?^\1 *$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(
    r"`[^`\n]+`(?!\])|\[([^\]\n]*(?:\n[^\]\n]*)?)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)"
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages of formats to the navigation."""
    fill_formats(config.nav or [])
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files outside of `docs` and the reference pages, which are generated from the code."""
    contents = {name: (ROOT / source).read_text("utf-8") for source, name in OUTSIDE.items()}
    contents |= {name: generate() for name, generate in PAGES.items()}
    for name, content in contents.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Adapt a page to the site."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    pieces: list[str] = []
    end = 0
    for block in _BLOCK.finditer(markdown):
        pieces += [_prose(markdown[end : block.start()], page), _FENCE.sub(_fence, block[0], count=1)]
        end = block.end()
    return "".join([*pieces, _prose(markdown[end:], page)])


def _prose(text: str, page: Page) -> str:
    return _LINK.sub(lambda found: _link(found, page.file.src_uri), _PICTURE.sub(_picture, text))


def _fence(found: re.Match[str]) -> str:
    """Make the file name of a block its title, and remove the test options."""
    named = dict(_OPTION.findall(found[3]))
    title = named.get("title") or named.get("file")
    return f'{found[1]}{found[2]} title="{title.strip(chr(34))}"' if title else f"{found[1]}{found[2]}"


def _picture(found: re.Match[str]) -> str:
    """Return both pictures. The style sheet of the theme shows one of them."""
    dark, light = _DARK.search(found[1]), _LIGHT.search(found[1])
    if dark is None or light is None:
        return found[0]
    return f"![{light[1]}]({light[2]}#only-light)\n![{light[1]}]({dark[1]}#only-dark)"


def _link(found: re.Match[str], page: str) -> str:
    """Adapt a link to a file outside of `docs`: link to its page on the site, or keep only the text."""
    text, path, anchor = found[1], found[2], found[3] or ""
    if path is None:
        return found[0]  # inline code that looks like a link
    folder = "" if page in OUTSIDE.values() else "docs"
    target = posixpath.normpath(posixpath.join(folder, posixpath.dirname(page), path))
    if target.startswith("docs/"):
        inside = target.removeprefix("docs/")
    elif target in OUTSIDE | HOME:
        inside = (OUTSIDE | HOME)[target]
    else:
        return text
    return f"[{text}]({posixpath.relpath(inside, posixpath.dirname(page) or '.')}{anchor})"
