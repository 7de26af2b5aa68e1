"""An answer of Gemini, whole or as the responses of a stream → the message that it amounts to.

Lost: what a later response of the stream has replaced, and that an empty text stood where a signature was.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.events import UNNAMED
from partita.formats.folding import fold
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.types.chunks import Chunk
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of, walk
from partita.types.messages import AssistantMessage
from partita.types.parts import ReasoningPart, TextPart
from partita.types.usage import Usage

from .decoder import SIGNS, GeminiDecoder
from .looking import NAMESPACE, SIGNATURE, items_at, object_at
from .spelling import ANSWER_NAMES, spelled_answer

KNOWN: Final = SIGNS | ANSWER_NAMES
REPLACED: Final = "a later response of the stream says something else, and counts"
UNSAID: Final = "an answer has no place for it"
SIGNED: Final = "the signature of an empty text signs the text before it"

USAGE: Final[Codec[Usage]] = Codec(Usage)

Events: TypeAlias = Sequence[tuple[str, Json]]


def is_response(value: Json) -> bool:
    """Whether a value is a response, and no content."""
    return is_object(value) and not value.keys().isdisjoint(KNOWN)


def load_answer(payload: Json) -> Loaded:
    """An answer: its body, or the responses of its stream."""
    if is_array(payload):
        return load_stream(payload)
    if not is_response(payload):
        hint = "give a response {candidates}, or a list of them"
        raise ConversionError(f"an answer of Gemini is {kind_of(payload)}", where="$", hint=hint)
    return load_body(payload)


def load_body(body: Json) -> Loaded:
    """An answer that came whole, or an error that came instead."""
    decoder = GeminiDecoder()
    decoder.expect_whole_parts()
    return _load(decoder, [("$", spelled_answer(body))])


def load_stream(responses: Sequence[Json]) -> Loaded:
    """An answer that came in pieces; a piece may be an array of responses."""
    events: list[tuple[str, Json]] = []
    for number, event in enumerate(responses):
        if is_array(event):
            events += [(f"$[{number}][{at}]", spelled_answer(one)) for at, one in enumerate(event)]
        else:
            events.append((f"$[{number}]", spelled_answer(event)))
    return _load(GeminiDecoder(), events)


def _load(decoder: GeminiDecoder, events: Events) -> Loaded:
    told: list[tuple[str, Chunk]] = []
    for path, event in events:
        told += [(path, chunk) for chunk in decoder.feed(event)]
    told += [(events[-1][0] if events else "$", chunk) for chunk in decoder.finish()]
    folded = fold(told, UNNAMED)
    message = _with_usage(folded.message)
    losses = [*folded.losses, *_unsaid(events, folded.message)]
    losses += [*_signatures(events, message), *_cuts(events)]
    return Loaded((message,), tuple(losses))


def _with_usage(message: AssistantMessage) -> AssistantMessage:
    """The message, with what it consumed where messages have it."""
    metadata: Json = message.content.metadata
    if not is_object(metadata) or not is_object(metadata.get("usage")):
        return message
    rest = {key: value for key, value in metadata.items() if key != "usage"}
    content = replace(message.content, usage=USAGE.read(metadata["usage"]), metadata=rest)
    return replace(message, content=content)


def _unsaid(events: Events, message: AssistantMessage) -> Iterator[Loss]:
    """What was said about the answer and does not stand in its metadata."""
    metadata: Json = {} if message.content.metadata is UNSET else message.content.metadata
    kept = {_mark(path, leaf) for path, leaf in walk(metadata)}
    last = len(events) - 1
    for number, (path, event) in enumerate(events):
        for where, leaf in walk(_around(event), path):
            if leaf in (None, {}, [], "") or _mark(where, leaf) in kept or _is_usual(where, leaf):
                continue
            is_counted = number < last
            yield Loss.of(where, leaf, REPLACED if is_counted else UNSAID, "minor" if is_counted else "lost")


def _mark(path: str, leaf: Json) -> tuple[str, bytes]:
    """A leaf; numbers and flags with the name of their member, for they are like many others."""
    name = "" if isinstance(leaf, str) else path.rpartition(".")[2].partition("[")[0]
    return name, dumps(leaf)


def _is_usual(path: str, leaf: Json) -> bool:
    return (path.endswith(".index") and leaf == 0) or (path.endswith(".content.role") and leaf == "model")


def _around(event: Json) -> JsonObject:
    """A response without the parts of its answer, and without its other candidates, which are kept whole."""
    if not is_response(event):
        return {}
    candidates: list[Json] = []
    for place, candidate in enumerate(items_at(event, "candidates")):
        is_answer = is_object(candidate) and candidate.get("index", place) in (0, None)
        if not is_object(candidate) or not is_answer:
            candidates.append({})
            continue
        content = {"role": object_at(candidate, "content").get("role")}
        candidates.append({**candidate, "content": content})
    return {**event, "candidates": candidates}


def _parts(event: Json, path: str) -> Iterator[tuple[str, JsonObject]]:
    """The parts of an answer that are objects, each with its path."""
    for place, candidate in enumerate(items_at(event, "candidates")):
        for number, part in enumerate(items_at(object_at(candidate, "content"), "parts")):
            if is_object(part):
                yield f"{path}.candidates[{place}].content.parts[{number}]", part


def _cuts(events: Events) -> Iterator[Loss]:
    """How the inputs of calls were cut into pieces: told at once, for nobody will miss it."""
    calls = [object_at(part, "functionCall") for path, event in events for _, part in _parts(event, path)]
    cuts = [call["willContinue"] for call in calls if call.get("willContinue") is not None]
    cuts += [
        piece["willContinue"]
        for call in calls
        for piece in items_at(call, "partialArgs")
        if is_object(piece) and piece.get("willContinue") is not None
    ]
    if cuts:
        yield Loss.of("$", cuts, "a message does not tell how an input was cut into pieces", "minor")


def _signatures(events: Events, message: AssistantMessage) -> Iterator[Loss]:
    """The signatures that stood on empty texts and now stand on others."""
    empty = [
        object_at(part.provider_metadata, NAMESPACE).get(SIGNATURE)
        for part in message.parts
        if isinstance(part, TextPart | ReasoningPart) and not part.text
    ]
    for path, event in events:
        for where, part in _parts(event, path):
            signature = part.get(SIGNATURE)
            if signature and part.get("text") == "" and signature not in empty:
                yield Loss.of(where, part, SIGNED, "changed")
