"""The query strings of Mastra's clients: pages, orders, filters, and messages to include.

Objects are JSON, `orderBy={"field":"createdAt"}`, or in brackets, `orderBy[field]=createdAt`. Old clients
send `orderBy=createdAt&sortDirection=DESC`.
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
"""The fields to order by."""

MAX_NUMBER: Final = 2**31
"""The largest number: databases cannot represent larger ones."""

KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
FORBIDDEN: Final = frozenset({"__proto__", "prototype", "constructor"})
"""Names that cannot be compared in metadata."""

MAX_INCLUDED: Final = 1000
MAX_NEIGHBOURS: Final = 1000

_NUMBER = re.compile(r"[0-9]+")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


class TimeOrder(NamedTuple):
    """The time to order by, and the direction."""

    by: ThreadTime
    order: Order


def page_of(page: str | None, per_page: str | None, default: int) -> NumberedPage:
    """The requested page. The size `false` means all items."""
    number = 0 if page is None else whole_number(page, "page")
    if per_page == "false":
        return NumberedPage(number, None)
    return NumberedPage(number, default if per_page is None else whole_number(per_page, "perPage"))


def whole_number(text: str, name: str) -> int:
    """A number of items."""
    if not _NUMBER.fullmatch(text) or len(text) > 10 or int(text) > MAX_NUMBER:
        raise Problem(400, f"{name} is {text[:40]!r}", where=f"query {name}", hint="use an integer from 0")
    return int(text)


def order_of(request: Request, default: Order) -> TimeOrder:
    """The requested order. Invalid values are ignored, as in Mastra."""
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


def filtered(query: NumberedQuery, request: Request) -> NumberedQuery:
    """A query with the requested filter."""
    value = _object(_query_value(request, "filter"), "filter")
    dates = _object(value.get("dateRange"), "filter.dateRange")
    roles = value.get("roles")
    if roles is not None and not (is_array(roles) and all(isinstance(role, str) for role in roles)):
        raise _invalid("filter.roles", roles, "send a list of roles")
    return replace(
        query,
        start=_moment(dates.get("start"), "filter.dateRange.start"),
        start_exclusive=_flag(dates.get("startExclusive")),
        end=_moment(dates.get("end"), "filter.dateRange.end"),
        end_exclusive=_flag(dates.get("endExclusive")),
        roles=tuple(str(storable(role, "a role")) for role in roles or ()),
        metadata=checked_metadata(_object(value.get("metadata"), "filter.metadata"), "filter.metadata"),
    )


def included_of(request: Request) -> tuple[Included, ...]:
    """The messages to include in addition to those of the page."""
    value = _query_value(request, "include")
    if value is None:
        return ()
    items = [value[key] for key in sorted(value, key=_as_index)] if is_object(value) else value
    if not is_array(items) or len(items) > MAX_INCLUDED:
        raise _invalid("include", value, f"send a list of at most {MAX_INCLUDED} {{id}}")
    return tuple(_included(item, f"include[{index}]") for index, item in enumerate(items))


def metadata_of(request: Request) -> JsonObject:
    """The members that the metadata of threads must have."""
    return checked_metadata(_object(_query_value(request, "metadata"), "metadata"), "metadata")


def checked_metadata(metadata: JsonObject, where: str) -> JsonObject:
    """Metadata to compare with. Values must be scalars, names must be identifiers."""
    for key, value in metadata.items():
        if not KEY.fullmatch(key) or key in FORBIDDEN:
            raise Problem(
                400,
                f"metadata cannot be compared by {key[:40]!r}",
                where=f"query {where}",
                hint="use a name of letters, digits and _",
            )
        if is_object(value) or is_array(value):
            raise _invalid(f"{where}.{key}", value, "compare with a scalar")
    return metadata


def _query_value(request: Request, name: str, *, strict: bool = True) -> Json:
    """The value of a parameter, as JSON or in brackets."""
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
            f"{name} is not JSON: {error.what}",
            where=f"query {name}",
            hint="send URL-encoded JSON",
        ) from None


def _in_brackets(items: Iterable[tuple[str, Any]], name: str) -> JsonObject | None:
    """`filter[dateRange][start]=…` as nested objects."""
    found: JsonObject = {}
    for key, value in items:
        path = _BRACKETS.findall(key[len(name) :])
        if not path or key != name + "".join(f"[{step}]" for step in path):
            continue
        inner: Json = found
        for step in path[:-1]:
            inner = inner.setdefault(step, {}) if is_object(inner) else None
        if not is_object(inner) or path[-1] in inner:  # in any order
            raise Problem(400, f"{key[:80]} has two values", where=f"query {name}", hint="send one of them")
        inner[path[-1]] = value
    return found or None


def _as_index(key: str) -> tuple[int, str]:
    return (int(key), "") if _NUMBER.fullmatch(key) and len(key) < 10 else (MAX_NUMBER, key)


def _included(item: Json, where: str) -> Included:
    value = _object(item, where)
    id_, thread_id = value.get("id"), value.get("threadId")
    if not isinstance(id_, str) or not isinstance(thread_id, str | None):
        raise _invalid(where, item, "send {id, threadId?, withPreviousMessages?, withNextMessages?}")
    previous = _count(value.get("withPreviousMessages"), f"{where}.withPreviousMessages")
    following = _count(value.get("withNextMessages"), f"{where}.withNextMessages")
    return Included(required(id_, where), storable(thread_id, where) or None, previous, following)


def _count(value: Json, where: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _invalid(where, value, "use an integer from 0")
    return min(whole_number(str(value), where), MAX_NEIGHBOURS)


def _object(value: Json, where: str) -> JsonObject:
    if value is not None and not is_object(value):
        raise _invalid(where, value, "send an object")
    return value or {}


def _moment(value: Json, where: str) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return in_utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC), where)
    except (ValueError, TypeError, DecodeError):
        raise _invalid(where, value, "write 2026-03-01T14:00:00.000Z") from None


def _flag(value: Json) -> bool:
    return value is True or value == "true"


def _invalid(where: str, value: Json, hint: str) -> Problem:
    shown = dumps(value).decode()[:40]
    return Problem(400, f"{where} is {kind_of(value)} {shown}", where=f"query {where}", hint=hint)
