"""Recorded requests and answers of Anthropic: all come back."""

from partita.formats.format import Request
from partita.types.json import Json, is_array, is_object
from tests.converting import read_payload
from tests.formats.test_anthropic_talk import dump, dump_answer, load
from tests.recordings import answers, chosen


def same(payload: Json) -> Json:
    """A payload without members that say nothing."""
    if is_object(payload):
        said = {key: same(item) for key, item in payload.items() if item is not None}
        return {key: item for key, item in said.items() if key != "citations" or item}
    return [same(item) for item in payload] if is_array(payload) else payload


def test_requests_come_back_as_they_were() -> None:
    wrong: list[str] = []
    for path in chosen(answers("anthropic", ".request.json"), 3):
        payload = read_payload(path)
        loaded = load(payload)
        asked = dump(loaded.messages, loaded.request or Request())
        if same(asked.payload) != same(payload) or loaded.losses or asked.losses:
            wrong.append(path.name)
    assert not wrong


def test_answers_come_back_as_they_were() -> None:
    wrong: list[str] = []
    for path in chosen(answers("anthropic", ".response.json"), 3):
        payload = read_payload(path)
        loaded = load(payload)
        dumped = dump_answer(loaded.messages)
        if same(dumped.payload) != same(payload) or loaded.losses or dumped.losses:
            wrong.append(path.name)
    assert not wrong


def test_streams_are_read_with_nothing_lost_but_counts() -> None:
    spliced = "vai-spliced-message-start.jsonl"
    for path in chosen(answers("anthropic", ".jsonl"), 3):
        loaded = load(read_payload(path))
        assert path.name == spliced or {loss.severity for loss in loaded.losses} <= {"minor"}, path.name
        sent = dump(loaded.messages).payload
        again = dump(load(sent).messages)
        assert again.payload == sent, path.name
