"""Every command of the documentation runs, page by page, and prints what stands below it."""

import re
from pathlib import Path

import pytest

from tests.tables import each_row

from .blocks import ROOT, Block, all_blocks, blocks_of, pages
from .console import Step, matches, read_steps
from .sh import is_run, look_at, look_at_partita, pieces, read_commands
from .shell import Shell, goes_on
from .test_scripts import LANGUAGES as SCRIPTS

RUN = ("console", "sh")
NOT_HERE = frozenset({"elsewhere", "walk"})
SPAN = re.compile(r"`(partita(?: [^`\n]+)?)`")
LISTED = re.compile(r"^partita ([a-z]\w*)", re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def here(block: Block) -> bool:
    return block.language in RUN and not block.marks & NOT_HERE


@pytest.mark.parametrize("page", [page for page in pages() if any(map(here, blocks_of(page)))], ids=name_of)
def test_the_commands_of_a_page_do_what_it_says(page: Path, shell: Shell) -> None:
    for block in blocks_of(page):
        if block.file and not block.file.startswith("examples/"):
            shell.write(block.file, block.text)
        elif here(block):
            for step in steps_of(block):
                follow(shell, step, block)


def steps_of(block: Block) -> list[Step]:
    """The commands of a block that can be run; the others are looked at by the next test."""
    if block.language == "console":
        return list(read_steps(block.text))
    return [Step(command, "") for command in read_commands(block.text) if is_run(command)]


def follow(shell: Shell, step: Step, block: Block) -> None:
    if goes_on(step.command) or "background" in block.marks:
        shell.start(step.command, step.expected)
        return
    done = shell.run(step.command)
    told = f"{block}\n$ {step.command}\n{done.output}"
    if block.language == "console" and not matches(step.expected, done.output):
        pytest.fail(f"{told}instead of\n{step.expected}", pytrace=False)
    if done.code and not step.tells:  # a failure that the page shows is meant
        pytest.fail(f"{told}ended with {done.code}", pytrace=False)


def commands_of(block: Block) -> list[str]:
    if block.language == "console":
        return [step.command for step in read_steps(block.text)]
    return list(read_commands(block.text))


USED = ("console", "sh", "python")


@each_row("page", pages(), ids=name_of)
def test_something_is_done_with_every_file_of_a_page(page: Path) -> None:
    """Scripts are checked with each other, and a package by its own tests."""
    blocks = blocks_of(page)
    told = "\n".join(block.text for block in blocks if block.language in USED)
    files = [Path(block.file) for block in blocks if block.file and block.language not in SCRIPTS]
    if Path("pyproject.toml") in files:
        return
    for file in files:
        if file.parts[0] not in {"~", "examples"} and file.name != "partita.toml":
            assert file.stem in told or file.parts[0] in told, f"nothing is done with {file}"


SAMPLE_SIZE = [
    (str(block), command)
    for block in all_blocks("sh", "console")
    for command in commands_of(block)
    if block.marks & NOT_HERE or (block.language == "sh" and not is_run(command))
]


@each_row(("place", "command"), SAMPLE_SIZE, ids=[f"{place} {what}" for place, what in SAMPLE_SIZE])
def test_what_a_command_names_is_there(place: str, command: str) -> None:
    look_at(command)


@each_row("page", pages(), ids=name_of)
def test_prose_names_only_commands_and_options_that_are_there(page: Path) -> None:
    for command in SPAN.findall(page.read_text("utf-8")):
        for words in pieces(command):
            if words[0] == "partita":
                look_at_partita(words[1:], whole=False)
    for block in blocks_of(page):
        if block.language == "text":
            for command in LISTED.findall(block.text):
                look_at_partita([command], whole=False)
