"""Every block has a known language, and its text is valid in that language."""

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
from .console_blocks import read_steps
from .shell import Shell
from .test_scripts import LANGUAGES as SCRIPTS

YAML: Final[Any] = import_module("yaml")  # has no types


def check_nothing(text: str) -> None:
    """Other tests check SQL, scripts and commands."""


def check_python(text: str) -> None:
    compile(text, "block", "exec")


def check_console(text: str) -> None:
    assert list(read_steps(text))


def check_json_lines(text: str) -> None:
    for line in text.splitlines():
        json.loads(line)


def check_braces(text: str) -> None:
    depth = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0, "a brace is closed that was not opened"
    assert depth == 0, "a brace is not closed"
    assert "{" in text


def check_ini(text: str) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.read_string(text)
    assert parser.sections()


def check_dockerfile(text: str) -> None:
    words = [
        line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith(("#", " "))
    ]
    assert "FROM" in words
    assert all(word.isupper() for word in words)


CHECKS: dict[str, Callable[[str], object]] = {
    "caddyfile": check_braces,
    "console": check_console,
    "css": check_braces,
    "csv": check_nothing,
    "dockerfile": check_dockerfile,
    "ini": check_ini,
    "json": json.loads,
    "jsonl": check_json_lines,
    "nginx": check_braces,
    "python": check_python,
    "sh": check_nothing,
    "sql": check_nothing,
    "text": check_nothing,
    "toml": tomllib.loads,
    "xml": ElementTree.fromstring,
    "yaml": YAML.safe_load,
    **dict.fromkeys(SCRIPTS, check_nothing),
}
"""The languages of blocks, and functions that fail if a text is not valid."""


@each_row("block", all_blocks(), ids=str)
def test_a_block_is_valid_in_its_language(block: Block) -> None:
    assert block.language in CHECKS, f"{block} has the language {block.language or '(none)'}"
    assert block.marks <= MARKS, f"{block} has unknown marks {block.marks - MARKS}"
    CHECKS[block.language](block.text)


def test_a_file_of_an_example_is_shown_unchanged() -> None:
    for block in all_blocks():
        if block.file and block.file.startswith("examples/"):
            assert block.text == (ROOT / block.file).read_text("utf-8"), block


SETTINGS = [block for block in all_blocks("toml") if block.file and block.file.endswith("partita.toml")]


@pytest.mark.parametrize("block", SETTINGS, ids=str)
def test_a_settings_file_is_valid(block: Block, shell: Shell) -> None:
    assert block.file is not None
    shell.write(block.file, block.text)
    result = shell.run("partita config")
    assert result.code == 0, result.output
