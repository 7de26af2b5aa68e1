"""Recordings as files: JSON for people to read and to compare."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.private_files import whole_file
from partita.types.json import dumps, is_object, loads
from partita.version import __version__

from .recording import Origin, OriginKind, Recording

VERSION: Final = "recording/1"
EPOCH: Final = "SOURCE_DATE_EPOCH"
"""The variable that says which day it is, for those who want the same file on any day."""

ANEW: Final = "write it anew: partita fixture RUN -o FILE, or pytest --partita-record"


def written(recording: Recording) -> bytes:
    """The file of a recording."""
    told = dumps(replace(recording, partita=VERSION))
    return msgspec.json.format(told, indent=2) + b"\n"


def write_recording(path: Path, recording: Recording) -> None:
    """Write the file of a recording, in place of an earlier one."""
    with whole_file(path, force=True) as file:
        file.write(written(recording))


def read_recording(path: Path) -> Recording:
    """The recording in a file; an error that says what is wrong with it."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DecodeError(f"no recording can be read: {error.strerror}", where=str(path), hint=ANEW) from None
    return parse_recording(data, str(path))


def parse_recording(data: bytes, where: str) -> Recording:
    """The recording that a file holds."""
    try:
        value = loads(data)
    except DecodeError as error:
        raise DecodeError(f"this is no recording: {error.what}", where=where, hint=ANEW) from None
    version = value.get("partita") if is_object(value) else None
    if version != VERSION:
        found = f"it says {version!r}" if version else "it does not say which"
        raise DecodeError(f"this is no recording of version {VERSION!r}: {found}", where=where, hint=ANEW)
    try:
        return msgspec.convert(value, Recording)
    except msgspec.ValidationError as error:
        raise DecodeError(f"this is no recording: {error}", where=where, hint=ANEW) from None


def origin_of(
    kind: OriginKind,
    id: str | None = None,
    *,
    title: str | None = None,
    agent: str | None = None,
    model: str | None = None,
) -> Origin:
    """Where a recording that is made now comes from."""
    given = os.environ.get(EPOCH, "")
    now = datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)
    day = now.date().isoformat()
    return Origin(kind=kind, id=id, title=title, agent=agent, model=model, recorded=day, version=__version__)
