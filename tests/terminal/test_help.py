"""What --help says, as a person sees it in 80 columns.

`PARTITA_WRITE_HELP=1 pytest tests/terminal/test_help.py` writes the files anew; read what `git diff` shows.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from partita.cli.main import cli
from tests.tables import each_row

FOLDER = Path(__file__).parent / "help"
WRITES = "PARTITA_WRITE_HELP" in os.environ


def commands(group: click.Group = cli, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words that call each command, the groups among them."""
    yield before
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name)


EVERY = list(commands())
NAMES = ["-".join(words) or "partita" for words in EVERY]


def found(words: tuple[str, ...]) -> click.Command:
    command: click.Command = cli
    for word in words:
        assert isinstance(command, click.Group)
        inner = command.get_command(click.Context(command), word)
        assert inner is not None
        command = inner
    return command


def help_of(words: tuple[str, ...]) -> str:
    # Click keeps what asks for help from the first time: another test may have called the command by itself.
    found(words)._help_option = None  # pyright: ignore[reportPrivateUsage]
    result = CliRunner().invoke(cli, [*words, "--help"], prog_name="partita", env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


@each_row("words", EVERY, ids=NAMES)
def test_it_is_as_it_was(words: tuple[str, ...]) -> None:
    path = FOLDER / f"{'-'.join(words) or 'partita'}.txt"
    told = help_of(words)
    if WRITES:
        path.write_text(told)
    assert told == path.read_text()


def test_there_is_no_help_of_a_command_that_is_gone() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(NAMES)


@each_row("words", EVERY, ids=NAMES)
def test_it_tells_what_a_person_needs(words: tuple[str, ...]) -> None:
    command, told = found(words), help_of(words)
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            assert option.help, option.name
            assert option.help[-1] in ".…", option.help
    if words:
        assert "Examples:\n" in told
        assert f"partita {' '.join(words)}" in (command.epilog or "")
    assert max(map(len, told.splitlines())) <= 80, max(told.splitlines(), key=len)
