"""Turns of the Agent SDK as Cherry Studio gets them."""

from partita.formats.converting import convert
from partita.types.json import is_array
from tests.recordings import cases


def test_every_turn_converts() -> None:
    for case in cases("cherry/claude-sdk-messages.jsonl"):
        converted = convert(case["input"], "claude-code-stream", "ai-sdk-ui-v7")
        assert is_array(converted.payload), case["id"]
        assert converted.payload[0]["role"] == "assistant", case["id"]
