"""A recording without secrets. The pieces of a streamed text are searched as one text."""

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

from .recording import Exchange, Origin, RecordedRequest, RecordedResponse, Recording

DATA: Final = re.compile(r"(?m)^(data: ?)([^\r\n]*)")
KEY_MEMBERS: Final = ("index", "output_index", "content_index", "summary_index", "item_id")
"""Members that identify which of several texts a piece belongs to."""

Path: TypeAlias = tuple[str | int, ...]


class CleanedRecording(NamedTuple):
    """A recording without secrets, and what was found."""

    recording: Recording
    findings: Sequence[Finding]


def clean(recording: Recording, rules: Rules | None = None) -> CleanedRecording:
    """The same recording without secrets."""
    redactor = Redactor(rules or Rules())
    _cleaned(recording, redactor)
    redactor.start_replacing()
    return CleanedRecording(_cleaned(recording, redactor), redactor.findings)


def _cleaned(recording: Recording, redactor: Redactor) -> Recording:
    exchanges = [
        clean_exchange(exchange, redactor, f"exchanges[{index}]")
        for index, exchange in enumerate(recording.exchanges)
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
        prompt=None if exchange.prompt is None else redactor.text(exchange.prompt, f"{path}.asked"),
        output=None if exchange.output is None else _records(exchange.output, redactor, f"{path}.said"),
        chunks=None if exchange.chunks is None else _chunks(exchange.chunks, redactor, f"{path}.chunks"),
        end=None if exchange.end is None else redacted_json(exchange.end, redactor, f"{path}.end"),
    )


def _request(request: RecordedRequest, redactor: Redactor, path: str) -> RecordedRequest:
    url_path = redactor.text(request.path, f"{path}.request.path")
    if request.body is UNSET:
        return replace(request, path=url_path)
    return replace(request, path=url_path, body=redacted_json(request.body, redactor, f"{path}.request.body"))


def _response(response: RecordedResponse, redactor: Redactor, path: str) -> RecordedResponse:
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
    """Records without secrets. Those without any are not changed."""
    values = [_value_in(record) for record in records]
    groups: dict[tuple[Path, str], list[Leaf]] = {}
    for index, value in enumerate(values):
        key = ",".join(_key_members(value))
        for leaf_path, text in _leaves(value):
            groups.setdefault((leaf_path, key), []).append(Leaf(index, leaf_path, text))
    changes: dict[int, list[Leaf]] = {}
    for (leaf_path, _), leaves in groups.items():
        for leaf, text in zip(leaves, _texts(leaf_path, leaves, redactor, path), strict=True):
            if text != leaf.text:
                changes.setdefault(leaf.record, []).append(leaf._replace(text=text))
    return [
        redactor.text(record, f"{path}[{index}]")
        if values[index] is None
        else _rewritten(record, values[index], changes[index])
        if index in changes
        else record
        for index, record in enumerate(records)
    ]


def _texts(leaf_path: Path, leaves: Sequence[Leaf], redactor: Redactor, path: str) -> list[str]:
    """The texts at one path of several records. The name of a single one may mark it as a secret."""
    where = f"{path}[{leaves[0].record}]"
    if len(leaves) == 1:
        return [redactor.member(str(leaf_path[-1]) if leaf_path else "", leaves[0].text, where)]
    return redactor.joined([leaf.text for leaf in leaves], where)


def _value_in(record: str) -> Json:
    """The JSON of a record; `None` if it has none."""
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
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))


def _key_members(value: Json) -> Iterator[str]:
    """The members of a record that identify the texts which its pieces belong to."""
    if is_object(value):
        for name, item in value.items():
            if name in KEY_MEMBERS and isinstance(item, str | int):
                yield f"{name}={item}"
            yield from _key_members(item)
    elif is_array(value):
        for item in value:
            yield from _key_members(item)


def _with(value: Json, path: Path, text: str) -> Json:
    if not path:
        return text
    first, *rest = path
    changed = value.copy()
    changed[first] = _with(value[first], tuple(rest), text)
    return changed
