"""`console` blocks: commands after `$ `, and below each what it prints."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

PROMPT = "$ "
ANYTHING = "…"


@dataclass(frozen=True)
class Step:
    """A command, and what it is said to print."""

    command: str
    expected: str

    @property
    def tells(self) -> bool:
        """Whether the page shows what is printed, not only that something is."""
        return bool(self.expected.replace(ANYTHING, "").strip())


def read_steps(text: str) -> Iterator[Step]:
    """The commands of a block. One that ends in a backslash goes on in the next line."""
    command: list[str] = []
    printed: list[str] = []
    for line in text.splitlines():
        if line.startswith(PROMPT):
            if command:
                yield _step(command, printed)
            command, printed = [line.removeprefix(PROMPT)], []
        elif not command:
            raise ValueError(f"a console block begins with {PROMPT!r}, not {line!r}")
        elif command[-1].endswith("\\") and not printed:
            command.append(line)
        else:
            printed.append(line)
    if command:
        yield _step(command, printed)


def _step(command: list[str], printed: list[str]) -> Step:
    return Step("\n".join(command), "\n".join(printed).strip("\n"))


def matches(expected: str, printed: str) -> bool:
    """Whether something was printed as expected: … stands for anything in a line, alone for any lines."""
    return re.fullmatch(_pattern(expected), _trimmed(printed)) is not None


def _pattern(expected: str) -> str:
    return "".join(
        r"(?:.*\n)*" if line == ANYTHING else f"{_line(line)}\n" for line in expected.rstrip().splitlines()
    )


def _line(line: str) -> str:
    return ".*".join(re.escape(piece) for piece in line.rstrip().split(ANYTHING))


def _trimmed(printed: str) -> str:
    lines = [line.rstrip() for line in printed.rstrip().splitlines()]
    return "".join(f"{line}\n" for line in lines)
