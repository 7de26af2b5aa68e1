"""Snapshots of --help in 80 columns.

`PARTITA_WRITE_HELP=1 pytest tests/terminal/test_help.py` updates the files.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from partita.cli.help import Context, fit_lines
from partita.cli.main import cli
from tests.tables import each_row

FOLDER = Path(__file__).parent / "help"
WRITES = "PARTITA_WRITE_HELP" in os.environ


def commands(group: click.Group = cli, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the names of every command and group, as words."""
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


def find_command(words: tuple[str, ...]) -> click.Command:
    command: click.Command = cli
    for word in words:
        assert isinstance(command, click.Group)
        inner = command.get_command(click.Context(command), word)
        assert inner is not None
        command = inner
    return command


def help_of(words: tuple[str, ...]) -> str:
    # Click caches the help option, and another test may have invoked the command without its group.
    find_command(words)._help_option = None  # pyright: ignore[reportPrivateUsage]
    result = CliRunner().invoke(cli, [*words, "--help"], prog_name="partita", env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


@each_row("words", EVERY, ids=NAMES)
def test_help_equals_the_snapshot(words: tuple[str, ...]) -> None:
    path = FOLDER / f"{'-'.join(words) or 'partita'}.txt"
    text = help_of(words)
    if WRITES:
        path.write_text(text)
    assert text == path.read_text()


def test_snapshots_are_those_of_existing_commands() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(NAMES)


@each_row("words", EVERY, ids=NAMES)
def test_help_is_complete(words: tuple[str, ...]) -> None:
    command, text = find_command(words), help_of(words)
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            assert option.help, option.name
            assert option.help[-1] in ".…", option.help
    if words:
        assert "Examples:\n" in text
        assert f"partita {' '.join(words)}" in (command.epilog or "")
    assert max(map(len, text.splitlines())) <= 80, max(text.splitlines(), key=len)


@each_row("words", EVERY, ids=NAMES)
def test_help_fits_the_terminal_and_breaks_no_words(words: tuple[str, ...]) -> None:
    context = Context(cli, info_name="partita")
    command = find_command(words)
    written = f"{command.help or ''} {command.epilog or ''}".split()
    for columns in (60, 80, 120):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", str(columns))
            text = command.get_help(Context(command, context, info_name=" ".join(words)))
        shown = Counter(word for word in text.split() if word != "\\")
        missing = Counter(word for word in written if word != "\b") - shown
        assert not missing, (columns, missing)
        for line in text.splitlines():
            assert len(line) <= columns or " " not in line.strip(" \\"), (columns, line)


def test_examples_are_continued_as_a_shell_reads_them() -> None:
    lines = [
        "Examples:",
        '  partita import chats.jsonl --from "ai sdk" --thread-by id  with a field',
        "  partita tour",
    ]
    assert fit_lines(lines, 100) == lines
    assert fit_lines(lines, 40) == [
        "Examples:",
        "  partita import chats.jsonl --from \\",
        '    "ai sdk" --thread-by id',
        "      with a field",
        "  partita tour",
    ]
    assert fit_lines(["Examples:", "  partita show      one thread"], 29) == [
        "Examples:",
        "  partita show  one thread",
    ]
