"""Runs a page of the guides from top to bottom: writes each file and runs each command, in order."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.blocks import Block, blocks_of
from tests.docs.command_checks import EXTERNAL, programs_of, read_commands
from tests.docs.console_blocks import Step, matches, read_steps
from tests.docs.shell import keeps_running

from .clean_machine import CleanMachine
from .progress import StepError, report
from .terminal import Terminal

SKIPPED = (EXTERNAL - {"git"}) | {
    "claude",
    "codex",
    "docker",
    "gemini",
    "make",
    "pipx",
    "podman",
    "uv",
    "uvx",
}
"""Programs that may not be installed. `make` is for contributors."""

Check = Callable[[CleanMachine, Path], None]


def run_page(machine: CleanMachine, name: str, constraints: Path, check: Check | None = None) -> None:
    """Run a page, then `check` while the servers of the page still run."""
    page = machine.clone / name
    outputs = machine.folder / "pages" / name.replace("/", "-")
    outputs.mkdir(parents=True)
    environment = {**machine.environment, "PIP_CONSTRAINT": str(constraints), "PIP_QUIET": "1"}
    terminal = Terminal(machine.programs, outputs, environment)
    try:
        report(name)
        for block in blocks_of(page):
            try:
                _run_block(terminal, block)
            except (StepError, pytest.fail.Exception) as error:
                raise StepError(f"{name}:{block.line}: {error}") from None
        if check is not None:
            check(machine, page)
    finally:
        terminal.close()


def _run_block(terminal: Terminal, block: Block) -> None:
    if block.file:
        terminal.save(block.file, block.text)
    elif block.language in ("console", "sh") and "elsewhere" not in block.marks:
        for step in _steps(block):
            _run_step(terminal, step, block)


def _steps(block: Block) -> list[Step]:
    if block.language == "console":
        return list(read_steps(block.text))
    return [Step(command, "") for command in read_commands(block.text)]


def _run_step(terminal: Terminal, step: Step, block: Block) -> None:
    command = step.command.replace("\n", " ")
    if any(words[0] in SKIPPED for words in programs_of(step.command)):
        report(f"  skipped: {command}")
        return
    start = time.monotonic()
    if keeps_running(step.command) or "background" in block.marks:
        terminal.start(step.command, step.expected)
        report(f"  $ {command}  (keeps running, after {time.monotonic() - start:.1f} s)")
        return
    result = terminal.run(step.command)
    report(f"  $ {command}  ({time.monotonic() - start:.1f} s)")
    if block.language == "console" and not matches(step.expected, result.output):
        raise StepError(f"$ {step.command}\nexpected\n{step.expected}\nbut printed\n{result.output}")
    if result.code != 0 and not step.has_output:
        raise StepError(f"$ {step.command}\nexit code {result.code}\n{result.output}")
