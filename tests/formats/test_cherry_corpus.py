"""Turns of the Agent SDK as Cherry Studio gets them, where the folder that holds them is there."""

from pathlib import Path

import pytest

from partita.formats.converting import convert
from partita.types.json import is_array, loads

CORPUS = Path(__file__).parents[3] / "shared" / "corpora" / "cherry" / "claude-sdk-messages.jsonl"

pytestmark = pytest.mark.skipif(not CORPUS.is_file(), reason="the corpora are not here")


def test_every_turn_converts() -> None:
    for case in map(loads, CORPUS.read_bytes().splitlines()):
        converted = convert(case["input"], "claude-code-stream", "ai-sdk-ui-v7")
        assert is_array(converted.payload), case["id"]
        assert converted.payload[0]["role"] == "assistant", case["id"]
