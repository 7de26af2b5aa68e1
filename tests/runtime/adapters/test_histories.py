"""The history that an adapted agent receives is that of the format: nothing that a model needs is lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.stream.accumulator import Accumulator
from partita.testing.full_conversation import full_conversation
from partita.types.chunks import MessageStart
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import (
    ContentOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ImagePart,
    JsonOutput,
    TextOutput,
    TextPart,
)
from tests import canonical
from tests.tables import each_row

pytest.importorskip("pydantic_ai")
pytest.importorskip("langchain_core")

PIXEL = b"\x89PNG"


def responses() -> dict[str, list[Any]]:
    """Parts of a response with everything that a provider needs back."""
    from pydantic_ai.messages import (
        BinaryImage,
        CompactionPart,
        FilePart,
        NativeToolCallPart,
        NativeToolReturnPart,
        TextPart,
        ThinkingPart,
        ToolCallPart,
    )

    openai: dict[str, Any] = {"provider_name": "openai", "provider_details": {"phase": "final"}}
    return {
        "a text": [TextPart("Hi.", id="msg_1", **openai)],
        "signed reasoning": [ThinkingPart("Hm.", signature="EqQB", provider_name="anthropic", id="t1")],
        "encrypted reasoning": [ThinkingPart("", id="rs_1", signature="gAAA", provider_name="openai")],
        "redacted reasoning": [
            ThinkingPart("", id="redacted_thinking", signature="hidden", provider_name="anthropic")
        ],
        "reasoning of an unknown provider": [
            ThinkingPart("Hm.", id="x", signature="s", provider_name="harbour", provider_details={"a": [1]})
        ],
        "a call": [ToolCallPart("dig", {"depth": 2}, "c1", id="fc_1", **openai)],
        "a signed call": [
            ToolCallPart(
                "dig", {}, "c1", provider_name="google", provider_details={"thought_signature": "c2ln"}
            )
        ],
        "a call that the provider ran": [
            NativeToolCallPart("web_search", {"q": "tide"}, "c1", id="ws_1", **openai),
            NativeToolReturnPart("web_search", {"found": 1}, "c1", **openai),
        ],
        "a picture": [FilePart(BinaryImage(data=PIXEL, media_type="image/png"), id="f1", **openai)],
        "a compaction": [CompactionPart("So far.", provider_name="anthropic")],
    }


@each_row("name", responses())
def test_parts_that_pydantic_ai_streams_are_the_same_in_the_history(name: str) -> None:
    from pydantic_ai.messages import ModelResponse, PartEndEvent, PartStartEvent

    from partita.runtime.adapters.pydantic_ai.service import history_of
    from partita.runtime.adapters.pydantic_ai.stream import RunStream

    parts = responses()[name]
    stream, accumulator = RunStream(list), Accumulator()
    accumulator.feed(MessageStart())
    for index, part in enumerate(parts):
        for event in (PartStartEvent(index=index, part=part), PartEndEvent(index=index, part=part)):
            for chunk in stream.chunks(event):
                accumulator.feed(chunk)
    message = accumulator.finish()
    history = history_of([UserMessage(id="u", content="?"), message], pending=["c1"])
    (back,) = [one for one in history if isinstance(one, ModelResponse)]
    assert list(map(_without_time, back.parts)) == list(map(_without_time, parts))


def _without_time(part: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(part).items() if name != "timestamp"}


@given(st.lists(canonical.messages(), min_size=1, max_size=3))
def test_any_conversation_is_a_history(messages: list[Message]) -> None:
    from partita.runtime.adapters.langgraph.checkpoints import history_of as graph_history
    from partita.runtime.adapters.pydantic_ai.service import history_of

    history = [UserMessage(id="?", content="?"), *messages]
    assert all(message.parts for message in history_of(history))
    assert graph_history(history)


def test_nothing_empty_and_no_call_of_another_provider_is_sent() -> None:
    from partita.runtime.adapters.pydantic_ai.service import history_of

    assert all(message.parts for message in history_of(full_conversation()))
    call = ToolCallPart(
        "c1", "web_search", "output-available", {}, output=TextOutput("found"), provider_executed=True
    )
    (request,) = history_of([UserMessage(id="u", content="?"), AssistantMessage(id="a", content=[call])])
    assert request.kind == "request"


def test_files_that_a_model_cannot_read_are_named() -> None:
    from pydantic_ai.messages import BinaryContent, ModelRequest, UserPromptPart

    from partita.runtime.adapters.pydantic_ai.service import history_of

    parts = [
        FilePart("blob:sha256:00", "text/plain", "notes.txt"),
        ImagePart("blob:sha256:01"),
        FilePart("data:text/plain,high%20tide", "text/plain"),
    ]
    own = AssistantMessage(id="a", content=[TextPart("Here."), FilePart("blob:sha256:02", "image/png")])
    request, response = history_of([UserMessage(id="u", content=parts), own])
    assert isinstance(request, ModelRequest)
    (prompt,) = request.parts
    assert isinstance(prompt, UserPromptPart)
    notes, picture, text = prompt.content
    assert notes == "[file notes.txt, which cannot be sent]"
    assert picture == "[file without a name, which cannot be sent]"
    assert isinstance(text, BinaryContent)
    assert text.data == b"high tide"
    assert len(response.parts) == 1


def returns() -> dict[str, tuple[Any, Any, Any]]:
    """Returns of Pydantic AI's tools, the content shown to the model, and the outputs of both."""
    from pydantic_ai.messages import BinaryContent, ToolReturnPart

    picture = BinaryContent(data=PIXEL, media_type="image/png")
    shown = "data:image/png;base64,iVBORw=="
    return {
        "a text": (ToolReturnPart("dig", "dug", "c"), None, TextOutput("dug")),
        "a value": (ToolReturnPart("dig", {"depth": 2}, "c"), None, JsonOutput({"depth": 2})),
        "a picture": (ToolReturnPart("dig", picture, "c"), None, [shown]),
        "an image among values": (
            ToolReturnPart("dig", ["look", {"a": 1}, picture], "c"),
            None,
            ["look", '{"a":1}', shown],
        ),
        "an image beside it": (ToolReturnPart("dig", "dug", "c"), ["look", picture], ["dug", "look", shown]),
        "a failure": (ToolReturnPart("dig", "rock", "c", outcome="failed"), None, ErrorTextOutput("rock")),
        "a denial": (ToolReturnPart("dig", "no", "c", outcome="denied"), None, ExecutionDeniedOutput("no")),
    }


