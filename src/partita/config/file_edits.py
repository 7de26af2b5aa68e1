"""Changing `partita.toml` without changing its comments, its order and its other lines.

A setting is one assignment, at the top or in a section. Its lines are found by parsing them, and the changed
text is parsed and compared before it is written: no other value may have changed.
"""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Final, NamedTuple

from partita.errors import ConfigError
from partita.private_files import convert_write_errors, whole_file

from .files import ASSIGNMENT, HEADER, Role, flatten, read_file
from .settings import SETTINGS, Setting, Value

WIDTH: Final = 100


class Assignment(NamedTuple):
    """The lines of an assignment, from `start` to before `end`; its key, and its name as it is written."""

    key: str
    name: str
    start: int
    end: int


def changed_text(text: str, setting: Setting, value: Value) -> str:
    """The text of a settings file with a new value; `None` removes the setting."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    assignments = list(_assignments(lines))
    found = next((one for one in assignments if one.key == setting.key), None)
    if found is not None:
        new = [] if value is None else [_line(found.name, value, _comment(lines[found.start : found.end]))]
        lines[found.start : found.end] = new
    elif value is not None:
        _insert(lines, assignments, setting, _line(setting.name, value, ""))
    result = "".join(lines)
    _verify(text, result, setting, value)
    return result


def _assignments(lines: list[str]) -> Iterator[Assignment]:
    section, number = "", 0
    while number < len(lines):
        start, line = number, lines[number]
        header, found = HEADER.match(line), ASSIGNMENT.match(line)
        number += 1
        if header:
            section = f"{header[1]}."
        elif found:
            while number < len(lines) and not _is_complete("".join(lines[start:number])):
                number += 1
            yield Assignment(f"{section}{found[1]}", found[1], start, number)


def _is_complete(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _comment(lines: list[str]) -> str:
    """The comment at the end of an assignment on one line."""
    if len(lines) > 1:
        return ""
    line = lines[0].rstrip("\n")
    for place, character in enumerate(line):
        if character == "#" and _is_complete(line[:place]):
            return line[len(line[:place].rstrip()) :]
    return ""


def _line(name: str, value: Value, comment: str) -> str:
    return f"{name} = {toml_text(value)}{comment}\n"


def _insert(lines: list[str], assignments: list[Assignment], setting: Setting, line: str) -> None:
    """Insert a line: below its commented example, or at the end of its section, or in a new section."""
    section = setting.key.rpartition(".")[0]
    headers = {found[1]: number for number, one in enumerate(lines) if (found := HEADER.match(one))}
    if section and section not in headers:
        lines += ["\n"] * bool(lines) + [f"[{section}]\n", line]
        return
    start = headers[section] + 1 if section else 0
    end = min((number for number in headers.values() if number >= start), default=len(lines))
    if example := [n for n in range(start, end) if lines[n].replace(" ", "").startswith(f"#{setting.name}=")]:
        lines.insert(example[-1] + 1, line)
        return
    last = max((one.end for one in assignments if start <= one.start < end), default=start)
    lines.insert(last, line)


def _verify(before: str, after: str, setting: Setting, value: Value) -> None:
    """Raise an error if the text has another change than that of the setting."""
    expected = dict(flatten(tomllib.loads(before)))
    expected.pop(setting.key, None)
    if value is not None:
        expected[setting.key] = list(value) if isinstance(value, tuple) else value
    if not _is_complete(after) or dict(flatten(tomllib.loads(after))) != expected:
        raise ConfigError(
            f"{setting.key} is written in a form that cannot be changed automatically",
            hint="change it in an editor: partita config edit",
        )


def toml_text(value: Value) -> str:
    """A value as TOML."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_text, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower()


def template(role: Role) -> str:
    """A settings file with all settings, each as a comment with its meaning."""
    text = ["# Settings of Partita. Remove the # in front of a setting to change it.\n"]
    section = ""
    for setting in SETTINGS:
        if setting.user_only and role == "project":
            continue
        if (own := setting.key.rpartition(".")[0]) != section:
            section = own
            text.append(f"\n[{section}]\n")
        default = "" if not setting.default_text else f" Default: {setting.default_text}."
        text += [f"\n# {line}" for line in wrap(setting.meaning + default, WIDTH)]
        text.append(f"\n# {setting.name} = {setting.example}\n")
    return "".join(text)


def write_file(path: Path, text: str) -> None:
    """Write a settings file, completely or not at all. A link stays one, and the mode stays."""
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    with whole_file(target, force=True) as file:
        file.write(text.encode())
    if mode is not None:
        with convert_write_errors(target):
            target.chmod(mode)


def change_file(path: Path, role: Role, setting: Setting, value: Value) -> None:
    """Write a value into a settings file; `None` removes it. A file that is not valid does not change."""
    if setting.user_only and role == "project":
        raise ConfigError(f"{setting.key} can only be set in your own file", hint="leave out --project")
    text = ""
    if path.exists():
        read_file(path, role)
        text = path.read_bytes().decode("utf-8-sig")
    try:
        write_file(path, changed_text(text, setting, value))
    except ConfigError as error:
        error.where = error.where or str(path)
        raise
