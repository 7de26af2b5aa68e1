"""Pages of the guides, followed from top to bottom: each file is written, each command run, in order."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.blocks import Block, blocks_of
from tests.docs.console import Step, matches, read_steps
from tests.docs.sh import OUTSIDE, pieces, read_commands
from tests.docs.shell import goes_on

from .shell import Terminal
from .stranger import Stranger
from .telling import Stumble, say

NOT_OURS = OUTSIDE | {"claude", "codex", "docker", "gemini", "make", "pipx", "podman", "uv", "uvx"}
"""Programs that a stranger may have and this machine may not; `make` is for those who have the repository."""

After = Callable[[Stranger, Path], None]


def follow(stranger: Stranger, name: str, constraints: Path, after: After | None = None) -> None:
    """Do all that a page says, then what one would do in a browser, while its servers still run."""
    page = stranger.clone / name
    outputs = stranger.place / "pages" / name.replace("/", "-")
    outputs.mkdir(parents=True)
    surroundings = {**stranger.surroundings, "PIP_CONSTRAINT": str(constraints), "PIP_QUIET": "1"}
    terminal = Terminal(stranger.programs, outputs, surroundings)
    try:
        say(f"{name}")
        for block in blocks_of(page):
            where = f"{name}:{block.line}"
            try:
                _take(terminal, block)
            except (Stumble, pytest.fail.Exception) as stumble:
                raise Stumble(f"{where}: {stumble}") from None
        if after is not None:
            after(stranger, page)
    finally:
        terminal.close()


def _take(terminal: Terminal, block: Block) -> None:
    if block.file:
        terminal.put(block.file, block.text)
    elif block.language in ("console", "sh") and "elsewhere" not in block.marks:
        for step in _steps(block):
            _do(terminal, step, block)


def _steps(block: Block) -> list[Step]:
    if block.language == "console":
        return list(read_steps(block.text))
    return [Step(command, "") for command in read_commands(block.text)]


def _do(terminal: Terminal, step: Step, block: Block) -> None:
    shown = step.command.replace("\n", " ")
    if any(words[0] in NOT_OURS for words in pieces(step.command)):
        say(f"  passed over: {shown}")
        return
    began = time.monotonic()
    if goes_on(step.command) or "background" in block.marks:
        terminal.start(step.command, step.expected)
        say(f"  $ {shown}  (goes on, after {time.monotonic() - began:.1f} s)")
        return
    done = terminal.run(step.command)
    say(f"  $ {shown}  ({time.monotonic() - began:.1f} s)")
    if block.language == "console" and not matches(step.expected, done.output):
        raise Stumble(f"$ {step.command}\nwas to print\n{step.expected}\nand printed\n{done.output}")
    if done.code != 0 and not step.tells:
        raise Stumble(f"$ {step.command}\nended with {done.code}\n{done.output}")
