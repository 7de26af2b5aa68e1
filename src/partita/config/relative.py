"""Paths in a file are meant from where the file is."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import quote

from .settings import Kind, Value

FILE_URL: Final = "sqlite:///"
URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # two letters at least: `c:` is a drive
IN_MEMORY: Final = (":memory:", f"{FILE_URL}:memory:")


def beside(folder: Path, kind: Kind, value: Value) -> Value:
    """A value of a file in a folder, with whole paths in the place of relative ones."""
    if kind == "place" and isinstance(value, str):
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
