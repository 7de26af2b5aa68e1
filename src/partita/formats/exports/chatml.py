"""ChatML: `<|im_start|>ROLE`, a text, `<|im_end|>`; calls in the tags that models are trained with.

The reader accepts such texts, `{"messages": [{role, content}]}`, and lists of messages if every content is a
text. The writer returns one text. Everything else is lost, including ids, times, reasoning and files.

Wire: https://github.com/openai/openai-python/blob/release-v0.28.1/chatml.md; calls:
https://github.com/NousResearch/Hermes-Function-Calling#prompt-format-for-function-calling
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from partita.errors import ConversionError
from partita.formats.format import Dumped, Format, Loaded, Request
from partita.formats.losses import UNREAD, Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message

from .turns import FIELDS, PlainTurn, Speaker, TurnReader, TurnWriter, read_call, report_of

NAME: Final = "chatml"
HINT: Final = "use texts between <|im_start|> and <|im_end|>, or messages whose content is a text"
START, END, CALL = "<|im_start|>", "<|im_end|>", "<tool_call>"

BETWEEN: Final = "only line breaks are between turns"
NO_END: Final = "the turn has no end"
ESCAPED: Final = "a mark in it would end the turn, so an invisible character is inserted into the mark"

REPORT: Final = report_of(NAME, {"text.text": ESCAPED})

ROLES: Final[Mapping[str, Speaker]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "result",
}

_CALL: Final = re.compile(r"\n?<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
_MARKS: Final = re.compile(r"<(?=\|im_(?:start|end)\|>|tool_call>\n)")
INVISIBLE: Final = "<\u200b"
JSON_ESCAPE: Final = "\\u003c"


class Marked(NamedTuple):
    """A message between its marks, and its position in the text."""

    start: int
    end: int
    role: str
    text: str
    is_closed: bool


class Written(NamedTuple):
    """A message: its role, its text, and other members."""

    role: str
    text: str
    fields: JsonObject

    def marked(self) -> str:
        """Return the message between its marks."""
        return f"{START}{self.role}\n{self.text}{END}\n"


def dump(messages: Sequence[Message]) -> Dumped:
    """Write a conversation as one text."""
    writer = TurnWriter(messages, NAME)
    payload = "".join([message.marked() for message in _messages(writer.turns)])

    def losses() -> list[Loss]:
        return REPORT.compare(writer.record, TurnReader(_turns_in(payload, []), NAME).positions)

    return Dumped(payload, losses)


def _messages(turns: Sequence[PlainTurn]) -> list[Written]:
    """Return the messages of turns. Calls are in the message of the assistant before them."""
    written: list[Written] = []
    last: Speaker | None = None
    for turn in turns:
        fields = turn.notes.get(FIELDS)
        more = fields if is_object(fields) else {}
        if turn.speaker != "call":
            role = "tool" if turn.speaker == "result" else turn.speaker
            written.append(Written(role, _MARKS.sub(INVISIBLE, turn.text), more))
        else:
            call = f"<tool_call>\n{_MARKS.sub(lambda _: JSON_ESCAPE, turn.text)}\n</tool_call>"
            if last in ("assistant", "call"):
                before = written[-1]
                text = f"{before.text}\n{call}" if before.text else call
                written[-1] = Written("assistant", text, {**before.fields, **more})
            else:
                written.append(Written("assistant", call, more))
        last = turn.speaker
    return written


def load(payload: Json) -> Loaded:
    """Read a text, or messages that are texts."""
    if is_array(payload) and len(payload) == 1 and isinstance(payload[0], str):
        payload = payload[0]
    if isinstance(payload, str):
        return _load_text(payload)
    raws = payload.get("messages") if is_object(payload) else payload
    if not is_array(raws):
        raise ConversionError(f"not a conversation, but {kind_of(payload)}", where="$", hint=HINT)
    path = "$.messages" if is_object(payload) else "$"
    read = [turn for index, raw in enumerate(raws) for turn in _message(raw, f"{path}[{index}]")]
    others = {key: value for key, value in payload.items() if key != "messages"} if is_object(payload) else {}
    messages = tuple(TurnReader(read, NAME).messages)

    def write_back() -> Json:
        written = _messages(TurnWriter(messages, NAME).turns)
        found = [{"role": role, "content": text, **fields} for role, text, fields in written]
        return {**others, "messages": found} if is_object(payload) else found

    return Loaded(messages, (), Request(settings=others) if others else None, write_back=write_back)


def _load_text(text: str) -> Loaded:
    losses: list[Loss] = []
    messages = tuple(TurnReader(_turns_in(text, losses), NAME).messages)

    def all_losses() -> Iterator[Loss]:
        """Yield the text outside of messages, and the messages that are not written back."""
        yield from losses
        written = _messages(TurnWriter(messages, NAME).turns)
        read = [one for one in _marked(text) if one.text or one.is_closed]
        for index, one in enumerate(read):
            other = written[index] if index < len(written) else None
            if other is None or (other.role, other.text) != (one.role.strip(), one.text):
                yield Loss.of(f"character {one.start}", one.text, UNREAD, "changed")

    return Loaded(messages, all_losses, is_complete=True)


def _message(raw: Json, path: str) -> Iterator[PlainTurn]:
    role, content = (raw.get("role"), raw.get("content")) if is_object(raw) else (None, None)
    if not is_object(raw) or not isinstance(role, str) or role not in ROLES or not isinstance(content, str):
        raise ConversionError("a message has a role and a text", where=path, hint=HINT)
    rest = {key: value for key, value in raw.items() if key not in ("role", "content")}
    yield from _turns_of(ROLES[role], content, {FIELDS: rest} if rest else {})


def _turns_in(text: str, losses: list[Loss]) -> Iterator[PlainTurn]:
    """Yield the turns of a text. Text around them is reported."""
    end = 0
    for found in _marked(text):
        _report_between(text[end : found.start], end, losses)
        end = found.end
        role, where = found.role.strip(), f"character {found.start}"
        if role not in ROLES:
            hint = f"use one of {', '.join(ROLES)}"
            raise ConversionError(f"unknown role {role!r:.40}", where=where, hint=hint)
        if not found.is_closed:
            losses.append(Loss(where, role, NO_END, "repaired"))
            if not found.text:
                continue
        if role != found.role:
            losses.append(Loss.of(where, found.role, BETWEEN, "minor"))
        yield from _turns_of(ROLES[role], found.text, {})
    if end == 0 and text.strip():
        raise ConversionError("no turn in the text", where="$", hint=HINT)
    _report_between(text[end:], end, losses)


def _marked(text: str) -> Iterator[Marked]:
    """Yield the messages in a text. The last one may have no end."""
    end = 0
    while (start := text.find(START, end)) >= 0:
        line = text.find("\n", start)
        if line < 0:
            return
        close = text.find(END, line + 1)
        is_closed = close >= 0
        stop = close if is_closed else len(text)
        end = stop + len(END) if is_closed else stop
        yield Marked(start, end, text[start + len(START) : line], text[line + 1 : stop], is_closed)


def _report_between(text: str, at: int, losses: list[Loss]) -> None:
    if text.strip("\n"):
        losses.append(Loss.of(f"character {at}", text, BETWEEN))


def _turns_of(speaker: Speaker, text: str, notes: JsonObject) -> Iterator[PlainTurn]:
    """Yield the turns in a message. A message of the assistant has texts and calls."""
    if speaker != "assistant" or CALL not in text:
        yield PlainTurn(speaker, text, notes)
        return
    end = 0
    for found in _CALL.finditer(text):
        if read_call(found[1]) is None:
            continue
        if text[end : found.start()]:
            yield PlainTurn("assistant", text[end : found.start()], notes)
            notes = {}
        yield PlainTurn("call", found[1], notes)
        notes, end = {}, found.end()
    if text[end:] or end == 0:
        yield PlainTurn("assistant", text[end:], notes)


FORMAT: Final = Format(NAME, "ChatML, a conversation as one text", load, dump, is_complete=True)
