"""What Mastra's clients write in a query: pages, orders, filters and messages to include.

Objects come as JSON, `orderBy={"field":"createdAt"}`, or in brackets, `orderBy[field]=createdAt`. Old clients
write `orderBy=createdAt&sortDirection=DESC`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from starlette.requests import Request

from partita.errors import DecodeError
from partita.server.problems import Problem
from partita.store.messages.queries import Included, NumberedQuery
from partita.store.sql.pages import NumberedPage
from partita.store.sql.texts import required, storable
from partita.store.threads.lists import ThreadTime
from partita.store.values import Order
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of, loads
from partita.types.times import in_utc

DIRECTIONS: Final[Mapping[str, Order]] = {"ASC": "asc", "DESC": "desc"}
TIMES: Final[Mapping[str, ThreadTime]] = {"createdAt": "created_at", "updatedAt": "updated_at"}
"""What things may be ordered by."""

LARGEST: Final = 2**31
"""Beyond it no page can be; databases count no further."""

KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
FORBIDDEN: Final = frozenset({"__proto__", "prototype", "constructor"})
"""Names that metadata may not be asked for by."""

MOST_INCLUDED: Final = 1000
MOST_NEIGHBOURS: Final = 1000

_NUMBER = re.compile(r"[0-9]+")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


class TimeOrder(NamedTuple):
    """By which time, and from which end."""

    by: ThreadTime
    order: Order


def page_of(page: str | None, per_page: str | None, default: int) -> NumberedPage:
    """The page that is asked for. `false` for its size means everything."""
    number = 0 if page is None else whole_number(page, "page")
    if per_page == "false":
        return NumberedPage(number, None)
    return NumberedPage(number, default if per_page is None else whole_number(per_page, "perPage"))


def whole_number(text: str, name: str) -> int:
    """A number that counts something."""
    if not _NUMBER.fullmatch(text) or len(text) > 10 or int(text) > LARGEST:
        raise Problem(
            400, f"{name} is {text[:40]!r}", where=f"query {name}", hint="it is an integer from 0 on"
        )
    return int(text)


def order_of(request: Request, default: Order) -> TimeOrder:
    """The order that is asked for. What cannot be understood is ignored, as Mastra does."""
    value = _query_value(request, "orderBy", strict=False)
    if isinstance(value, str):
        value = {"field": value, "direction": request.query_params.get("sortDirection")}
    if not is_object(value):
        return TimeOrder("created_at", default)
    field, direction = value.get("field"), value.get("direction")
    return TimeOrder(
        TIMES.get(field, "created_at") if isinstance(field, str) else "created_at",
        DIRECTIONS.get(direction, default) if isinstance(direction, str) else default,
    )


def filtered(wanted: NumberedQuery, request: Request) -> NumberedQuery:
    """A query with the filter that is asked for."""
    value = _object(_query_value(request, "filter"), "filter")
    spans = _object(value.get("dateRange"), "filter.dateRange")
    roles = value.get("roles")
    if roles is not None and not (is_array(roles) and all(isinstance(role, str) for role in roles)):
        raise _bad("filter.roles", roles, "give a list of roles")
    return replace(
        wanted,
        start=_moment(spans.get("start"), "filter.dateRange.start"),
        start_exclusive=_flag(spans.get("startExclusive")),
        end=_moment(spans.get("end"), "filter.dateRange.end"),
        end_exclusive=_flag(spans.get("endExclusive")),
        roles=tuple(str(storable(role, "a role")) for role in roles or ()),
        metadata=checked_metadata(_object(value.get("metadata"), "filter.metadata"), "filter.metadata"),
    )


def included_of(request: Request) -> tuple[Included, ...]:
    """The messages that are asked for besides the page."""
    value = _query_value(request, "include")
    if value is None:
        return ()
    items = [value[key] for key in sorted(value, key=_as_place)] if is_object(value) else value
    if not is_array(items) or len(items) > MOST_INCLUDED:
        raise _bad("include", value, f"give a list of at most {MOST_INCLUDED} {{id}}")
    return tuple(_included(item, f"include[{place}]") for place, item in enumerate(items))


def metadata_of(request: Request) -> JsonObject:
    """The metadata that threads are asked for by."""
    return checked_metadata(_object(_query_value(request, "metadata"), "metadata"), "metadata")


def checked_metadata(metadata: JsonObject, where: str) -> JsonObject:
    """Metadata to compare with: scalars, under names that are names."""
    for key, value in metadata.items():
        if not KEY.fullmatch(key) or key in FORBIDDEN:
            raise Problem(400, f"metadata has no {key[:40]!r}", where=f"query {where}", hint="use a name")
        if is_object(value) or is_array(value):
            raise _bad(f"{where}.{key}", value, "compare with a scalar")
    return metadata


def _query_value(request: Request, name: str, *, strict: bool = True) -> Json:
    """What a query says under a name, as JSON or in brackets."""
    text = request.query_params.get(name)
    if text is None:
        return _in_brackets(request.query_params.multi_items(), name)
    try:
        return loads(text)
    except DecodeError as error:
        if not strict:
            return text
        raise Problem(
            400,
            f"{name} is no JSON: {error.what}",
            where=f"query {name}",
            hint="send it as JSON, encoded for an address",
        ) from None


def _in_brackets(items: Iterable[tuple[str, Any]], name: str) -> JsonObject | None:
    """`filter[dateRange][start]=…` as objects in objects."""
    found: JsonObject = {}
    for key, value in items:
        path = _BRACKETS.findall(key[len(name) :])
        if not path or key != name + "".join(f"[{step}]" for step in path):
            continue
        inner: Json = found
        for step in path[:-1]:
            inner = inner.setdefault(step, {}) if is_object(inner) else None
        if not is_object(inner) or path[-1] in inner:  # in whatever order they come
            raise Problem(400, f"{key[:80]} says two things", where=f"query {name}", hint="say one of them")
        inner[path[-1]] = value
    return found or None


def _as_place(key: str) -> tuple[int, str]:
    return (int(key), "") if _NUMBER.fullmatch(key) and len(key) < 10 else (LARGEST, key)


def _included(item: Json, where: str) -> Included:
    value = _object(item, where)
    id_, thread_id = value.get("id"), value.get("threadId")
    if not isinstance(id_, str) or not isinstance(thread_id, str | None):
        raise _bad(where, item, "give {id, threadId?, withPreviousMessages?, withNextMessages?}")
    previous = _count(value.get("withPreviousMessages"), f"{where}.withPreviousMessages")
    following = _count(value.get("withNextMessages"), f"{where}.withNextMessages")
    return Included(required(id_, where), storable(thread_id, where) or None, previous, following)


def _count(value: Json, where: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _bad(where, value, "it is an integer from 0 on")
    return min(whole_number(str(value), where), MOST_NEIGHBOURS)


def _object(value: Json, where: str) -> JsonObject:
    if value is not None and not is_object(value):
        raise _bad(where, value, "give an object")
    return value or {}


def _moment(value: Json, where: str) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return in_utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC), where)
    except (ValueError, TypeError, DecodeError):
        raise _bad(where, value, "write 2026-03-01T14:00:00.000Z") from None


def _flag(value: Json) -> bool:
    return value is True or value == "true"


def _bad(where: str, value: Json, hint: str) -> Problem:
    shown = dumps(value).decode()[:40]
    return Problem(400, f"{where} is {kind_of(value)} {shown}", where=f"query {where}", hint=hint)
