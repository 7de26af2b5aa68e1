"""The values of settings: read from TOML and from environment variables, checked, and with absolute paths."""

import re
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote

from partita.errors import ConfigError

from .prices import parse_prices
from .settings import Kind, Setting, Value

DESCRIPTIONS: Final[dict[Kind, str]] = {
    "text": "a string",
    "store": "the path of a file or a URL",
    "number": "an integer",
    "seconds": "a number",
    "switch": "true or false",
    "texts": "a list of strings",
    "folders": "a list of folders",
    "prices": "a list of prices",
}
BOOLEANS: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}

FILE_URL: Final = "sqlite:///"
URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # at least two letters, because `c:` is a drive
IN_MEMORY: Final = (":memory:", f"{FILE_URL}:memory:")


def from_toml(setting: Setting, raw: object) -> Value:
    """The value of a setting in a TOML file. A value of another type is a `ConfigError`."""
    match setting.kind, raw:
        case (("text" | "store"), str()) if raw:
            return _chosen(setting, raw)
        case "switch", bool():
            return raw
        case "number", int() if not isinstance(raw, bool):
            return _in_range(setting, raw)
        case "seconds", int() | float() if not isinstance(raw, bool):
            return _in_range(setting, float(raw))
        case (("texts" | "folders" | "prices"), list()):
            return _checked(setting, tuple(_item(setting, item) for item in cast("list[object]", raw)))
        case _:
            raise _wrong(setting, raw, f"write {setting.name} = {setting.example}")


def from_text(setting: Setting, text: str) -> Value:
    """The value of a setting in an environment variable. Lists are separated by commas."""
    match setting.kind:
        case "text" | "store":
            return _chosen(setting, text)
        case "texts" | "folders" | "prices":
            return _checked(setting, tuple(piece.strip() for piece in text.split(",") if piece.strip()))
        case "switch":
            if text.strip().lower() not in BOOLEANS:
                raise _wrong(setting, text, f"use one of {', '.join(BOOLEANS)}")
            return BOOLEANS[text.strip().lower()]
        case "number" | "seconds":
            try:
                return _in_range(setting, int(text) if setting.kind == "number" else float(text))
            except ValueError:
                raise _wrong(setting, text, f"such as {setting.example}") from None


def _checked(setting: Setting, items: tuple[str, ...]) -> tuple[str, ...]:
    """A list whose items have the form that the setting requires."""
    if setting.kind == "prices":
        parse_prices(items)
    return items


def _chosen(setting: Setting, text: str) -> str:
    if setting.choices and text not in setting.choices:
        raise ConfigError(f"{setting.key} is {text!r}", hint=f"use one of {', '.join(setting.choices)}")
    return text


def _item(setting: Setting, item: object) -> str:
    if not isinstance(item, str) or not item:
        raise _wrong(setting, item, f"write {setting.name} = {setting.example}")
    return item


def _in_range(setting: Setting, number: float) -> Value:
    minimum, maximum = setting.minimum, setting.maximum
    if (minimum is not None and not number >= minimum) or (maximum is not None and not number <= maximum):
        span = f"from {minimum} to {maximum}" if maximum is not None else f"{minimum} or more"
        raise ConfigError(f"{setting.key} is {number}", hint=f"it must be {span}")
    return number


def _wrong(setting: Setting, raw: object, hint: str) -> ConfigError:
    shown = raw if isinstance(raw, str | int | float) and not isinstance(raw, bool) else _type_name(raw)
    return ConfigError(f"{setting.key} must be {DESCRIPTIONS[setting.kind]}, not {shown!r}", hint=hint)


def _type_name(raw: object) -> object:
    """A short description of a value for an error."""
    match raw:
        case bool():
            return raw
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return type(raw).__name__


def with_absolute_paths(folder: Path, kind: Kind, value: Value) -> Value:
    """A value of a file in `folder`. Relative paths in it are relative to that folder."""
    if kind == "store" and isinstance(value, str):
        return _store(folder, value)
    if kind == "folders" and isinstance(value, tuple):
        return tuple(_path(folder, each) for each in value)
    return value


def _store(folder: Path, url: str) -> str:
    if url in IN_MEMORY:
        return url
    if url.startswith(FILE_URL):
        path = url.removeprefix(FILE_URL)
        return url if path.startswith(("/", "~")) else f"{FILE_URL}{quote(str(folder.absolute()))}/{path}"
    return url if URL.match(url) else _path(folder, url)


def _path(folder: Path, text: str) -> str:
    return text if text.startswith("~") else str(folder.absolute() / text)
