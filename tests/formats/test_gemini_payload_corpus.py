"""Recorded requests to Gemini and answers of it: read, and written again."""

from typing import Final

from partita.errors import PartitaError
from partita.formats.format import Loaded, Request
from partita.types.codec import to_json
from partita.types.json import Json
from partita.types.messages import Message
from partita.types.parts import SourceDocumentPart, SourceUrlPart, StepStartPart
from tests.converting import read_payload
from tests.formats.gemini_answers import dump, dump_answer, load
from tests.leaves import changed, leaves
from tests.recordings import answers, chosen
from tests.sampling import picked

LEAVES: Final = 12
"""So many leaves of each recording are changed."""


def written(loaded: Loaded) -> tuple[Json, ...]:
    dumped = dump_answer(loaded.messages) if loaded.request is None else dump(loaded.messages, loaded.request)
    return dumped.payload, loaded.losses, dumped.losses


def test_every_request_comes_back_or_the_difference_is_told() -> None:
    silent: list[str] = []
    for file in answers("gemini", ".request.json"):
        payload = read_payload(file)
        loaded = load(payload)
        again, *losses = written(loaded)
        if not any(losses) and again != payload:
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
