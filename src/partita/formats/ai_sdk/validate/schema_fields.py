"""Rows of the schema tables, and the kinds that several tables share."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from .schema_checks import INDEX, STRING, Items, JsonTree, Kind, Members, Record, Variants, one_of, pick_by


class Field(NamedTuple):
    """A member of an object: its kind, whether it must be there, and which versions know it."""

    name: str
    kind: Kind
    required: bool
    since: int = 5
    until: int = 7


def need(name: str, kind: Kind = STRING, *, since: int = 5) -> Field:
    """A member that must be there."""
    return Field(name, kind, required=True, since=since)


def may(name: str, kind: Kind = STRING, *, since: int = 5, until: int = 7) -> Field:
    """A member that may be there."""
    return Field(name, kind, required=False, since=since, until=until)


def members(fields: Iterable[Field], version: int = 7) -> Members:
    """The object that a version makes of rows."""
    known = [field for field in fields if field.since <= version <= field.until]
    required = frozenset(field.name for field in known if field.required)
    return Members({field.name: field.kind for field in known}, required)


JSON_OBJECT: Final = Record(JsonTree())
PROVIDER_METADATA: Final = Record(Record(JsonTree()))
PROVIDER_REFERENCE: Final = Record(STRING)
INPUT_ENCODING: Final = one_of("json", "text")

_SOURCE: Final = (need("type", one_of("source")), need("sourceType"), need("id"))
_URL_SOURCE: Final = (*_SOURCE, need("url"), may("title"), may("providerMetadata", PROVIDER_METADATA))
_DOCUMENT_SOURCE: Final = (
    *_SOURCE,
    need("mediaType"),
    need("title"),
    may("filename"),
    may("providerMetadata", PROVIDER_METADATA),
)
CITATIONS: Final = Items(
    members(
        (
            need(
                "source",
                Variants(
                    pick_by(
                        "sourceType", {"url": members(_URL_SOURCE), "document": members(_DOCUMENT_SOURCE)}
                    )
                ),
            ),
            may("startIndex", INDEX),
            may("endIndex", INDEX),
            may("citedText"),
        )
    )
)

# What a user says: in a steering message, the only parts there are.
USER_TEXT: Final = (need("text"), may("providerMetadata", PROVIDER_METADATA))
USER_FILE: Final = (
    need("mediaType"),
    need("url"),
    may("filename"),
    may("providerReference", PROVIDER_REFERENCE, since=7),
    may("providerMetadata", PROVIDER_METADATA),
)
STEERING_PARTS: Final = Items(
    Variants(
        pick_by(
            "type",
            {
                "text": members((need("type"), *USER_TEXT)),
                "file": members((need("type"), *USER_FILE)),
            },
        )
    )
)
