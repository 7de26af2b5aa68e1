"""`console` blocks: commands after `$ `, each followed by its output."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

PROMPT = "$ "
ANYTHING = "…"
"""Matches any text in a line. Alone on a line, it matches any lines."""


@dataclass(frozen=True)
class Step:
    """A command and its expected output."""

    command: str
    expected: str

    @property
    def has_output(self) -> bool:
        """Whether the page shows some of the output, so that a failure of the command may be intended."""
        return bool(self.expected.replace(ANYTHING, "").strip())


def read_steps(text: str) -> Iterator[Step]:
    """Yield the steps of a block. A command that ends in a backslash continues in the next line."""
    command: list[str] = []
    output: list[str] = []
    for line in text.splitlines():
        if line.startswith(PROMPT):
            if command:
                yield _step(command, output)
            command, output = [line.removeprefix(PROMPT)], []
        elif not command:
            raise ValueError(f"a console block begins with {PROMPT!r}, not {line!r}")
        elif command[-1].endswith("\\") and not output:
            command.append(line)
        else:
            output.append(line)
    if command:
        yield _step(command, output)


def _step(command: list[str], output: list[str]) -> Step:
    return Step("\n".join(command), "\n".join(output).strip("\n"))


def matches(expected: str, output: str) -> bool:
    """Whether an output is as expected. White space at the ends of lines is ignored."""
    lines = [line.rstrip() for line in output.rstrip().splitlines()]
    return re.fullmatch(_pattern(expected), "".join(f"{line}\n" for line in lines)) is not None


def _pattern(expected: str) -> str:
    return "".join(
        r"(?:.*\n)*" if line == ANYTHING else f"{_line_pattern(line)}\n"
        for line in expected.rstrip().splitlines()
    )


def _line_pattern(line: str) -> str:
    return ".*".join(re.escape(piece) for piece in line.rstrip().split(ANYTHING))
