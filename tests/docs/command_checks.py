"""`sh` blocks: commands that are run, and checks of the others.

Commands that install, build or connect to other machines are not run. What they name must exist: packages,
extras, `make` targets, scripts, files, and commands and options of `partita`.
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
EXTERNAL = frozenset(
    {"createdb", "crontab", "git", "launchctl", "psql", "rsync", "scp", "ssh", "sudo", "systemctl"}
)
"""Programs whose arguments are not checked."""

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
        "uvicorn",
    }
)
"""Programs that may occur in a command that is not run."""

DEPENDENCIES = ("dependencies", "devDependencies")
NPX_TOOLS = frozenset({"create-next-app"})
"""Programs that npx downloads, and that no `package.json` names."""
_OPERATORS = frozenset({"&&", "||", "|", ";", "&"})


def read_commands(text: str) -> Iterator[str]:
    """Yield the commands of a block, one per line. A backslash at the end of a line continues the command."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


def can_run(command: str) -> bool:
    """Whether the tests run a command."""
    return not any(words[0] in CHECKS or words[0] in EXTERNAL for words in programs_of(command))


def programs_of(command: str) -> Iterator[Words]:
    """Yield the words of each program that a command runs, without variables before them."""
    reader = shlex.shlex(command, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    words: list[str] = []
    for word in [*reader, ";"]:
        if word in _OPERATORS:
            if words:
                yield words
            words = []
        elif words or not re.fullmatch(r"\w+=.*", word, re.DOTALL):
            words.append(word)


def check_command(command: str) -> None:
    """Fail if a command names something that does not exist."""
    for words in programs_of(command):
        check = CHECKS.get(words[0])
        if words[0] == "partita":
            check_partita(words[1:])
        elif check is not None:
            check(words[1:])
        else:
            assert words[0] in EXTERNAL | SHELL, f"unknown program {words[0]}"


def check_partita(arguments: Words, *, is_complete: bool = True) -> None:
    """Fail if `partita` does not have a command or option. Values are not checked.

    If the arguments are not complete, they may end with an option without its value.
    """
    from partita.cli.main import cli

    command: click.Command = cli
    rest = [word for word in arguments if word != "…"]
    context = click.Context(cli, info_name="partita", **cli.context_settings)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        subcommand = command.get_command(context, rest[0])
        assert subcommand is not None, f"partita has no command {rest[0]}"
        command, rest = subcommand, rest[1:]
        context = click.Context(command, parent=context)
    try:
        command.make_parser(context).parse_args(args=list(rest))
    except click.UsageError as error:
        if is_complete or isinstance(error, click.NoSuchOption):
            raise AssertionError(f"partita {' '.join(arguments)}: {error.format_message()}") from None


def _check_make(words: Words) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for word in words:
        assert "=" in word or word in targets, f"make has no target {word}"


def _check_pip(words: Words) -> None:
    for word in words:
        if word not in {"install", "add", "tool", "run", "pip"} and not word.startswith("-"):
            check_requirement(word)


def check_requirement(requirement: str) -> None:
    """Fail if a package is neither Partita (or `.`), with extras that it has, nor in `constraints.txt`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    match = re.match(r"^(\.[./]*|[\w.-]+)(?:\[([\w,-]+)\])?", requirement)
    assert match, f"{requirement} is not a requirement"
    in_clone = not match[1].strip("./")  # such as `.` or `../..`
    name, extras = project["name"] if in_clone else match[1].lower(), (match[2] or "").split(",")
    known = {line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert name == project["name"] or name in known, f"unknown package {name}"
    for extra in filter(None, extras if name == project["name"] else []):
        assert extra in project["optional-dependencies"], f"unknown extra {extra}"


def _check_npm(words: Words) -> None:
    if words[:1] == ["run"]:
        assert words[1] in _npm_scripts(), f"no package.json has a script {words[1]}"
    elif words[:1] in (["install"], ["i"], ["add"]):
        for option, word in pairwise(words):
            is_folder = option == "--prefix"
            is_package = not (is_folder or word.startswith("-"))
            assert not is_package or _npm_name(word) in _npm_packages(), f"unknown package {word}"
    else:
        assert words[:1] in (["ci"], ["start"], ["test"]), f"unknown command npm {words[0]}"


def _check_npx(words: Words) -> None:
    package = next(word for word in words if not word.startswith("-"))
    assert _npm_name(package) in NPX_TOOLS | _npm_packages(), f"unknown package {package}"


def _npm_name(word: str) -> str:
    return re.sub(r"(?<=.)@.*$", "", word)


def _package_files(name: str) -> Iterator[Path]:
    for folder in ("web", "tests", "examples"):
        for path, folders, files in os.walk(ROOT / folder):
            folders[:] = [each for each in folders if each != "node_modules"]
            if name in files:
                yield Path(path, name)


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


def _check_container(words: Words) -> None:
    for option, value in pairwise(words):
        assert option not in {"-f", "--file"} or (ROOT / value).exists(), f"there is no file {value}"


def _check_coding_agent(words: Words) -> None:
    """Check the command after `--`, which the agent starts as an MCP server."""
    if "--" in words:
        program, *arguments = words[words.index("--") + 1 :]
        assert program == "partita", f"{program} is not partita"
        check_partita(arguments)


CHECKS: dict[str, Callable[[Words], None]] = {
    "claude": _check_coding_agent,
    "codex": _check_coding_agent,
    "docker": _check_container,
    "gemini": _check_coding_agent,
    "make": _check_make,
    "npm": _check_npm,
    "npx": _check_npx,
    "pip": _check_pip,
    "pipx": _check_pip,
    "podman": _check_container,
    "uv": _check_pip,
    "uvx": _check_pip,
}
"""The checks of programs that are not run, by name."""
