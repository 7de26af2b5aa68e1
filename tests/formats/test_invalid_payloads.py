"""Invalid payloads are read or refused with a `PartitaError`, and never changed."""

import pytest

from partita.errors import PartitaError
from partita.formats.conversion import convert
from partita.types.json import Json, JsonObject
from tests.tables import each_row


def nested(levels: int) -> Json:
    """Return a value with this many levels."""
    value: Json = "x"
    for _ in range(levels):
        value = [value]
    return value


def deep(place: str) -> tuple[str, Json]:
    """Return a message with a value that is nested too deeply, in the given member."""
    block: JsonObject = {
        "type": "tool_use",
        "id": "c",
        "name": "look",
        "input": {},
        place: {"x": nested(3000)},
    }
    return "anthropic", [{"role": "assistant", "content": [block]}]


REFUSED: dict[str, tuple[str, Json]] = {
    "a member nested too deeply": deep("more"),
    "an input nested too deeply": deep("input"),
}


@each_row(("source", "payload"), REFUSED.values(), ids=REFUSED)
def test_payloads_nested_too_deeply_are_refused(source: str, payload: Json) -> None:
    with pytest.raises(PartitaError):
        assert convert(payload, source, "canonical").lossless


def test_conversion_does_not_change_its_input() -> None:
    part = {"type": "output_text", "text": "", "logprobs": [{"token": "a"}]}
    at: JsonObject = {"item_id": "m", "output_index": 0, "content_index": 0}
    stream: list[Json] = [
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"id": "m", "type": "message", "role": "assistant", "content": []},
        },
        {"type": "response.content_part.added", **at, "part": part},
        {"type": "response.output_text.delta", **at, "delta": "b", "logprobs": [{"token": "b"}]},
    ]
    convert(stream, "openai-responses", "canonical")
    assert part["logprobs"] == [{"token": "a"}]


def test_a_member_of_another_format_does_not_override_a_member_with_the_same_name() -> None:
    file = {"url": "https://example.com/a.png", "contentType": "image/png", "name": "a.png", "type": "text"}
    message = {"id": "u", "role": "user", "content": "", "parts": [], "experimental_attachments": [file]}
    found = convert([message], "ai-sdk-ui-v4", "ai-sdk-ui-v7")
    part = found.payload[0]["parts"][-1]
    assert part["type"] == "file"
    assert part["providerMetadata"] == {"ai-sdk-ui-v4": {"type": "text"}}
