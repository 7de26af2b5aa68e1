"""Statements of the guide to converting about other packages, checked with their pinned versions.

A failure means that a package has changed and the table must be updated.
"""

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from partita import get_format
from tests.conformance.bridge import RealPackage
from tests.tables import each_row

ROOT = Path(__file__).parent.parent.parent
TEXT = {"type": "text", "text": "Rain till noon.", "state": "done"}
REASONING = {
    "type": "reasoning",
    "text": "The glass is falling.",
    "state": "done",
    "providerMetadata": {"anthropic": {"signature": "c2lnbmVk"}},
}
DATA = {"type": "data-barometer", "id": "d1", "data": {"hPa": 998.0625}}
SOURCE = {"type": "source-url", "sourceId": "s1", "url": "https://weather.example/bergen"}
MESSAGE: dict[str, Any] = {"id": "m1", "role": "assistant", "parts": [REASONING, DATA, SOURCE, TEXT]}
UNKNOWN: dict[str, Any] = {**MESSAGE, "mood": "calm", "parts": [TEXT, {"type": "hologram", "depth": 3}]}


def test_our_messages_round_trip() -> None:
    ui = get_format("ai-sdk-ui-v7")
    assert ui.load is not None
    assert ui.dump is not None
    for message in (MESSAGE, UNKNOWN):
        loaded = ui.load([message])
        dumped = ui.dump(loaded.messages)
        assert dumped.payload == [message]
        assert not loaded.losses
        assert not dumped.losses


def test_we_report_what_another_format_cannot_represent() -> None:
    ui, model = get_format("ai-sdk-ui-v7"), get_format("ai-sdk-model-v7")
    assert ui.load is not None
    assert model.dump is not None
    losses = model.dump(ui.load([MESSAGE]).messages).losses
    reported = " ".join(map(str, losses))
    assert "998.0625" in reported
    assert "weather.example" in reported


def test_pydantic_ai_drops_parts_silently() -> None:
    from pydantic_ai.ui.vercel_ai import VercelAIAdapter
    from pydantic_ai.ui.vercel_ai.request_types import UIMessage

    loaded = VercelAIAdapter.load_messages([UIMessage.model_validate(MESSAGE)])
    back = [one.model_dump(by_alias=True, exclude_none=True) for one in VercelAIAdapter.dump_messages(loaded)]
    assert "Rain till noon." in str(back)
    for lost in ("998.0625", "weather.example", "c2lnbmVk"):
        assert lost not in str(back)


def test_pydantic_ai_refuses_unknown_parts() -> None:
    import pydantic
    from pydantic_ai.ui.vercel_ai.request_types import UIMessage

    with pytest.raises(pydantic.ValidationError):
        UIMessage.model_validate({**MESSAGE, "mood": "calm"})


def test_langchain_drops_members_silently() -> None:
    from langchain_core.messages.utils import convert_to_messages, convert_to_openai_messages

    message = {"role": "assistant", "content": "Rain.", "reasoning_content": "Falling.", "mood": "calm"}
    (back,) = convert_to_openai_messages(convert_to_messages([message]))
    assert back == {"role": "assistant", "content": "Rain."}


def test_the_ai_sdk_drops_parts_silently(real: RealPackage) -> None:
    answer = real.ask({"op": "model_messages", "version": 7, "messages": [MESSAGE]})
    assert answer["error"] is None
    assert "Rain till noon." in str(answer["result"])
    for lost in ("998.0625", "weather.example"):
        assert lost not in str(answer)


def test_the_ai_sdk_drops_members_silently(real: RealPackage) -> None:
    message = {"id": "m1", "role": "assistant", "mood": "calm", "parts": [TEXT]}
    answer = real.ask({"op": "validate", "version": 7, "messages": [message]})
    assert answer["success"]
    assert "calm" not in str(answer)


@each_row(
    ("page", "package", "name"),
    [
        ("docs/apps/converting.md", "pydantic-ai-slim", "Pydantic AI"),
        ("docs/apps/converting.md", "langchain-core", "LangChain"),
        ("README.md", "pydantic-ai-slim", "Pydantic AI"),
    ],
)
def test_a_page_names_the_tested_version(page: str, package: str, name: str) -> None:
    major, minor, *_ = version(package).split(".")
    assert re.search(rf"{name} {major}\.{minor}\b", (ROOT / page).read_text("utf-8"))
