"""The pages of the documentation, and their code blocks.

A block has a language, and after it options: `file=NAME` (`~/` is the home, `examples/` a file of the
repository), `title=…`, and marks. `test_languages.py` checks blocks by language; `command_checks.py` and
`shell.py` check and run commands.
"""

import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MARKS = frozenset({"background", "elsewhere", "walk"})
"""The marks of blocks.

`background`: the commands keep running. `elsewhere`: they are for another machine, so they are only checked.
`walk`: they take too long for the tests, so only `docs/walk` runs them.
"""

_OPENING = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")


@dataclass(frozen=True)
class Block:
    """A fenced code block."""

    page: Path
    line: int
    language: str
    marks: frozenset[str]
    file: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Return the pages whose blocks are tested."""
    return [
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted(path for path in (ROOT / "examples").rglob("README.md") if "node_modules" not in path.parts),
    ]


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page, in order."""
    return list(read_blocks(page, page.read_text("utf-8").splitlines()))


def all_blocks(*languages: str) -> list[Block]:
    """Return the blocks of all pages in some languages, or in all languages."""
    found = (block for page in pages() for block in blocks_of(page))
    return [block for block in found if not languages or block.language in languages]


def read_blocks(page: Path, lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks in lines. A block that is not closed extends to the end, as in the rendered page."""
    numbered = iter(enumerate(lines, 1))
    for number, line in numbered:
        if opening := _OPENING.match(line):
            content: list[str] = []
            for _, each in numbered:
                if _closes(each, opening["fence"]):
                    break
                content.append(each)
            yield _block(page, number, opening, content)


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return len(stripped) >= len(fence) and set(stripped) == {fence[0]}


def _block(page: Path, line: int, opening: re.Match[str], content: Sequence[str]) -> Block:
    indent = len(opening["indent"])
    text = "".join(f"{each[indent:] if not each[:indent].strip() else each}\n" for each in content)
    language, *words = shlex.split(opening["info"]) or [""]
    options = dict(word.split("=", 1) for word in words if "=" in word)
    return Block(
        page=page,
        line=line,
        language=language,
        marks=frozenset(word for word in words if "=" not in word),
        file=options.get("file"),
        text=textwrap.dedent(text) if indent else text,
    )
