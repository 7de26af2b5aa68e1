"""Which members the SDK's chunks and messages have, in versions 5.0.277, 6.0.326 and 7.0.169.

The facts are tables in `schema_chunks` and `schema_messages`; a row says since when and until when it
holds. What a row means is in `schema_checks`: the rules of zod 4.6, which all three versions accept.
"""

from functools import cache
from typing import Final

from partita.errors import FormatError
from partita.types.json import Json

from .schema_checks import Kind, Problem, Reading, Variants
from .schema_chunks import chunk_pick
from .schema_messages import message_kind

__all__ = ["VERSIONS", "Problem", "check_version", "chunk_problems", "message_schema"]

VERSIONS: Final = (5, 6, 7)
"""Major versions of the SDK whose rules are known."""


def chunk_problems(chunk: Json, version: int = 7) -> list[Problem]:
    """Why a client of that version refuses a chunk; empty if it accepts it. Extra members are fine."""
    reading = Reading()
    _chunk_schema(check_version(version)).read(chunk, "$", reading)
    return reading.problems


@cache
def message_schema(version: int) -> Kind:
    """The kind of one UI message in that version."""
    return message_kind(check_version(version))


def check_version(version: int) -> int:
    """The version, if its rules are known."""
    if version not in VERSIONS:
        raise FormatError(f"no rules for version {version} of the AI SDK", hint="use 5, 6 or 7")
    return version


@cache
def _chunk_schema(version: int) -> Kind:
    return Variants(chunk_pick(version))
