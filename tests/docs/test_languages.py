"""Every block says what it is, and is that."""

import configparser
import json
import tomllib
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from tests.tables import each_row

from .blocks import MARKS, ROOT, Block, all_blocks
from .console import read_steps
from .shell import Shell
from .test_scripts import LANGUAGES as SCRIPTS

YAML: Final[Any] = import_module("yaml")
"""It comes without types."""


def free(text: str) -> None:
    """Anything goes."""


def python(text: str) -> None:
    compile(text, "block", "exec")


def console(text: str) -> None:
    assert list(read_steps(text))


def lines_of_json(text: str) -> None:
    for line in text.splitlines():
        json.loads(line)


def braces(text: str) -> None:
    """Every brace that is opened is closed, and something stands in them."""
    depth = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0, "a brace is closed that was never opened"
    assert depth == 0, "a brace is left open"
    assert "{" in text


def sections(text: str) -> None:
    found = configparser.ConfigParser(strict=False, interpolation=None)
    found.read_string(text)
    assert found.sections()


def instructions(text: str) -> None:
    words = [
        line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith(("#", " "))
    ]
    assert "FROM" in words
    assert all(word.isupper() for word in words)


READ: dict[str, Callable[[str], object]] = {
    "caddyfile": braces,
    "console": console,
    "css": braces,
    "csv": free,
    "dockerfile": instructions,
    "ini": sections,
    "json": json.loads,
    "jsonl": lines_of_json,
    "nginx": braces,
    "python": python,
    "sh": free,
    "sql": free,
    "text": free,
    "toml": tomllib.loads,
    "xml": ElementTree.fromstring,
    "yaml": YAML.safe_load,
    **dict.fromkeys(SCRIPTS, free),
}
"""What can be said of a block by itself. Other tests run or check Python, commands, SQL and scripts."""


@each_row("block", all_blocks(), ids=str)
def test_a_block_is_what_it_says(block: Block) -> None:
    assert block.language in READ, f"{block} is in {block.language or 'no language'}"
    assert block.marks <= MARKS, f"{block} is marked {block.marks - MARKS}"
    READ[block.language](block.text)


def test_a_file_of_an_example_is_shown_as_it_is() -> None:
    for block in all_blocks():
        if block.file and block.file.startswith("examples/"):
            assert block.text == (ROOT / block.file).read_text("utf-8"), block


CONFIGURED = [block for block in all_blocks("toml") if block.file and block.file.endswith("partita.toml")]


@pytest.mark.parametrize("block", CONFIGURED, ids=str)
def test_a_configuration_is_accepted(block: Block, shell: Shell) -> None:
    assert block.file is not None
    shell.write(block.file, block.text)
    done = shell.run("partita config")
    assert done.code == 0, done.output