@each_row("name", returns())
def test_outputs_of_pydantic_ai(name: str) -> None:
    from partita.runtime.adapters.pydantic_ai.stream import output_of

    part, beside, expected = returns()[name]
    output = output_of(part, beside)
    if isinstance(expected, list):
        assert isinstance(output, ContentOutput)
        found = [one.text if isinstance(one, TextPart) else getattr(one, "url", None) for one in output.value]
        assert found == expected
    else:
        assert output == expected


MESSAGES: dict[str, tuple[Any, Any]] = {
    "a text": ({"content": "dug"}, TextOutput("dug")),
    "an error": ({"content": "rock", "status": "error"}, ErrorTextOutput("rock")),
    "blocks": (
        {
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image", "url": "https://example.org/a.png"},
            ]
        },
        ["look", "https://example.org/a.png"],
    ),
    "data": (
        {
            "content": [
                "look",
                {"type": "image", "base64": "iVBORw==", "mime_type": "image/png"},
            ]
        },
        ["look", "data:image/png;base64,iVBORw=="],
    ),
}


@each_row(("fields", "expected"), MESSAGES.values(), ids=MESSAGES)
def test_outputs_of_graphs(fields: dict[str, Any], expected: Any) -> None:
    from langchain_core.messages import ToolMessage

    from partita.runtime.adapters.langgraph.messages import output_of

    output = output_of(ToolMessage(tool_call_id="c", **fields))
    if isinstance(expected, list):
        assert isinstance(output, ContentOutput)
        found = [one.text if isinstance(one, TextPart) else getattr(one, "url", None) for one in output.value]
        assert found == expected
    else:
        assert output == expected
