"""`sh` blocks: commands that are run, and those that can only be looked at.

What installs, builds or talks to other machines is not run here: what it names must be there. A block marked
`elsewhere` is for another machine: whatever it asks of `partita` must be possible.
"""

import json
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import click

from .blocks import ROOT

Words = Sequence[str]
OUTSIDE = frozenset(
    {"createdb", "crontab", "git", "launchctl", "psql", "rsync", "scp", "ssh", "sudo", "systemctl"}
)
"""Programs of the reader's machine that nobody can look into."""

SHELL = frozenset(
    {
        "cat",
        "cd",
        "cp",
        "curl",
        "echo",
        "export",
        "ls",
        "mkdir",
        "pytest",
        "python",
        "python3",
        "rm",
        "source",
    }
)
"""What may stand beside commands that are only looked at."""

DEPENDENCIES = ("dependencies", "devDependencies")
_JOINS = frozenset({"&&", "||", "|", ";", "&"})


def read_commands(text: str) -> Iterator[str]:
    """The commands of a block: a line each, without comments. A backslash at its end joins the next."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


def is_run(command: str) -> bool:
    """Whether a command can be run here."""
    return not any(words[0] in SAMPLE_SIZE or words[0] in OUTSIDE for words in pieces(command))


def pieces(command: str) -> Iterator[Words]:
    """The words of each program that a command starts, without the variables that stand before it."""
    reader = shlex.shlex(command, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    words: list[str] = []
    for word in [*reader, ";"]:
        if word in _JOINS:
            if words:
                yield words
            words = []
        elif words or not re.fullmatch(r"\w+=.*", word, re.DOTALL):
            words.append(word)


def look_at(command: str) -> None:
    """Fail where a command names what is not there."""
    for words in pieces(command):
        check = SAMPLE_SIZE.get(words[0])
        if words[0] == "partita":
            look_at_partita(words[1:])
        elif check is not None:
            check(words[1:])
        else:
            assert words[0] in OUTSIDE | SHELL, f"what is {words[0]}?"


def look_at_partita(arguments: Words, *, whole: bool = True) -> None:
    """Fail where `partita` has no such command or option. Values are not looked at.

    What is not `whole` may name an option without its value.
    """
    from partita.cli.main import cli

    command: click.Command = cli
    rest = [word for word in arguments if word != "…"]
    context = click.Context(cli, info_name="partita", **cli.context_settings)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        inner = command.get_command(context, rest[0])
        assert inner is not None, f"partita has no command {rest[0]}"
        command, rest = inner, rest[1:]
        context = click.Context(command, parent=context)
    try:
        command.make_parser(context).parse_args(args=list(rest))
    except click.UsageError as error:
        if whole or isinstance(error, click.NoSuchOption):
            raise AssertionError(f"partita {' '.join(arguments)}: {error.format_message()}") from None


def _make(words: Words) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for word in words:
        assert "=" in word or word in targets, f"make has no target {word}"


def _pip(words: Words) -> None:
    for word in words:
        if word not in {"install", "add", "tool", "run", "pip"} and not word.startswith("-"):
            look_at_requirement(word)


def look_at_requirement(requirement: str) -> None:
    """Fail where a package is neither ours, with an extra it has, nor one we have seen ourselves."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.match(r"^([\w.-]+)(?:\[([\w,-]+)\])?", requirement)
    assert named, f"{requirement} is no requirement"
    name, extras = named[1].lower(), (named[2] or "").split(",")
    known = {line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert name == project["name"] or name in known, f"nobody here knows {name}"
    for extra in filter(None, extras if name == project["name"] else []):
        assert extra in project["optional-dependencies"], f"there is no extra {extra}"


def _npm(words: Words) -> None:
    if words[:1] == ["run"]:
        assert words[1] in _npm_scripts(), f"no package.json has a script {words[1]}"
    elif words[:1] in (["install"], ["i"], ["add"]):
        for word in words[1:]:
            assert word.startswith("-") or _npm_name(word) in _npm_packages(), f"nobody here has {word}"
    else:
        assert words[:1] in (["ci"], ["start"], ["test"]), f"npm {words[0]} is not known"


def _npx(words: Words) -> None:
    named = [word for word in words if not word.startswith("-")]
    assert _npm_name(named[0]) in _npm_packages(), f"nobody here has {named[0]}"


def _npm_name(word: str) -> str:
    return re.sub(r"(?<=.)@.*$", "", word)


def _package_files(name: str) -> Iterator[Path]:
    for folder in ("web", "tests", "examples"):
        for place, inner, files in os.walk(ROOT / folder):
            inner[:] = [each for each in inner if each != "node_modules"]
            if name in files:
                yield Path(place, name)


@cache
def _npm_packages() -> frozenset[str]:
    locks = [path.read_text("utf-8") for path in _package_files("pnpm-lock.yaml")]
    locked = {name for lock in locks for name in re.findall(r"^  '?(@?[^@'\s]+)@.*:$", lock, re.MULTILINE)}
    files = [json.loads(path.read_text("utf-8")) for path in _package_files("package.json")]
    named = {name for file in files for kind in DEPENDENCIES for name in file.get(kind, {})}
    return frozenset(locked | named)


@cache
def _npm_scripts() -> frozenset[str]:
    files = (json.loads(path.read_text("utf-8")) for path in _package_files("package.json"))
    return frozenset(name for file in files for name in file.get("scripts", {}))


def _container(words: Words) -> None:
    for option, value in pairwise(words):
        assert option not in {"-f", "--file"} or (ROOT / value).exists(), f"there is no {value}"


def _coding_agent(words: Words) -> None:
    if "--" in words:
        started = words[words.index("--") + 1 :]
        assert started[0] == "partita", f"{started[0]} is not ours to start"
        look_at_partita(started[1:])


SAMPLE_SIZE: dict[str, Callable[[Words], None]] = {
    "claude": _coding_agent,
    "codex": _coding_agent,
    "docker": _container,
    "gemini": _coding_agent,
    "make": _make,
    "npm": _npm,
    "npx": _npx,
    "pip": _pip,
    "pipx": _pip,
    "podman": _container,
    "uv": _pip,
    "uvx": _pip,
}
