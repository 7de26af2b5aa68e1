"""A recording without secrets. Texts of a stream come in pieces: these are searched as they were joined."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.redaction.redactor import Finding, Redactor, Rules
from partita.formats.redaction.values import redacted_chunks, redacted_json
from partita.types.codec import CHUNK, to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads

from .recording import Exchange, Origin, Recording, Request, Response

DATA: Final = re.compile(r"(?m)^(data: ?)([^\r\n]*)")
PLACES: Final = ("index", "output_index", "content_index", "summary_index", "item_id")
"""Members that tell which of several texts a piece belongs to."""

Path: TypeAlias = tuple[str | int, ...]


class Cleaned(NamedTuple):
    """What may leave, and what was found."""

    recording: Recording
    findings: Sequence[Finding]


def clean(recording: Recording, rules: Rules | None = None) -> Cleaned:
    """The same recording without secrets."""
    redactor = Redactor(rules or Rules())
    _cleaned(recording, redactor)
    redactor.learned()
    return Cleaned(_cleaned(recording, redactor), redactor.findings)


def _cleaned(recording: Recording, redactor: Redactor) -> Recording:
    exchanges = [
        clean_exchange(exchange, redactor, f"exchanges[{place}]")
        for place, exchange in enumerate(recording.exchanges)
    ]
    return replace(
        recording,
        origin=_origin(recording.origin, redactor),
        exchanges=exchanges,
        messages=redacted_json(recording.messages, redactor, "messages"),
    )


def _origin(origin: Origin, redactor: Redactor) -> Origin:
    return origin if origin.title is None else replace(origin, title=redactor.text(origin.title, "origin"))


def clean_exchange(exchange: Exchange, redactor: Redactor, path: str) -> Exchange:
    """The same exchange without secrets."""
    return replace(
        exchange,
        request=None if exchange.request is None else _request(exchange.request, redactor, path),
        response=None if exchange.response is None else _response(exchange.response, redactor, path),
        asked=None if exchange.asked is None else redactor.text(exchange.asked, f"{path}.asked"),
        said=None if exchange.said is None else _records(exchange.said, redactor, f"{path}.said"),
        chunks=None if exchange.chunks is None else _chunks(exchange.chunks, redactor, f"{path}.chunks"),
        end=None if exchange.end is None else redacted_json(exchange.end, redactor, f"{path}.end"),
    )


def _request(request: Request, redactor: Redactor, path: str) -> Request:
    address = redactor.text(request.path, f"{path}.request.path")
    if request.body is UNSET:
        return replace(request, path=address)
    return replace(request, path=address, body=redacted_json(request.body, redactor, f"{path}.request.body"))


def _response(response: Response, redactor: Redactor, path: str) -> Response:
    inside = f"{path}.response"
    if response.stream is not None:
        return replace(response, stream=_records(response.stream, redactor, f"{inside}.stream"))
    if response.json is not UNSET:
        return replace(response, json=redacted_json(response.json, redactor, f"{inside}.json"))
    if response.text is not None:
        return replace(response, text=redactor.text(response.text, f"{inside}.text"))
    return response


def _chunks(chunks: Sequence[JsonObject], redactor: Redactor, path: str) -> list[JsonObject]:
    read = [CHUNK.read(chunk) for chunk in chunks]
    return [to_json(chunk) for chunk in redacted_chunks(read, redactor, path).chunks]


class Leaf(NamedTuple):
    """A text in a record."""

    record: int
    path: Path
    text: str


def _records(records: Sequence[str], redactor: Redactor, path: str) -> list[str]:
    """Records without secrets; those that bear none are the very same."""
    values = [_value_in(record) for record in records]
    groups: dict[tuple[Path, str], list[Leaf]] = {}
    for place, value in enumerate(values):
        for at, text in _leaves(value):
            groups.setdefault((at, _place_of(value)), []).append(Leaf(place, at, text))
    changes: dict[int, list[Leaf]] = {}
    for (at, _), leaves in groups.items():
        for leaf, text in zip(leaves, _texts(at, leaves, redactor, path), strict=True):
            if text != leaf.text:
                changes.setdefault(leaf.record, []).append(leaf._replace(text=text))
    return [
        redactor.text(record, f"{path}[{place}]")
        if values[place] is None
        else _rewritten(record, values[place], changes[place])
        if place in changes
        else record
        for place, record in enumerate(records)
    ]


def _texts(at: Path, leaves: Sequence[Leaf], redactor: Redactor, path: str) -> list[str]:
    """The texts at one place of several records. Only one: its name may tell that it is a secret."""
    where = f"{path}[{leaves[0].record}]"
    if len(leaves) == 1:
        return [redactor.member(str(at[-1]) if at else "", leaves[0].text, where)]
    return redactor.joined([leaf.text for leaf in leaves], where)


def _value_in(record: str) -> Json:
    """The JSON of a record; nothing if it has none."""
    found = DATA.findall(record)
    text = found[0][1] if len(found) == 1 else "" if found else record
    try:
        value = loads(text) if text else None
    except DecodeError:
        return None
    return value if is_object(value) or is_array(value) else None


def _rewritten(record: str, value: Json, leaves: Sequence[Leaf]) -> str:
    for leaf in leaves:
        value = _with(value, leaf.path, leaf.text)
    text = dumps(value).decode()
    if DATA.search(record) is None:
        return text + record[len(record.rstrip("\r\n")) :]
    return DATA.sub(lambda found: found[1] + text, record, count=1)


def _leaves(value: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif is_object(value):
        for name, item in value.items():
            yield from _leaves(item, (*path, name))
    elif is_array(value):
        for place, item in enumerate(value):
            yield from _leaves(item, (*path, place))


def _place_of(value: Json) -> str:
    """Which of several texts the pieces in a record belong to."""
    return ",".join(_places(value))


def _places(value: Json) -> Iterator[str]:
    if is_object(value):
        for name, item in value.items():
            if name in PLACES and isinstance(item, str | int):
                yield f"{name}={item}"
            yield from _places(item)
    elif is_array(value):
        for item in value:
            yield from _places(item)


def _with(value: Json, path: Path, text: str) -> Json:
    if not path:
        return text
    first, *rest = path
    changed = value.copy()
    changed[first] = _with(value[first], tuple(rest), text)
    return changed
