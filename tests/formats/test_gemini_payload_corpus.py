"""Recorded requests to Gemini and answers of it: read, and written again."""

from typing import Final

from partita.errors import PartitaError
from partita.formats.format import Loaded, Request
from partita.formats.gemini.answer_dump import dump_answer
from partita.formats.gemini.dump import ask
from partita.formats.gemini.load import load
from partita.formats.gemini.spelling import spelled, spelled_part
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import Message
from partita.types.parts import SourceDocumentPart, SourceUrlPart, StepStartPart
from tests.converting import read_payload
from tests.leaves import changed, leaves
from tests.recordings import answers, chosen
from tests.sampling import picked

LEAVES: Final = 12
"""So many leaves of each recording are changed."""


def written(loaded: Loaded) -> tuple[Json, ...]:
    dumped = dump_answer(loaded.messages) if loaded.request is None else ask(loaded.messages, loaded.request)
    return dumped.payload, loaded.losses, dumped.losses


def as_spelled(payload: JsonObject) -> JsonObject:
    """A request as we spell it."""
    contents = [
        {**content, "parts": [_deeply(spelled_part(part)) for part in content["parts"]]}
        for content in payload["contents"]
    ]
    return {**spelled(payload, frozenset({"system_instruction"})), "contents": contents}


def _deeply(part: JsonObject) -> JsonObject:
    answer = part.get("functionResponse", {})
    if "parts" in answer:
        part["functionResponse"] = {**answer, "parts": [spelled_part(one) for one in answer["parts"]]}
    if part.get("toolCall", {}).get("args") == {}:
        del part["toolCall"]["args"]
    return part


def test_every_request_comes_back_or_the_difference_is_told() -> None:
    silent: list[str] = []
    for file in answers("gemini", ".request.json"):
        payload = read_payload(file)
        loaded = load(payload)
        again, *losses = written(loaded)
        expected = as_spelled(payload)
        if not any(losses) and {**again, "tools": 0} != {**expected, "tools": 0}:
            silent.append(file.name)
        assert load(again).messages == loaded.messages or any(losses)
    assert not silent


def unplaced(messages: tuple[Message, ...]) -> list[Json]:
    """The parts of an answer, sources last: in a body they stand before all else."""
    parts = [part for message in messages for part in message.parts if not isinstance(part, StepStartPart)]
    found: list[Json] = to_json(
        sorted(parts, key=lambda part: isinstance(part, SourceUrlPart | SourceDocumentPart))
    )
    return found


def test_every_answer_comes_back() -> None:
    for file in answers("gemini"):
        loaded = load(read_payload(file))
        again = load(dump_answer(loaded.messages).payload)
        assert unplaced(again.messages) == unplaced(loaded.messages), file.name
        assert again.messages[0].content.metadata == loaded.messages[0].content.metadata, file.name


def outcome(payload: Json) -> tuple[Json, Json] | None:
    try:
        loaded = load(payload)
    except PartitaError:
        return None
    request = loaded.request or Request()
    read = (to_json(loaded.messages), loaded.losses, request.tools, request.settings)
    return read, written(loaded)


def test_no_leaf_changes_in_silence() -> None:
    silent: list[tuple[str, object]] = []
    for file in chosen(answers("gemini", ".json", ".jsonl"), 4):
        payload = read_payload(file)
        before = outcome(payload)
        assert before is not None
        for path in picked(list(leaves(payload)), LEAVES):
            after = outcome(changed(payload, path))
            if after is not None and (after[0] == before[0] or after[1] == before[1]):
                silent.append((file.name, path))
    assert not silent
