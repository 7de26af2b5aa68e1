"""The commands of the documentation: those of each page run and print what it shows; the others exist."""

import re
from pathlib import Path

import pytest

from tests.tables import each_row

from .blocks import ROOT, Block, all_blocks, blocks_of, pages
from .command_checks import can_run, check_command, check_partita, programs_of, read_commands
from .console_blocks import Step, matches, read_steps
from .shell import Shell, keeps_running
from .test_scripts import LANGUAGES as SCRIPTS

NOT_RUN_HERE = frozenset({"elsewhere", "walk"})
INLINE_COMMAND = re.compile(r"`(partita(?: [^`\n]+)?)`")
LISTED_COMMAND = re.compile(r"^partita ([a-z]\w*)", re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def is_run(block: Block) -> bool:
    return block.language in ("console", "sh") and not block.marks & NOT_RUN_HERE


@pytest.mark.parametrize("page", [page for page in pages() if any(map(is_run, blocks_of(page)))], ids=name_of)
def test_the_commands_of_a_page_print_what_it_shows(page: Path, shell: Shell) -> None:
    for block in blocks_of(page):
        if block.file and not block.file.startswith("examples/"):
            shell.write(block.file, block.text)
        elif is_run(block):
            for step in steps_of(block):
                run(shell, step, block)


def steps_of(block: Block) -> list[Step]:
    """Return the commands of a block that can be run."""
    if block.language == "console":
        return list(read_steps(block.text))
    return [Step(command, "") for command in read_commands(block.text) if can_run(command)]


def run(shell: Shell, step: Step, block: Block) -> None:
    if keeps_running(step.command) or "background" in block.marks:
        shell.start(step.command, step.expected)
        return
    result = shell.run(step.command)
    report = f"{block}\n$ {step.command}\n{result.output}"
    if block.language == "console" and not matches(step.expected, result.output):
        pytest.fail(f"{report}instead of\n{step.expected}", pytrace=False)
    if result.code and not step.has_output:
        pytest.fail(f"{report}exit code {result.code}", pytrace=False)


def commands_of(block: Block) -> list[str]:
    if block.language == "console":
        return [step.command for step in read_steps(block.text)]
    return list(read_commands(block.text))


@each_row("page", pages(), ids=name_of)
def test_a_page_uses_every_file_that_it_shows(page: Path) -> None:
    """Scripts are checked in `test_scripts.py`, and the files of a package by its tests."""
    blocks = blocks_of(page)
    code = "\n".join(block.text for block in blocks if block.language in ("console", "sh", "python"))
    files = [Path(block.file) for block in blocks if block.file and block.language not in SCRIPTS]
    if Path("pyproject.toml") in files:
        return
    for file in files:
        if file.parts[0] not in {"~", "examples"} and file.name != "partita.toml":
            assert file.stem in code or file.parts[0] in code, f"{file} is not used"


NOT_RUN = [
    (str(block), command)
    for block in all_blocks("sh", "console")
    for command in commands_of(block)
    if block.marks & NOT_RUN_HERE or (block.language == "sh" and not can_run(command))
]


@each_row(("place", "command"), NOT_RUN, ids=[f"{place} {command}" for place, command in NOT_RUN])
def test_what_a_command_names_exists(place: str, command: str) -> None:
    check_command(command)


@each_row("page", pages(), ids=name_of)
def test_commands_and_options_in_the_text_exist(page: Path) -> None:
    for command in INLINE_COMMAND.findall(page.read_text("utf-8")):
        for words in programs_of(command):
            if words[0] == "partita":
                check_partita(words[1:], is_complete=False)
    for block in blocks_of(page):
        if block.language == "text":
            for command in LISTED_COMMAND.findall(block.text):
                check_partita([command], is_complete=False)
