"""Reading `partita.toml`, checked against the table of settings."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from partita.errors import ConfigError

from .settings import BY_KEY, Value
from .values import from_toml, with_absolute_paths

Role: TypeAlias = Literal["project", "user"]

MAX_BYTES: Final = 1024 * 1024
SECTIONS: Final = frozenset(key.partition(".")[0] for key in BY_KEY if "." in key)
HEADER: Final = re.compile(r"\s*\[\s*([\w.-]+)\s*\]")
ASSIGNMENT: Final = re.compile(r"\s*([\w.-]+)\s*=")
TOML_POSITION: Final = re.compile(r" \(at line (\d+), column (\d+)\)$")


class ConfigFile(NamedTuple):
    """The values of a settings file by key, and their line numbers if known."""

    path: Path
    role: Role
    values: Mapping[str, Value]
    lines: Mapping[str, int]
    digest: str
    """The SHA-256 hash of its content."""

    def location(self, key: str) -> str:
        """The location of a key: the path and, if known, the line."""
        return file_location(self.path, self.lines.get(key))


def file_location(path: Path, line: int | None) -> str:
    """A path with a line number, as editors and compilers write it."""
    return f"{path}:{line}" if line else str(path)


def read_file(path: Path, role: Role) -> ConfigFile:
    """Read a settings file. An invalid setting is a `ConfigError` with its location."""
    content = _content(path)
    text = _text(path, content)
    lines = dict(_lines(text))
    values: dict[str, Value] = {}
    for key, raw in flatten(_parsed(path, text)):
        where = file_location(path, lines.get(key) or lines.get(key.partition(".")[0]))
        setting = BY_KEY.get(key)
        if setting is None:
            raise ConfigError(f"there is no setting {key!r}", where=where, hint=_suggestion(key))
        if setting.user_only and role == "project":
            raise ConfigError(
                f"{key} can only be set in your user file", where=where, hint="remove it from this file"
            )
        try:
            values[key] = with_absolute_paths(path.parent, setting.kind, from_toml(setting, raw))
        except ConfigError as error:
            error.where = where
            raise
    return ConfigFile(path, role, values, lines, sha256(content).hexdigest())


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)  # a link to a device could be endless
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise ConfigError(
            f"the settings cannot be read: {why}", where=str(path), hint=_readable(error)
        ) from None
    if len(content) > MAX_BYTES:
        raise ConfigError(
            f"the settings have more than {MAX_BYTES} bytes",
            where=str(path),
            hint="check that it is the right file",
        )
    return content


def _text(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError("this is not UTF-8", where=str(path), hint="save it as UTF-8") from None


def _readable(error: OSError) -> str:
    return "check its name" if isinstance(error, FileNotFoundError) else "make it a file that you may read"


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text + "\n")  # so that errors at the end of the file have a line number
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = TOML_POSITION.search(message)
        raise ConfigError(
            f"invalid TOML: {TOML_POSITION.sub('', message)}",
            where=f"{path}:{found[1]}:{found[2]}" if found else str(path),
            hint='strings need quotes: store = "messages.db"',
        ) from None


def flatten(table: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Each key with its section, and its value."""
    for name, raw in table.items():
        if isinstance(raw, dict) and (name in SECTIONS or name not in BY_KEY):
            inner = cast("dict[str, Any]", raw)  # TOML keys are strings
            yield from ((f"{name}.{key}", value) for key, value in inner.items())
            if not inner and name not in SECTIONS:
                yield name, raw
        else:
            yield name, raw


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """The line number of each key. It may be wrong after multi-line strings that look like keys."""
    section = ""
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        header = HEADER.match(line)
        if header:
            section = f"{header[1]}."
        found = None if header else ASSIGNMENT.match(line)
        key = header[1] if header else f"{section}{found[1]}" if found else ""
        if key and key not in seen:
            seen.add(key)
            yield key, number


def _suggestion(key: str) -> str:
    """A hint for an unknown key: the same name in another section, or a similar name."""
    name = key.rpartition(".")[2]
    elsewhere = [known for known in BY_KEY if known.rpartition(".")[2] == name]
    near = elsewhere or get_close_matches(key, BY_KEY, n=1) or _close_name(name)
    if not near:
        return "partita config lists them all"
    section, _, last = near[0].rpartition(".")
    return f"did you mean {last} under [{section}]?" if section else f"did you mean {last}?"


def _close_name(name: str) -> list[str]:
    names = {known.rpartition(".")[2]: known for known in BY_KEY}
    return [names[close] for close in get_close_matches(name, names, n=1)]
