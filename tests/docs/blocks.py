"""The pages of the documentation, and the blocks in them.

A block has a language, and behind it perhaps `file=NAME` (with `~/` in the home, with `examples/` a file of
the repository), `title=…`, and marks. `test_languages.py` says what is made of each; `shell.py` and `sh.py`
what of commands.
"""

import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MARKS = frozenset({"background", "elsewhere", "walk"})
"""What may stand behind a language, besides `file=` and `title=`: see `shell.py` and `sh.py`.

What is marked `walk` takes too long for the tests: `docs/walk.py` runs it, here it is looked at.
"""

_OPENS = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, what it is in, and what it holds."""

    page: Path
    line: int
    language: str
    marks: frozenset[str]
    file: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every page whose blocks must hold true."""
    return [
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted(path for path in (ROOT / "examples").rglob("README.md") if "node_modules" not in path.parts),
    ]


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    return list(read_blocks(page, page.read_text("utf-8").splitlines()))


def all_blocks(*languages: str) -> list[Block]:
    """The blocks of all pages in some languages; without any, all there are."""
    found = (block for page in pages() for block in blocks_of(page))
    return [block for block in found if not languages or block.language in languages]


def read_blocks(page: Path, lines: Sequence[str]) -> Iterator[Block]:
    """The blocks in lines. One that is not closed goes on to the end, as it would be shown."""
    numbered = iter(enumerate(lines, 1))
    for number, line in numbered:
        if opened := _OPENS.match(line):
            inside: list[str] = []
            for _, each in numbered:
                if _closes(each, opened["fence"]):
                    break
                inside.append(each)
            yield _block(page, number, opened, inside)


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


def _block(page: Path, line: int, opened: re.Match[str], inside: Sequence[str]) -> Block:
    indent = len(opened["indent"])
    text = "".join(f"{each[indent:] if not each[:indent].strip() else each}\n" for each in inside)
    language, *words = shlex.split(opened["info"]) or [""]
    named = dict(word.split("=", 1) for word in words if "=" in word)
    return Block(
        page=page,
        line=line,
        language=language,
        marks=frozenset(word for word in words if "=" not in word),
        file=named.get("file"),
        text=textwrap.dedent(text) if indent else text,
    )
