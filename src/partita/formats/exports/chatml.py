"""ChatML: `<|im_start|>ROLE`, a text, `<|im_end|>`; calls and results in the tags that models are taught.

Read are such texts, and `{"messages": [{role, content}]}` or a list of these, where every content is a text.
Lost are ids, times, reasoning, files, and everything else that is no text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from partita.errors import ConversionError, DecodeError
from partita.formats.format import Dumped, Implied, Loaded, Request
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of, loads
from partita.types.messages import Message

from .reading import read_turns
from .turns import NO_PLACE, PlainTurn, Speaker, plain_turns

NAME: Final = "chatml"
HINT: Final = "give texts between <|im_start|> and <|im_end|>, or messages whose content is a text"
START, END, CALL = "<|im_start|>", "<|im_end|>", "<tool_call>"
FIELDS: Final = "fields"

SPLIT: Final = "it would end the turn: a mark that nobody sees is put into it"
BETWEEN: Final = "only line breaks stand between turns"
OPEN: Final = "the turn has no end"

ROLES: Final[Mapping[str, Speaker]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "result",
}

IMPLIED: Final[Implied] = {"role": frozenset(ROLES)}
"""Words that show in the form of the message."""

_CALL: Final = re.compile(r"\n?<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
_MARKS: Final = re.compile(r"<(?=\|im_(?:start|end)\|>|tool_call>\n)")
UNSEEN: Final = "<\u200b"


class _Marked(NamedTuple):
    """A turn between its marks: where it begins and ends, whose it is, what it says."""

    start: int
    end: int
    role: str
    said: str
    is_closed: bool


def dump(messages: Sequence[Message]) -> Dumped:
    """A conversation as one text."""
    losses: list[Loss] = []
    written: list[str] = []
    is_open = False
    for turn in plain_turns(messages, NAME, losses):
        rest = turn.notes.get(FIELDS)
        if rest is not None:
            losses.append(Loss.of(f"turn {len(written)}", rest, NO_PLACE))
        text = turn.text if turn.speaker == "call" else _MARKS.sub(UNSEEN, turn.text)
        if text != turn.text:
            losses.append(Loss.of(f"turn {len(written)}", turn.text, SPLIT, "changed"))
        if turn.speaker == "call":
            said = f"<tool_call>\n{_MARKS.sub(_escaped, text)}\n</tool_call>"
            if is_open:
                written[-1] += f"\n{said}" if not written[-1].endswith(f"{START}assistant\n") else said
            else:
                written.append(f"{START}assistant\n{said}")
            is_open = True
            continue
        role = "tool" if turn.speaker == "result" else turn.speaker
        written.append(f"{START}{role}\n{text}")
        is_open = turn.speaker == "assistant"
    return Dumped("".join(f"{text}{END}\n" for text in written), tuple(losses))


def _escaped(found: re.Match[str]) -> str:
    """A mark inside the JSON of a call, as JSON writes it when it must not be seen."""
    return "\\u003c"


def load(payload: Json) -> Loaded:
    """A text, or messages that are texts."""
    losses: list[Loss] = []
    if is_array(payload) and len(payload) == 1 and isinstance(payload[0], str):
        payload = payload[0]
    if isinstance(payload, str):
        turns = list(_turns(payload, losses))
        return Loaded(tuple(read_turns(turns, NAME)), tuple(losses))
    messages = payload.get("messages") if is_object(payload) else payload
    if not is_array(messages):
        raise ConversionError(f"no conversation, but {kind_of(payload)}", where="$", hint=HINT)
    path = "$.messages" if is_object(payload) else "$"
    read = [turn for index, raw in enumerate(messages) for turn in _message(raw, f"{path}[{index}]")]
    settings = (
        {key: value for key, value in payload.items() if key != "messages"} if is_object(payload) else {}
    )
    return Loaded(tuple(read_turns(read, NAME)), (), Request(settings=settings) if settings else None)


def _message(raw: Json, path: str) -> Iterator[PlainTurn]:
    role, content = (raw.get("role"), raw.get("content")) if is_object(raw) else (None, None)
    if not is_object(raw) or not isinstance(role, str) or role not in ROLES or not isinstance(content, str):
        raise ConversionError("a message has a role and a text", where=path, hint=HINT)
    rest = {key: value for key, value in raw.items() if key not in ("role", "content")}
    yield from _spoken(ROLES[role], content, {FIELDS: rest} if rest else {})


def _turns(text: str, losses: list[Loss]) -> Iterator[PlainTurn]:
    end = 0
    for found in _marked(text):
        _tell_between(text[end : found.start], end, losses)
        end = found.end
        role = found.role.strip()
        if role not in ROLES:
            raise ConversionError(
                f"unknown role {role!r:.40}",
                where=f"character {found.start}",
                hint=f"use one of {', '.join(ROLES)}",
            )
        if not found.is_closed:
            losses.append(Loss(f"character {found.start}", role, OPEN, "repaired"))
            if not found.said:
                continue
        if role != found.role:
            losses.append(Loss.of(f"character {found.start}", found.role, BETWEEN, "minor"))
        yield from _spoken(ROLES[role], found.said, {})
    if end == 0 and text.strip():
        raise ConversionError("no turn in the text", where="$", hint=HINT)
    _tell_between(text[end:], end, losses)


def _marked(text: str) -> Iterator[_Marked]:
    """The turns of a text; the last one may have no end."""
    end = 0
    while (start := text.find(START, end)) >= 0:
        line = text.find("\n", start)
        if line < 0:
            return
        close = text.find(END, line + 1)
        is_closed = close >= 0
        stop = close if is_closed else len(text)
        end = stop + len(END) if is_closed else stop
        yield _Marked(start, end, text[start + len(START) : line], text[line + 1 : stop], is_closed)


def _tell_between(text: str, place: int, losses: list[Loss]) -> None:
    if text.strip("\n"):
        losses.append(Loss.of(f"character {place}", text, BETWEEN))


def _spoken(speaker: Speaker, text: str, notes: JsonObject) -> Iterator[PlainTurn]:
    """What is said in a turn: of the model, words and calls."""
    if speaker != "assistant" or CALL not in text:
        yield PlainTurn(speaker, text, notes)
        return
    end = 0
    for found in _CALL.finditer(text):
        if not _is_call(found[1]):
            continue
        if text[end : found.start()]:
            yield PlainTurn("assistant", text[end : found.start()], notes)
            notes = {}
        yield PlainTurn("call", found[1], notes)
        notes, end = {}, found.end()
    if text[end:] or end == 0:
        yield PlainTurn("assistant", text[end:], notes)


def _is_call(text: str) -> bool:
    try:
        value = loads(text)
    except DecodeError:
        return False
    return is_object(value) and isinstance(value.get("name"), str) and value.keys() == {"name", "arguments"}
